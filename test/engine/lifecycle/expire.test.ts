import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { nodeRecord } from "../../../src/domain/node.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { expireMemories } from "../../../src/engine/lifecycle/expire.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { sha256Hex, uuidV5 } from "../../../src/lib/hashing.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { altered, type OpenedEngine, testClock, useEngines } from "../engines.ts";
import { logOf } from "./memories.ts";

const { open } = useEngines();

const ALL = { owner: ALL_OWNERS, limit: 50, budgetMs: 60_000 };
const START = "2026-03-18T12:00:00Z";

async function opened(alter?: (store: Store) => Partial<Store>) {
  const clock = testClock(START);
  const settings = { upkeep: undefined };
  const one = await open(alter === undefined ? { clock, settings } : { clock, settings, alter });
  return { ...one, clock };
}

async function store({ engine }: OpenedEngine, content: string, given: Partial<StoreInput> = {}) {
  const { node } = await engine.storeWithReceipt({ content, userId: "ada", ttlDays: 1, ...given });
  return node;
}

const now = ({ engine }: OpenedEngine, id: string) =>
  engine.getNode(id, { includeSuperseded: true });

describe("an expired memory", () => {
  test("is archived with a record of what it was, and keeps its text", async () => {
    const one = await opened();
    const node = await store(one, "The parcel is at the gate", { scope: "project" });
    one.clock.set("2026-03-20T00:00:00Z");

    expect(await expireMemories(one.deps, ALL)).toEqual({ archived: 1, failed: 0 });

    const after = await now(one, node.id);
    if (after === undefined) throw new Error("the memory is gone");
    expect(after).toEqual({ ...node, lifecycleState: "archived", updatedAt: after.updatedAt });
    const [operation, ...more] = await logOf(one.store, node.id);
    const expiry = "2026-03-19T12:00:00";
    const end = asInstant(`${expiry}${node.createdAt.slice(19)}`);
    expect(more).toEqual([]);
    expect(operation).toMatchObject({
      id: uuidV5(node.id, `svc:ttl-expiration:v1:${end}`),
      opType: "TOMBSTONE_SWEEP",
      targetId: node.id,
      actorId: "ada",
      namespaceId: "project",
      createdAt: after.updatedAt,
      payload: {
        version: 1,
        target_id: node.id,
        target_type: "memory_object",
        reason: "retention_policy_expiry",
        policy_ref: "ttl_expiration_v1",
        content_hash_of_deleted: sha256Hex("The parcel is at the gate"),
        ttl_days: 1,
        created_at: node.createdAt,
        expired_at: end,
        tombstone_ts: after.updatedAt,
      },
    });
    expect(openChecksummed(operation?.payload ?? {})).toEqual({
      version: 1,
      policy: "ttl_expiration_v1",
      operation_id: operation?.id ?? "",
      evaluated_at: after.updatedAt,
      expires_at: end,
      before: nodeRecord.to(node),
      after: nodeRecord.to(after),
    });
  });

  test("leaves the indexes, while the others stay", async () => {
    const one = await opened();
    await store(one, "The parcel is at the gate");
    const kept = await store(one, "The parcel is blue", { ttlDays: 30 });
    one.clock.set("2026-03-20T00:00:00Z");
    const find = async () => {
      const { results } = await one.engine.retrieve({ query: "parcel", userId: "ada" });
      return results.map(({ node }) => node.id);
    };

    await expireMemories(one.deps, ALL);

    expect(await find()).toEqual([kept.id]);
    const answer = await one.engine.retrieve({ query: "parcel", userId: "ada" });
    expect(answer.excluded).toEqual([]);
  });

  test("is archived once by several who look at the same time", async () => {
    const one = await opened();
    const two = await open({ pack: one.pack, clock: one.clock, settings: { upkeep: undefined } });
    const nodes = [];
    for (let count = 0; count < 6; count += 1) nodes.push(await store(one, `parcel ${count}`));
    one.clock.set("2026-03-20T00:00:00Z");

    const outcomes = await Promise.all(
      [one, two, one, two].map(({ deps }) => expireMemories(deps, ALL)),
    );

    expect(outcomes.reduce((sum, { archived }) => sum + archived, 0)).toBe(6);
    expect(outcomes.every(({ failed }) => failed === 0)).toBe(true);
    for (const { id: targetId } of nodes) {
      const records = await logOf(one.store, targetId);
      expect(records.map(({ opType }) => opType)).toEqual(["TOMBSTONE_SWEEP"]);
    }
  });

  test("that was archived or pinned after it was looked for is left alone", async () => {
    const one = await opened();
    const node = await store(one, "The parcel is at the gate");
    const stale = { ...one.deps, store: altered(one.store, { expired: async () => [node] }) };
    await one.engine.archive(node.id);
    one.clock.set("2026-03-20T00:00:00Z");

    expect(await expireMemories(stale, ALL)).toEqual({ archived: 0, failed: 0 });

    const records = await logOf(one.store, node.id);
    expect(records.map(({ opType }) => opType)).toEqual(["LIFECYCLE_CHANGED"]);
  });
});

