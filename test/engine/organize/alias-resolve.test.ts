import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { AliasReviewInput } from "../../../src/engine/aliases/api.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import { type OpenedEngine, testClock, useEngines, wordEmbedder } from "../engines.ts";
import { NOBODY, refusal, remember, reread } from "../lifecycle/memories.ts";

const { open } = useEngines();

async function opened(): Promise<OpenedEngine> {
  return open({ clock: testClock(), embedder: wordEmbedder() });
}

function entity(
  { engine }: OpenedEngine,
  content: string,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode> {
  return remember(engine, content, { nodeType: "entity", ...given });
}

async function run({ engine }: OpenedEngine) {
  const { perJob, jobsSkipped } = await engine.organize({ jobs: ["alias_resolve"] });
  expect(jobsSkipped).toEqual([]);
  const { nodesProcessed, nodesModified, errors, details } = perJob["alias_resolve"] ?? {};
  return { nodesProcessed, nodesModified, errors, details };
}

const DONE = { nodesProcessed: 0, nodesModified: 0, errors: 0 };

/** Two names of one thing that differ in more than case: all but one of their words are the same. */
const NAMES = ["Anna Maria Sofia Keller", "Anna Maria Sofia Elisabeth Keller"] as const;

describe("names that surely match", () => {
  test.each([
    ["JS", "JavaScript"],
    ["k8s", "Kubernetes"],
    ["PG", "postgresql"],
    ["lisbon", "Lisbon"],
  ])("%s and %s become one, under the longer name", async (short, long) => {
    const world = await opened();
    const one = await entity(world, short);
    const other = await entity(world, long);

    expect(await run(world)).toEqual({
      ...DONE,
      nodesProcessed: 1,
      nodesModified: 1,
      details: { aliases_found: 1, aliases_resolved: 1 },
    });
    const [kept, gone] = short.length < long.length ? [other, one] : [one, other];
    expect((await reread(world.engine, gone.id)).supersededBy).toBe(kept.id);
    expect((await reread(world.engine, kept.id)).content).toBe(kept.content);
    expect((await run(world)).nodesProcessed).toBe(0);
  });

  test.each([
    ["js", "ecmascript"],
    ["postgres", "pg"],
    ["ci", "cd"],
    ["Anna", "Hanna"],
  ])("%s and %s stay two", async (one, other) => {
    const world = await opened();
    await entity(world, one);
    await entity(world, other);

    expect((await run(world)).nodesModified).toBe(0);
  });

  test("stay two in different sessions, scopes and metadata, and for other owners", async () => {
    const world = await opened();
    await entity(world, "JavaScript");
    for (const given of [
      { sessionId: "s1" },
      { scope: "project" },
      { metadata: { entity_type: "language" } },
      { userId: "bob" },
    ] as const) {
      await entity(world, "JS", given);
    }

    expect((await run(world)).nodesProcessed).toBe(0);
  });
});

describe("names that mean nearly the same", () => {
  async function proposed() {
    const world = await opened();
    const one = await entity(world, NAMES[0]);
    const other = await entity(world, NAMES[1]);
    expect((await run(world)).nodesModified).toBe(1);
    const [item] = await world.engine.listAliasProposals({ userId: "ada" });
    if (item === undefined) throw new Error("nothing was proposed");
    const review = (given: Partial<AliasReviewInput> = {}) =>
      world.engine.reviewAliasProposal(item.proposal.operationId, {
        decision: "accepted",
        reviewerId: "ada",
        userId: "ada",
        ...given,
      });
    return { world, one, other, item, review };
  }

  test("are proposed once, and stay two", async () => {
    const { world, one, other, item } = await proposed();

    expect(item).toMatchObject({
      status: "pending",
      review: undefined,
      proposal: {
        version: 1,
        policy: "unverified_alias_proposals_v1",
        aliasType: "semantic",
        leftBefore: one,
        rightBefore: other,
        edge: {
          sourceId: one.id,
          targetId: other.id,
          edgeType: "relates_to",
          confidence: item.proposal.score,
          metadata: {
            relation: "alias",
            alias_type: "semantic",
            identity_verified: false,
            alias_operation_id: item.proposal.operationId,
          },
        },
      },
    });
    expect(await world.engine.neighborhood(one.id)).toEqual([]);
    await world.store.saveWalkPlace("alias_resolve", "ada", {});
    expect((await run(world)).nodesModified).toBe(0);
    expect(await world.engine.listAliasProposals()).toHaveLength(1);
    expect(await world.engine.listAliasProposals({ userId: "bob" })).toEqual([]);
  });

  test("are linked once somebody accepts that", async () => {
    const { world, one, other, item, review } = await proposed();

    const result = await review();

    expect(result).toMatchObject({ decision: "accepted", applied: true });
    expect(await review()).toEqual({ ...result, applied: false });
    expect(await world.engine.neighborhood(one.id)).toMatchObject([{ id: other.id }]);
    const [now] = await world.engine.listAliasProposals({ status: "accepted" });
    expect(now?.review).toMatchObject({
      decision: "accepted",
      reviewerId: "ada",
      reason: undefined,
      proposalOperationId: item.proposal.operationId,
      verifiedEdge: { id: result.verifiedEdgeId, metadata: { identity_verified: true } },
    });
    expect(await world.engine.listAliasProposals({ status: "pending" })).toEqual([]);
    expect((await refusal(review({ reviewerId: "bob" }))).code).toBe("request_conflict");
    expect((await refusal(review({ decision: "rejected", reason: "no" }))).code).toBe(
      "request_conflict",
    );
  });

  test("stay unlinked once somebody rejects that, for ever", async () => {
    const { world, one, review } = await proposed();

    const rejection = { decision: "rejected", reason: "mother and daughter" } as const;
    expect(await review(rejection)).toMatchObject({ applied: true, verifiedEdgeId: undefined });
    expect(await review(rejection)).toMatchObject({ applied: false });

    expect(await world.engine.neighborhood(one.id)).toEqual([]);
    await world.store.saveWalkPlace("alias_resolve", "ada", {});
    expect((await run(world)).nodesModified).toBe(0);
    expect(await world.engine.listAliasProposals({ status: "rejected" })).toHaveLength(1);
  });

  test("are not accepted once one of them has changed", async () => {
    const { world, other, review } = await proposed();
    await world.engine.promote(other.id, { userId: "ada" });

    expect((await refusal(review())).code).toBe("stale_proposal");
    expect(await review({ decision: "rejected", reason: "old" })).toMatchObject({ applied: true });
  });

  test("are reviewed by their owner, with a name, and a reason to reject", async () => {
    const { world, review } = await proposed();

    const codes = [
      await refusal(review({ userId: "bob" })),
      await refusal(
        world.engine.reviewAliasProposal(NOBODY, { decision: "accepted", reviewerId: "x" }),
      ),
      await refusal(review({ reviewerId: " " })),
      await refusal(review({ reviewerId: "x".repeat(257) })),
      await refusal(review({ decision: "rejected" })),
      await refusal(review({ decision: "rejected", reason: " " })),
      await refusal(review({ reason: "x".repeat(2049) })),
    ];

    expect(codes.map(({ code, data }) => data["field"] ?? code)).toEqual([
      "not_found",
      "not_found",
      "reviewer_id",
      "reviewer_id",
      "reason",
      "reason",
      "reason",
    ]);
  });
});

test("what a personal word stands for is never compared", async () => {
  const world = await opened();
  await entity(world, "she", { metadata: { entity_type: "person" } });
  await entity(world, "She", { metadata: { entity_type: "person" } });

  expect((await run(world)).nodesProcessed).toBe(0);
});
