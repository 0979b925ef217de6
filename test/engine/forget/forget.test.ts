import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { fromPlanRecord, planRecordId } from "../../../src/domain/jobs.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { uuidV5 } from "../../../src/lib/hashing.ts";
import { aNode, anAdmission, anEvent, at, freshId } from "../../contract/samples.ts";
import { expectInvalid, useEngines } from "../engines.ts";

setDefaultTimeout(120_000);

const { open } = useEngines();
const SECRET = "The vault opens with marmalade.";
const userId = "ada";

async function store(engine: MemoryEngine, content: string, given: { sessionId?: string } = {}) {
  return await engine.storeWithReceipt({ content, userId, ...given });
}

/** A preview, and the erasure of exactly what it lists. */
async function forgetAll(engine: MemoryEngine, ids: readonly string[]) {
  const preview = await engine.forget({ userId, ids });
  const answer = await engine.forget({ userId, ids, mode: "erase", confirm: preview.confirm });
  return { preview, answer };
}

describe("by what a text contains", () => {
  test("a message goes that has no memory yet, and one whose memory has another text", async () => {
    const { engine } = await open();
    const waiting = await engine.ingestFast({ content: SECRET, userId });
    const { eventId, nodeId } = await engine.storeWithReceipt({
      ...{ content: SECRET, retrievalContent: "how it opens", userId },
    });
    const { nodeId: other } = await engine.storeWithReceipt({
      ...{ content: "Ask Bob.", retrievalContent: SECRET, userId },
    });
    await engine.ingestFast({ content: SECRET, userId: "bob" });
    const preview = await engine.forget({ userId, containing: "MARMALADE" });

    expect(preview.events.map(({ id }) => id)).toContain(waiting);
    expect(preview.events.map(({ id }) => id)).toContain(eventId);
    expect(preview.events).toHaveLength(3);
    expect(preview.memories.map(({ id }) => id).sort()).toEqual([nodeId, other].sort());
    await engine.forget({
      ...{ userId, containing: "MARMALADE", mode: "erase", confirm: preview.confirm },
    });
    await engine.processPending();
    expect((await engine.getEvent(waiting, userId))?.content).toBe("");
    expect((await engine.stats(userId)).nodeCount).toBe(0);
  });
});

test("a batch of texts whose message was forgotten is refused under its request id", async () => {
  const { engine } = await open();
  // The second is dated after all that the owner has, later than the clock.
  await engine.ingestFast({ content: "before", userId });
  const requestId = freshId();
  const batch = { userId, requestId, items: [{ content: SECRET }] };
  const [eventId = ""] = await engine.ingestFastMany(batch);
  await forgetAll(engine, [eventId]);

  expect(engine.ingestFastMany(batch)).rejects.toMatchObject({ code: "request_conflict" });
});

test("the scan names questions and citations that keep a piece of the text", async () => {
  const { engine } = await open();
  const { nodeId } = await store(engine, `${SECRET} ${"It stands on the third shelf. ".repeat(3)}`);
  const { nodeId: tea } = await store(engine, "Tea is green.");
  await engine.archive(nodeId, { userId });
  const asked = await engine.retrieve({ query: `Tea: ${SECRET} It stands on`, userId });
  const { requestId } = asked.metadata;
  const { citationId } = await engine.recordAnswerCitations(
    {
      ...{ requestId, answerId: `${SECRET} It stands`, citedNodeIds: [tea] },
      ...{ answerSha256: "0".repeat(64), method: "model_reported" },
    },
    userId,
  );
  const { answer } = await forgetAll(engine, [nodeId]);

  expect(answer.receipt?.["scan"]).toMatchObject({ hits: 0 });
  const scan = JSON.stringify(answer.receipt?.["scan"]);
  expect(scan).toContain(requestId);
  expect(scan).toContain(
    uuidV5("url", JSON.stringify(["svc:answer-citations:v1", userId, citationId])),
  );
});

