/** A caller that hangs up while an engine works for it. Real server, real engine on a real pack, slow models. */
import { expect, test } from "bun:test";
import type { Embedder, Reranker } from "../../../src/ports/models.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { useEngines, wordEmbedder } from "../../engine/engines.ts";
import { until } from "../../until.ts";
import { type LoggingServer, post, useServers } from "./serving.ts";

const { open } = useEngines();
const serve = useServers();

/** What was begun for a question, in this order. */
type Step = "embedded" | "searched" | "reranked" | "receipt";

/** An engine with one memory that notes how far a question came; `hold` is awaited by the model of that name. */
async function noting(hold: {
  readonly embedder?: Promise<void>;
  readonly reranker?: Promise<void>;
}) {
  const steps: Step[] = [];
  const told: AbortSignal[] = [];
  const words = wordEmbedder();
  const embedQuery: Embedder["embedQuery"] = async (text) => {
    steps.push("embedded");
    await hold.embedder;
    return await words.embedQuery(text);
  };
  const reranker: Reranker = {
    score: async (_, texts, signal) => {
      steps.push("reranked");
      told.push(signal);
      await hold.reranker;
      return texts.map(() => 0.5);
    },
    close: async () => {},
  };
  const alter = (store: Store): Partial<Store> => ({
    searchText: (...search) => {
      steps.push("searched");
      return store.searchText(...search);
    },
    saveReceipt: (receipt) => {
      steps.push("receipt");
      return store.saveReceipt(receipt);
    },
  });
  const { engine } = await open({
    embedder: { ...words, embedQuery },
    alter,
    models: { reranker },
    settings: {
      reranker: { model: "slow", topK: 5, policy: "legacy", priorWeight: 0.5, timeoutMs: 60_000 },
    },
  });
  await engine.store({ content: "Ada drinks tea", userId: "ada" });
  return { engine, steps, told };
}

const question = () => post({ query: "tea of Ada", user_id: "ada" });

/** Asks, hangs up once `begun` holds, and waits until the server has taken notice. */
async function askAndHangUp(server: LoggingServer, begun: () => boolean): Promise<void> {
  const caller = new AbortController();
  const answer = fetch(`${server.url}/v1/retrieve`, { ...question(), signal: caller.signal });
  await until(async () => begun());
  caller.abort();
  expect(
    await answer.then(
      () => "answered",
      (error: Error) => error.name,
    ),
  ).toBe("AbortError");
  // Closing takes a moment to arrive; the next request comes behind it.
  await fetch(`${server.url}/v1/health`);
}

const logged = (server: LoggingServer) =>
  server.lines
    .filter(({ fields }) => fields["route"] !== "/v1/health")
    .map(({ level, fields }) => [level, fields["route"], fields["status"]]);

test("a caller that stays gets everything, and a receipt is kept", async () => {
  const { engine, steps, told } = await noting({});
  const server = await serve({ engine });
  expect((await fetch(`${server.url}/v1/retrieve`, question())).status).toBe(200);
  await until(async () => steps.includes("receipt"));
  expect(new Set(steps)).toEqual(new Set<Step>(["embedded", "searched", "reranked", "receipt"]));
  expect(told[0]?.aborted).toBeFalse();
});

test("the reranker is told at once, and nothing comes after it", async () => {
  const hold = Promise.withResolvers<void>();
  const { engine, steps, told } = await noting({ reranker: hold.promise });
  const server = await serve({ engine });
  await askAndHangUp(server, () => steps.includes("reranked"));
  // While the model still computes.
  await until(async () => told[0]?.aborted === true);
  await until(async () => logged(server).length > 0);
  expect(logged(server)).toEqual([["info", "/v1/retrieve", 499]]);
  hold.resolve();
  await Bun.sleep(50);
  expect(steps).not.toContain("receipt");
});

test("after a slow embedding no further stage begins", async () => {
  const hold = Promise.withResolvers<void>();
  const { engine, steps } = await noting({ embedder: hold.promise });
  const server = await serve({ engine });
  await askAndHangUp(server, () => steps.includes("embedded"));
  hold.resolve();
  await until(async () => logged(server).length > 0);
  expect(logged(server)).toEqual([["info", "/v1/retrieve", 499]]);
  await Bun.sleep(50);
  expect(steps).not.toContain("reranked");
  expect(steps).not.toContain("receipt");
});

test("what a caller wanted stored is stored, whether it waits or not", async () => {
  const hold = Promise.withResolvers<void>();
  const words = wordEmbedder();
  let isBegun = false;
  const embedDocument: Embedder["embedDocument"] = async (text) => {
    isBegun = true;
    await hold.promise;
    return await words.embedDocument(text);
  };
  const { engine } = await open({ embedder: { ...words, embedDocument } });
  const server = await serve({ engine });
  const caller = new AbortController();
  const answer = fetch(`${server.url}/v1/store`, {
    ...post({ content: "Ada drinks tea", user_id: "ada" }),
    signal: caller.signal,
  });
  await until(async () => isBegun);
  caller.abort();
  await answer.catch(() => undefined);
  hold.resolve();
  await until(async () => logged(server).length > 0);
  expect(await engine.stats("ada")).toMatchObject({ nodeCount: 1, eventCount: 1 });
  expect(server.lines.filter(({ level }) => level !== "info")).toEqual([]);
});
