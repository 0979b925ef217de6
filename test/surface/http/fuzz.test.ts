/**
 * The HTTP interface under requests that are made from its own document: correct ones, nearly correct ones, and junk.
 * SVC_FUZZ_RUNS: requests for each operation (default 40). SVC_FUZZ_SEED: repeats a run; a failure prints its seed.
 */
import { expect, setDefaultTimeout, test } from "bun:test";
import { dirname } from "node:path";
import fc from "fast-check";
import type { SqlitePack } from "../../contract/sqlite-pack.ts";
import { useEngines } from "../../engine/engines.ts";
import { createAnswerCheck, DOCUMENT } from "./fuzz/document.ts";
import { type Bench, complaintAbout, type FuzzAnswer } from "./fuzz/judge.ts";
import { correctRequest, type FuzzRequest, faultyRequest } from "./fuzz/requests.ts";
import { SECRET, settle } from "./fuzz/world.ts";
import { appOf } from "./serving.ts";

const RUNS = Number(process.env["SVC_FUZZ_RUNS"] ?? 40);
const SEED = process.env["SVC_FUZZ_SEED"];
const KEYS = { userKeys: { ada: "key-a", bob: "key-b" } };

setDefaultTimeout(60_000 + RUNS * 5000);

const { open } = useEngines();
const check = createAnswerCheck(DOCUMENT);

type Sender = (request: FuzzRequest) => Promise<FuzzAnswer>;

/** A real engine on a real pack with some memories, its interface, and what it logged as unexpected. */
async function openWorld(key?: string) {
  const { engine, pack } = await open();
  const world = await settle(engine);
  const unexpected: string[] = [];
  const app = appOf({
    engine,
    auth: key === undefined ? {} : KEYS,
    log: (level, message) => {
      if (level === "error") unexpected.push(message);
    },
  });
  const send: Sender = async ({ method, target, headers, body }) => {
    const answer = await app.request(`http://localhost${target}`, {
      method,
      headers: [
        ...(key === undefined ? [] : [["authorization", `Bearer ${key}`] as const]),
        ...headers,
      ].map(([name, value]): [string, string] => [name, value]),
      ...(body !== undefined && { body: new TextEncoder().encode(body) }),
    });
    return {
      status: answer.status,
      contentType: answer.headers.get("content-type"),
      text: await answer.text(),
    };
  };
  const bench: Bench = {
    document: DOCUMENT,
    check,
    secrets: [folderOf(pack), process.cwd(), ...(key === undefined ? [] : [SECRET])],
  };
  return { engine, world, send, bench, unexpected };
}

function folderOf({ layout }: SqlitePack): string {
  return dirname(layout.kind === "file" ? layout.path : layout.databasePath);
}

const settings = (runs: number) => ({
  numRuns: runs,
  ...(SEED !== undefined && { seed: Number(SEED) }),
});

/** Sends requests until one is answered wrongly; fast-check then looks for the smallest such request. */
async function expectSound(
  { send, bench }: Pick<Awaited<ReturnType<typeof openWorld>>, "send" | "bench">,
  requests: fc.Arbitrary<FuzzRequest>,
  runs: number,
  seen: (request: FuzzRequest, answer: FuzzAnswer) => void = () => {},
): Promise<void> {
  const property = fc.asyncProperty(requests, async (request) => {
    const answer = await send(request);
    seen(request, answer);
    const complaint = complaintAbout(bench, request, answer);
    if (complaint !== undefined) throw new Error(`${request.operation} ${complaint}`);
  });
  await fc.assert(property, settings(runs));
}

/** Whether it still works as if nothing had happened. */
async function expectAlive(send: Sender, key?: string): Promise<void> {
  const request = { operation: "", headers: [["content-type", "application/json"]] } as const;
  const health = await send({ ...request, method: "GET", target: "/v1/health", body: undefined });
  expect(health).toMatchObject({ status: 200, text: '{"status":"ok","version":"9.9.9"}' });
  const answer = await send({
    ...request,
    method: "POST",
    target: "/v1/retrieve",
    body: JSON.stringify({ query: "green tea", ...(key === undefined && { user_id: "ada" }) }),
  });
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text).results.length).toBeGreaterThan(0);
}

test("correct requests of every operation are answered as documented", async () => {
  const opened = await openWorld();
  const done = new Set<string>();
  for (const operation of DOCUMENT.operations) {
    const requests = correctRequest(DOCUMENT, opened.world.known, operation);
    await expectSound(opened, requests, RUNS, (request, { status }) => {
      if (status === 200) done.add(request.operation);
    });
  }
  await expectAlive(opened.send);
  expect(opened.unexpected).toEqual([]);
  console.log(DOCUMENT.operations.map(({ id }) => id).filter((id) => !done.has(id)));
});

test("faulty requests are refused as documented, and nothing breaks", async () => {
  const opened = await openWorld();
  for (const operation of DOCUMENT.operations) {
    await expectSound(opened, faultyRequest(DOCUMENT, opened.world.known, operation), RUNS);
  }
  await expectAlive(opened.send);
  expect(opened.unexpected).toEqual([]);
});