describe("a preview", () => {
  test("lists a memory with the event that it came from, and changes nothing", async () => {
    const { engine } = await open();
    const { nodeId, eventId } = await store(engine, SECRET);
    await engine.retrieve({ query: "marmalade", userId });
    for (const ids of [[nodeId], [eventId], [nodeId, eventId]]) {
      const preview = await engine.forget({ userId, ids });
      expect(preview).toMatchObject({
        ...{ mode: "preview", forgetId: undefined, receipt: undefined, stays: [] },
        events: [{ id: eventId, role: "user", excerpt: SECRET }],
        memories: [{ id: nodeId, nodeType: "note", why: "evidence", excerpt: SECRET }],
        counts: { edges: 0, vectors: 1, textEntries: 1, operations: 1, receipts: 1 },
      });
      expect(preview.confirm).toMatch(/^[0-9a-f]{32}$/);
      expect(preview.notReached.length).toBeGreaterThan(2);
    }
    expect((await engine.getNode(nodeId, { userId }))?.content).toBe(SECRET);
    expect((await engine.stats(userId)).eventCount).toBe(1);
  });

  test("says why something stays: other events say it, or it has a text of its own", async () => {
    const { engine, store: log } = await open();
    const [first, second] = [SECRET, "Ada keeps marmalade."].map((content) =>
      anEvent({ content, timestamp: at(1) }),
    );
    if (first === undefined || second === undefined) throw new Error("two");
    await log.admit(anAdmission([first, second]));
    const both = aNode(first, {
      ...{ nodeType: "fact", content: "Vault: marmalade" },
      evidenceRefs: [first.id, second.id],
    });
    const name = aNode(first, {
      ...{ nodeType: "entity", content: "Ada", evidenceRefs: [second.id, first.id] },
    });
    const sum = aNode(first, {
      ...{ nodeType: "summary", content: "vaults", evidenceRefs: [first.id, second.id] },
    });
    const vector = new Float32Array(64).fill(0.125);
    await log.addNodes([both, name, sum].map((node) => ({ node, vector, at: at(2) })));

    const preview = await engine.forget({ userId, ids: [first.id] });
    const why = new Map(preview.memories.map((memory) => [memory.id, memory.why]));
    expect(why.get(both.id)).toBe("may_repeat");
    expect(why.get(sum.id)).toBe("summary");
    expect(why.has(name.id)).toBe(false);
    expect(preview.stays.map(({ kind, id, why: reason }) => [kind, id, reason])).toEqual([
      ["memory", name.id, "other_evidence"],
      ["event", second.id, "own_text"],
    ]);
    const keeping = await engine.forget({ userId, ids: [first.id], keepDerived: true });
    expect(keeping.memories.map(({ id }) => id)).not.toContain(both.id);
    expect(keeping.memories.map(({ id }) => id)).toContain(sum.id);
    expect(keeping.confirm).not.toBe(preview.confirm);
  });

  test("finds all of a conversation, and all that contains a text", async () => {
    const { engine } = await open();
    await store(engine, SECRET, { sessionId: "s" });
    await store(engine, "Thanks.", { sessionId: "s" });
    await store(engine, "More MARMALADE, please.", { sessionId: "t" });
    const session = await engine.forget({ userId, sessionId: "s" });
    expect(session.events.map(({ excerpt }) => excerpt)).toEqual([SECRET, "Thanks."]);
    const containing = await engine.forget({ userId, containing: "marmalade" });
    expect(containing.events).toHaveLength(2);
    const nothing = await engine.forget({ userId, containing: "pepper" });
    expect(nothing).toMatchObject({ confirm: undefined, events: [], memories: [] });
  });
});

