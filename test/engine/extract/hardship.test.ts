import { describe, expect, test } from "bun:test";
import type { ExtractionProvider } from "../../../src/engine/extract/api.ts";
import { refusal } from "../../adapters/language-model/provider-server.ts";
import { answerTo, entry } from "../../adapters/language-model/scripted-provider.ts";
import { until } from "../../until.ts";
import { DEFAULT_SETTINGS } from "../engines.ts";
import { runRaw } from "../retrieve/pipeline-world.ts";
import { claimsOf, useExtracting } from "./extracting.ts";

const { extracting, start, open, settle } = useExtracting();
const message = (content: string, more: object = {}) => ({
  content,
  userId: "ada",
  sessionId: "s",
  ...more,
});

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => "none",
    (error: { reasonCode?: string; code?: string }) => error.reasonCode ?? error.code,
  );
}

describe("a request about several messages", () => {
  test("that cannot be read is asked again in halves; what is answered stays", async () => {
    const rules = [
      {
        when: /Porto/,
        reply: ({ turns }: { readonly turns: readonly object[] }) =>
          turns.length > 1 ? "no JSON" : undefined,
      },
    ];
    const { engine, provider } = await extracting({ rules });
    const messages = ["Lisbon", "Porto", "Faro", "Braga"].map((place) => ({
      content: `I live in ${place}.`,
      role: "user",
    }));
    await engine.ingestBatch({ messages, userId: "ada", sessionId: "s", waitForExtraction: true });
    expect(provider.asked.map(({ turns }) => turns.length)).toEqual([4, 2, 1, 1, 2]);
    expect(await claimsOf(engine)).toHaveLength(4);
  });

  test("asks once more about what an answer leaves out, and believes nothing of foreign turns", async () => {
    let asked = 0;
    const rules = [
      {
        when: /Porto/,
        reply: () => {
          asked += 1;
          if (asked > 1) return undefined;
          const facts = entry("I live in Porto.").facts;
          return JSON.stringify({
            turns: [
              { turn: 1, ...entry("I live in Lisbon.") },
              { turn: 7, facts },
            ],
          });
        },
      },
    ];
    const { engine, provider } = await extracting({ rules });
    const messages = ["Lisbon", "Porto"].map((place) => ({
      content: `I live in ${place}.`,
      role: "user",
    }));
    const [first = ""] = await engine.ingestBatch({
      messages,
      userId: "ada",
      sessionId: "s",
      waitForExtraction: true,
    });
    expect(provider.asked.map(({ turns }) => turns.length)).toEqual([2, 1]);
    expect(await claimsOf(engine)).toEqual(["I live_in Lisbon", "I live_in Porto"]);
    expect((await engine.getExtraction(first, "ada"))?.dropped).toEqual({ foreign_turn: 1 });
  });
});

describe("the lease of a message", () => {
  test("is lost while the provider thinks: the late answer is not written, and the message is tried again", async () => {
    const gate = Promise.withResolvers<void>();
    const rules = [
      {
        when: /Lisbon/,
        reply: async () => {
          await gate.promise;
          return answerTo({ turns: [{ index: 1, content: "I live in Lisbon." }], isBatch: true });
        },
      },
    ];
    const { engine, pack, provider } = await extracting({ rules });
    const waiting = engine.ingest(message("I live in Lisbon.", { waitForExtraction: true }));
    await until(async () => provider.asked.length === 1);
    const [{ id = "" } = {}] = await engine.getEvents({ userId: "ada" });
    // As another process does whose clock says that the lease is over.
    const hold = (by: string) =>
      runRaw(pack, `UPDATE work SET generation = generation + 1, ${by} WHERE kind = 'extraction'`);
    hold("lease_owner = 'other', lease_expires_at = '2026-03-18T12:05:00.000000Z'");
    gate.resolve();
    expect(await codeOf(waiting)).toBe("ExtractionError");
    expect(await engine.getExtraction(id, "ada")).toBeUndefined();
    expect(await claimsOf(engine)).toEqual([]);
    hold("lease_owner = NULL, lease_expires_at = NULL");
    await engine.processExtractions({ userId: "ada" });
    expect(await claimsOf(engine)).toEqual(["I live_in Lisbon"]);
  });
});

describe("an engine that is closed", () => {
  test("gives the message back that a provider never answers", async () => {
    const provider = start({
      rules: [{ when: /Lisbon/, reply: () => new Promise<string>(() => undefined) }],
    });
    const { engine, pack } = await extracting(provider, { batchTimeoutMs: 300 });
    const id = await engine.ingest(message("I live in Lisbon."));
    await engine.close();
    const again = await extracting({}, {}, { pack });
    expect(await again.engine.extractionStatus(id, "ada")).toMatchObject({
      status: "pending",
      attempts: 1,
      lastError: "TimeoutError",
    });
    await again.engine.retryExtraction(id, { userId: "ada" });
    expect(await again.engine.processExtractions({ userId: "ada" })).toEqual({
      processed: 1,
      pending: 0,
      failed: 0,
    });
  });
});