describe("a sweep", () => {
  test("begins with no memory without a budget, or once it is to stop", async () => {
    const one = await opened();
    await store(one, "parcel");
    one.clock.set("2026-03-20T00:00:00Z");

    expect(await expireMemories(one.deps, { ...ALL, budgetMs: 0 })).toEqual({
      archived: 0,
      failed: 0,
    });
    expect(await expireMemories(one.deps, { ...ALL, signal: AbortSignal.abort() })).toEqual({
      archived: 0,
      failed: 0,
    });
  });

  test("goes on after one that fails, and reports it without its text", async () => {
    let refused = false;
    const one = await opened((log) => ({
      change: (reads, decide) => {
        if (refused) return log.change(reads, decide);
        refused = true;
        return Promise.reject(new Error("parcel"));
      },
    }));
    const first = await store(one, "parcel one");
    const second = await store(one, "parcel two");
    one.clock.set("2026-03-20T00:00:00Z");

    expect(await expireMemories(one.deps, ALL)).toEqual({ archived: 1, failed: 1 });

    expect((await now(one, first.id))?.lifecycleState).toBe("tentative");
    expect((await now(one, second.id))?.lifecycleState).toBe("archived");
    expect(one.warnings).toEqual([
      expect.stringMatching(/^expired memory [-0-9a-f]+ was not archived/),
    ]);
  });
});

describe("a question about a memory whose retention is over", () => {
  test.each([
    { mode: "default", shows: "does not show it" },
    { mode: "explicit", shows: "shows it" },
  ] as const)("$shows in $mode mode", async ({ mode }) => {
    const one = await opened();
    const gone = await store(one, "The parcel is at the gate", { sessionId: "s" });
    const kept = await store(one, "The parcel is blue", { ttlDays: 30, sessionId: "s" });
    const ask = { query: "parcel", userId: "ada", retrievalMode: mode } as const;
    const before = await one.engine.retrieve(ask);
    expect(before.results.map(({ node }) => node.id).sort()).toEqual([gone.id, kept.id].sort());
    one.clock.set("2026-03-20T00:00:00Z");

    // The reference time is when the question is about, not when it is asked.
    const answer = await one.engine.retrieve({ ...ask, referenceTime: START });

    if (mode === "explicit") {
      expect(answer.results.map(({ node }) => node.id).sort()).toEqual([gone.id, kept.id].sort());
      expect(answer.excluded).toEqual([]);
      return;
    }
    expect(answer.results.map(({ node }) => node.id)).toEqual([kept.id]);
    expect(answer.excluded).toEqual([
      { nodeId: gone.id, reason: "retention_filtered:expired", compositeScore: undefined },
    ]);
    expect(answer.bundle.renderedContext).not.toContain("gate");
    const told = await one.engine.explain(answer.metadata.requestId, "ada");
    expect(JSON.stringify(told)).toContain("it was to be kept for a time that is over");
    const receipt = await one.engine.getRetrievalReceipt(answer.metadata.requestId, "ada");
    expect(receipt?.record.filteredOut).toEqual([
      { nodeId: gone.id, reason: "retention_filtered:expired" },
    ]);
  });

  test("gives no hint of it from another scope", async () => {
    const one = await opened();
    await store(one, "The parcel is at the gate", { scope: "project" });
    const ask = { query: "parcel", userId: "ada", scope: "personal" } as const;
    expect((await one.engine.retrieve(ask)).crossScopeHints).toHaveLength(1);
    one.clock.set("2026-03-20T00:00:00Z");

    expect((await one.engine.retrieve(ask)).crossScopeHints).toEqual([]);
  });
});