describe("an erasure", () => {
  test("takes the question along that was under way meanwhile", async () => {
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const { engine, warnings } = await open({
      alter: (real) => ({
        pinned: async (...given) => {
          const found = await real.pinned(...given);
          reached.resolve();
          await gate.promise;
          return found;
        },
      }),
    });
    const { nodeId } = await store(engine, SECRET);
    await store(engine, "Ada prefers green tea.");
    const asked = engine.retrieve({ query: `Is it true: ${SECRET}`, userId });
    await reached.promise;
    const { preview, answer } = await forgetAll(engine, [nodeId]);
    gate.resolve();
    const { metadata } = await asked;

    expect(preview.counts.receipts).toBe(0);
    expect(metadata.receiptPersisted).toBe(false);
    expect(warnings.join()).toContain("something was forgotten meanwhile");
    expect(await engine.listRetrievals({ userId })).toMatchObject({ retrievals: [] });
    expect((await engine.verifyForgetting(answer.receipt, SECRET)).ok).toBe(true);
    const later = await engine.retrieve({ query: "tea", userId });
    expect(later.metadata.receiptPersisted).toBe(true);
  });

  test("leaves nothing to find, a tombstone, and a receipt that verifies", async () => {
    const { engine, store: log } = await open();
    const { nodeId, eventId } = await store(engine, SECRET);
    await store(engine, "Ada prefers green tea.");
    const { metadata } = await engine.retrieve({ query: "marmalade", userId });
    const { preview, answer } = await forgetAll(engine, [nodeId]);

    expect(answer).toMatchObject({ mode: "erase", stage: "physical", counts: preview.counts });
    expect(await engine.getNode(nodeId, { userId })).toBeUndefined();
    const tombstone = await engine.getEvent(eventId, userId);
    expect(tombstone).toMatchObject({ content: "", metadata: { erased: answer.forgetId } });
    expect(await engine.getRetrievalReceipt(metadata.requestId, userId)).toBeUndefined();
    const found = await engine.retrieve({ query: "marmalade", userId });
    expect(found.results.map(({ node }) => node.content)).not.toContain(SECRET);
    const plan = await log.auditRecord(planRecordId(eventId), ALL_OWNERS);
    expect(plan && fromPlanRecord(plan.payload)).toBeUndefined();
    const { receipt } = answer;
    expect(receipt).toMatchObject({
      ...{ format: "svc-forget-receipt", version: 1, stage: "physical", previous: null },
      erased: { events: [eventId], nodes: [nodeId], operations: 1, receipts: 1 },
      scan: { hits: 0, kept_elsewhere: [] },
    });
    expect(JSON.stringify(receipt)).not.toContain("marmalade");
    const verified = await engine.verifyForgetting(receipt, SECRET);
    expect(verified.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(verified.checks.map(({ name }) => name)).toEqual([
      ...["signature", "signer", "log", "erased", "stage", "text", "scan"],
    ]);
    const about = await engine.getForgetting(answer.forgetId ?? "", userId);
    expect(about).toMatchObject({ stage: "physical", events: [eventId], memories: [nodeId] });
    expect(await engine.listForgettings(userId)).toEqual(about === undefined ? [] : [about]);
    expect(await engine.getForgetting(answer.forgetId ?? "", "bob")).toBeUndefined();
    expect(await engine.listForgettings("bob")).toEqual([]);
  });

  test("is done once: the same confirmation again tells of the first, without a receipt", async () => {
    const { engine } = await open();
    const { nodeId, eventId } = await store(engine, SECRET);
    const { preview, answer } = await forgetAll(engine, [nodeId]);
    const again = await engine.forget({
      ...{ userId, ids: [nodeId], mode: "erase", confirm: preview.confirm },
    });
    expect(again).toMatchObject({
      ...{ forgetId: answer.forgetId, receipt: undefined, counts: answer.counts },
      forgottenBefore: [eventId],
    });
    const preview2 = await engine.forget({ userId, ids: [eventId] });
    expect(preview2).toMatchObject({ confirm: undefined, forgottenBefore: [eventId] });
    await expect(engine.forget({ userId, ids: [nodeId] })).rejects.toMatchObject({
      code: "not_found",
    });
  });

  test("gives its receipt when it is asked again, if the program ended before there was one", async () => {
    let isEnding = true;
    const { engine } = await open({
      alter: ({ settleErasures, signingKey }) => ({
        settleErasures: async (waitMs) => !isEnding && (await settleErasures(waitMs)),
        signingKey: async (made) => {
          if (isEnding) throw new Error("ended");
          return await signingKey(made);
        },
      }),
    });
    const { nodeId, eventId } = await store(engine, SECRET);
    const { confirm } = await engine.forget({ userId, ids: [nodeId] });
    const input = { userId, ids: [nodeId], mode: "erase", confirm } as const;
    await expect(engine.forget(input)).rejects.toThrow("ended");
    isEnding = false;
    const answers = await Promise.all([engine.forget(input), engine.forget(input)]);
    const [answer, ...more] = answers.filter(({ receipt }) => receipt !== undefined);
    expect(more).toEqual([]);
    expect(answer).toMatchObject({ stage: "physical", forgottenBefore: [eventId] });
    expect(answer?.receipt).toMatchObject({
      ...{ stage: "physical", commitment: null, scan: null, actor: "ada" },
      erased: { events: [eventId], nodes: [nodeId], operations: 1 },
    });
    const { checks } = await engine.verifyForgetting(answer?.receipt, SECRET);
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["text"]);
    const [known] = await engine.listForgettings(userId);
    expect(known?.receiptSha256).toHaveLength(64);
    expect((await engine.forget(input)).receipt).toBeUndefined();
  });

  test("is refused once something has changed since the preview", async () => {
    const { engine, store: log } = await open();
    const { nodeId, eventId } = await store(engine, SECRET);
    const { confirm } = await engine.forget({ userId, ids: [nodeId] });
    const event = await engine.getEvent(eventId, userId);
    const node = aNode(event ?? anEvent(), { content: "Also marmalade." });
    await log.addNodes([{ node, vector: new Float32Array(64).fill(0.125), at: at(2) }]);
    const erase = engine.forget({ userId, ids: [nodeId], mode: "erase", confirm });
    await expect(erase).rejects.toMatchObject({ code: "request_conflict" });
    expect((await engine.getNode(nodeId, { userId }))?.content).toBe(SECRET);
  });

  test("does not touch what another owner has, or says", async () => {
    const { engine } = await open();
    const { nodeId, eventId } = await store(engine, SECRET);
    const own = await engine.storeWithReceipt({ content: SECRET, userId: "bob" });
    for (const id of [nodeId, eventId]) {
      const foreign = engine.forget({ userId: "bob", ids: [id] });
      await expect(foreign).rejects.toMatchObject({ code: "not_found" });
    }
    await forgetAll(engine, [nodeId]);
    expect((await engine.getNode(own.nodeId, { userId: "bob" }))?.content).toBe(SECRET);
    expect((await engine.getEvent(own.eventId, "bob"))?.content).toBe(SECRET);
  });

  test("tells nothing of what another owner has: right and wrong guesses get the same receipt", async () => {
    const { engine } = await open();
    const bobs = await engine.storeWithReceipt({
      ...{ content: "Bob's PIN is 4711, says Mueller", userId: "bob-annabelle" },
    });
    await engine.retrieve({ query: "is the pin 9876?", userId: "bob-annabelle" });
    const guesses = ["PIN is 4711", "PIN is 4712", "mueller", "meuller", "pin 9876", "pin 9875"];
    const scans: unknown[] = [];
    for (const guess of [...guesses, "annabelle", "annabella"]) {
      const { nodeId } = await store(engine, guess);
      const { answer } = await forgetAll(engine, [nodeId]);
      expect(JSON.stringify(answer)).not.toContain(bobs.nodeId);
      expect(answer.stage).toBe("physical");
      scans.push(answer.receipt?.["scan"]);
      const { checks } = await engine.verifyForgetting(answer.receipt);
      expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    }
    const nothing = { pages: null, bytes: null, hits: null, needles: 1, kept_elsewhere: [] };
    expect(scans).toEqual(scans.map(() => nothing));
  });

  test("still tells of the owner's own where others have memories, and an operator of all", async () => {
    const { engine } = await open();
    const bobs = await engine.storeWithReceipt({ content: SECRET, userId: "bob" });
    const { nodeId } = await store(engine, SECRET);
    const kept = await store(engine, `Again: ${SECRET}`);
    const { receipt } = (await forgetAll(engine, [nodeId])).answer;
    expect(JSON.stringify(receipt?.["scan"])).toContain(kept.nodeId);
    expect(JSON.stringify(receipt)).not.toContain(bobs.nodeId);
    const { checks } = await engine.verifyForgetting(receipt, SECRET);
    expect(checks.at(-1)?.detail).toContain(bobs.nodeId);
  });

  test("tells that the same text is in a memory that is kept", async () => {
    const { engine } = await open();
    const { nodeId } = await store(engine, SECRET);
    const kept = await store(engine, `Again: ${SECRET}`);
    const { answer } = await forgetAll(engine, [nodeId]);
    const { scan } = answer.receipt ?? {};
    expect(scan).toMatchObject({ hits: 0 });
    expect(JSON.stringify(scan)).toContain(kept.nodeId);
  });

  test("is final: a retry of the store, of the batch, or a rebuild brings nothing back", async () => {
    const { engine } = await open();
    const requestId = freshId();
    const input = { content: SECRET, userId, requestId };
    const { nodeId } = await engine.storeWithReceipt(input);
    const batch = { userId, items: [{ content: "zebrafish swim" }], requestId: freshId() };
    const [batched = ""] = await engine.ingestFastMany(batch);
    await engine.processPending();
    await forgetAll(engine, [nodeId, batched]);

    const conflict = { code: "request_conflict" };
    await expect(engine.storeWithReceipt(input)).rejects.toMatchObject(conflict);
    await expect(engine.ingestFastMany(batch)).rejects.toMatchObject(conflict);
    await engine.rebuildIndexes();
    await engine.processPending();
    await engine.organize({ userId });
    expect(await engine.queryNodes({ userId, contentContainsAny: ["marmalade"] })).toEqual([]);
    expect((await engine.stats(userId)).nodeCount).toBe(0);
    const status = await engine.processingStatus(batched, userId);
    expect(status).toMatchObject({ status: "complete" });
  });

  test("chains receipts, and every change of one, or one of another pack, fails", async () => {
    const { engine } = await open();
    const first = await store(engine, SECRET);
    const second = await store(engine, "zebrafish swim at night");
    const one = (await forgetAll(engine, [first.nodeId])).answer.receipt ?? {};
    const two = (await forgetAll(engine, [second.nodeId])).answer.receipt ?? {};
    const [newest, oldest] = await engine.listForgettings(userId);
    expect(newest?.events).toEqual([second.eventId]);
    expect(two["previous"]).toBe(oldest?.receiptSha256 ?? "");
    const failing = async (receipt: unknown, text?: string) => {
      const { checks } = await engine.verifyForgetting(receipt, text);
      return checks.filter(({ ok }) => !ok).map(({ name }) => name);
    };
    expect(await failing(one)).toEqual([]);
    expect(await failing({ ...one, actor: "eve" })).toEqual(["signature", "signer", "log"]);
    expect(await failing({ ...one, previous: "x" })).toContain("signature");
    expect(await failing(two, SECRET)).toEqual(["text"]);
    const other = (await open()).engine;
    const { checks } = await other.verifyForgetting(one);
    expect(checks.filter(({ ok }) => !ok).map(({ name }) => name)).toEqual(["signer", "log"]);
  });
});

test("bad input is refused", async () => {
  const { engine } = await open();
  await expectInvalid(engine.forget({ userId }), { field: "ids" });
  await expectInvalid(engine.forget({ userId, ids: ["7"] }), { field: "ids[0]" });
  await expectInvalid(engine.forget({ userId, containing: " " }), { field: "containing" });
  await expectInvalid(engine.forget({ userId, ids: [freshId()], mode: "erase" }), {
    field: "confirm",
  });
  await expectInvalid(engine.verifyForgetting({ format: "x" }), { field: "receipt" });
  await expectInvalid(engine.getForgetting("7"), { field: "forget_id" });
  const wrong = { userId, sessionId: "none", mode: "erase", confirm: "0" } as const;
  await expect(engine.forget(wrong)).rejects.toMatchObject({ code: "request_conflict" });
  expect(await engine.getForgetting(uuidV5("url", "x"))).toBeUndefined();
});