describe("a plan that no longer fits", () => {
  test("is named, and made anew when asked; the model is not asked again", async () => {
    let isStale = true;
    const provider = start();
    const { engine } = await extracting(
      provider,
      {},
      {
        alter: (store) => ({
          publishPlan: async (claim, publication) =>
            isStale ? { staleId: claim.event.id } : await store.publishPlan(claim, publication),
        }),
      },
    );
    const call = engine.ingest(message("I live in Lisbon.", { waitForExtraction: true }));
    expect(await codeOf(call)).toBe("StaleDerivationPlanError");
    const [{ id = "" } = {}] = await engine.getEvents({ userId: "ada" });
    isStale = false;
    expect(await engine.retryExtraction(id, { userId: "ada", replan: true })).toMatchObject({
      status: "pending",
      planId: undefined,
      planRevision: 2,
      phase: "preparation",
    });
    await engine.processExtractions({ userId: "ada" });
    expect(await claimsOf(engine)).toEqual(["I live_in Lisbon"]);
    expect(provider.asked).toHaveLength(1);
  });
});

describe("a provider of the program", () => {
  const mine = (part: Partial<ExtractionProvider> = {}): ExtractionProvider => ({
    providerName: "mine",
    modelName: "m",
    extract: async (content) => entry(content),
    extractBatch: async (turns) => ({
      turns: turns.map(({ index, content }) => ({ turn: index, ...entry(content) })),
    }),
    ...part,
  });

  async function openWith(provider: ExtractionProvider, batchTargetTokens = 2048) {
    const extraction = { ...DEFAULT_SETTINGS.extraction, batchTargetTokens, timeoutMs: 200 };
    return await open({ settings: { extraction }, models: { extractionModel: provider } });
  }

  test("extracts, in batches and alone", async () => {
    for (const target of [2048, 0]) {
      const { engine } = await openWith(mine(), target);
      const id = await engine.ingest(message("I live in Lisbon.", { waitForExtraction: true }));
      expect(await claimsOf(engine)).toEqual(["I live_in Lisbon"]);
      expect(await engine.getExtraction(id, "ada")).toMatchObject({
        provider: "mine",
        model: "mine/m",
      });
    }
  });

  const FAILING: readonly (readonly [string, ExtractionProvider["extract"]])[] = [
    ["TimeoutError", () => new Promise(() => undefined)],
    ["ValidationError", async () => ({ facts: 7 })],
    ["ValidationError", async () => undefined],
    [
      "RateLimitError",
      async () => Promise.reject(Object.assign(new Error("x"), { name: "RateLimitError" })),
    ],
    ["Mine", async () => Promise.reject(Object.assign(new Error("x"), { name: "Mine" }))],
  ];
  test.each(FAILING)("fails with %s", async (code, extract) => {
    const { engine } = await openWith(mine({ extract }), 0);
    const call = engine.ingest(message("I live in Lisbon.", { waitForExtraction: true }));
    expect(await codeOf(call)).toBe(code);
  });

  test("is refused without extractBatch, unless messages go alone", async () => {
    const { extractBatch: _, ...alone } = mine();
    expect(await codeOf(openWith(alone))).toBe("invalid_config");
    expect(await codeOf(openWith(alone, 0))).toBe("none");
  });
});

describe("owners", () => {
  test("are extracted side by side, up to the limit, each in its order", async () => {
    const { engine, provider } = await extracting({ delayMs: 200 }, { maxConcurrent: 3 });
    const owners = Array.from({ length: 6 }, (_, index) => `owner${index}`);
    const messages = Array.from({ length: 4 }, (_, index) => ({
      content: `I own lamp${index}.`,
      role: "user",
    }));
    await Promise.all(
      owners.map((userId) => engine.ingestBatch({ messages, userId, waitForExtraction: true })),
    );
    expect(provider.most()).toBe(3);
    for (const userId of owners) expect(await claimsOf(engine, userId)).toHaveLength(4);
    const said = provider.asked.flatMap(({ turns }) => turns.map(({ content }) => content));
    expect(said.filter((content) => content.includes("lamp0"))).toHaveLength(6);
  });

  test("do not wait for each other's failures", async () => {
    const { engine } = await extracting({
      rules: [{ when: /Lisbon/, reply: () => refusal(500) }],
    });
    await codeOf(engine.ingest(message("I live in Lisbon.", { waitForExtraction: true })));
    await engine.ingest({ ...message("I live in Porto."), userId: "bob", waitForExtraction: true });
    expect(await claimsOf(engine, "bob")).toEqual(["I live_in Porto"]);
    expect(await engine.processExtractions({ userId: "bob" })).toEqual({
      processed: 0,
      pending: 0,
      failed: 0,
    });
  });
});

describe("a pass over the queue with a limit", () => {
  test.each([
    ["of one conversation", { sessionId: "s" }, 1],
    ["of one conversation", { sessionId: "s" }, 3],
    ["of no conversation", {}, 1],
  ])("of messages %s asks about as many as it says: %j, %d", async (_, session, limit) => {
    const { engine, provider } = await extracting();
    for (const lamp of [1, 2, 3, 4]) {
      await engine.ingest({ ...message(`I own lamp${lamp}.`), ...session });
    }
    expect(await engine.processExtractions({ userId: "ada", limit })).toMatchObject({
      processed: limit,
      pending: 4 - limit,
    });
    await settle();
    expect(provider.asked.flatMap(({ turns }) => turns)).toHaveLength(limit);
    await engine.processExtractions({ userId: "ada" });
    expect(await claimsOf(engine)).toHaveLength(4);
  });
});
