import { describe, expect, test } from "bun:test";
import { freshId, put } from "../../contract/samples.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { useEngines } from "../engines.ts";

const { open } = useEngines();

describe("edges", () => {
  test("at a memory are read in both directions, page by page", async () => {
    const opened = await open();
    const [hub, ...others] = await put(
      opened.store,
      ...["hub", "a", "b", "c"].map((content) => ({ content })),
    );
    const place = { seed: seedInto(opened.pack) };
    for (const [index, other] of others.entries()) {
      const type = index === 0 ? "mentions" : "relates_to";
      if (index % 2 === 0) await link(place, hub, other, { type });
      else await link(place, other, hub, { type });
    }
    await link(place, others[0], others[1], { type: "part_of" });
    const id = hub?.id ?? "";

    const first = await opened.engine.getNodeEdges(id, { userId: "ada", limit: 2 });
    const second = await opened.engine.getNodeEdges(id, { afterId: first?.nextCursor, limit: 2 });

    const edges = [...(first?.edges ?? []), ...(second?.edges ?? [])];
    expect(edges).toHaveLength(3);
    expect(edges.map((edge) => edge.id)).toEqual(edges.map((edge) => edge.id).sort());
    expect(edges.every((edge) => edge.sourceId === id || edge.targetId === id)).toBe(true);
    expect([first?.hasMore, second?.hasMore, second?.nextCursor]).toEqual([true, false, undefined]);
    const mentions = await opened.engine.getNodeEdges(id, { edgeType: "mentions" });
    expect(mentions?.edges.map(({ edgeType, targetId }) => [edgeType, targetId])).toEqual([
      ["mentions", others[0]?.id as never],
    ]);
  });

  test("of another owner's memory, or of none, are not there", async () => {
    const opened = await open();
    const [node] = await put(opened.store, { content: "x" });

    expect(await opened.engine.getNodeEdges(node?.id ?? "", { userId: "bob" })).toBeUndefined();
    expect(await opened.engine.getNodeEdges(freshId())).toBeUndefined();
    expect((await opened.engine.getEdges({ userId: "bob" })).edges).toEqual([]);
  });
});

describe("contradictions", () => {
  test("are listed oldest first with both memories, who noted them, and whether they are open", async () => {
    const opened = await open();
    const { engine } = opened;
    const store = async (content: string) =>
      (await engine.storeWithReceipt({ content, userId: "ada" })).nodeId;
    const [tea, coffee, rome, oslo] = [
      await store("Anna drinks tea"),
      await store("Anna drinks coffee"),
      await store("Anna lives in Rome"),
      await store("Anna lives in Oslo"),
    ];
    await engine.contradict(tea, coffee, { userId: "ada", actorId: "the nurse" });
    await engine.contradict(rome, oslo, { userId: "ada" });
    await engine.resolveContradiction(coffee, tea, { userId: "ada" });

    const all = await engine.listContradictions({ userId: "ada" });

    expect(
      all.contradictions.map(({ nodeA, nodeB, actor, status }) => [
        nodeA.id,
        nodeB.id,
        actor,
        status,
      ]),
    ).toEqual([
      [tea, coffee, "the nurse", "resolved"],
      [rome, oslo, "ada", "open"],
    ]);
    const ids = async (query: object) =>
      (await engine.listContradictions({ userId: "ada", ...query })).contradictions.map(
        ({ edgeId }) => edgeId,
      );
    const [first, second] = all.contradictions.map(({ edgeId }) => edgeId);
    expect(await ids({ status: "open" })).toEqual([second as never]);
    expect(await ids({ status: "resolved" })).toEqual([first as never]);
    const page = await engine.listContradictions({ userId: "ada", limit: 1 });
    expect([page.hasMore, page.nextCursor]).toEqual([true, first as never]);
    expect(await ids({ afterId: page.nextCursor })).toEqual([second as never]);
    expect((await engine.listContradictions({ userId: "bob" })).contradictions).toEqual([]);
  });
});

test("the counts of a pack are of all states, by type, state and scope", async () => {
  const opened = await open();
  const nodes = await put(
    opened.store,
    { content: "a", confidence: 0.25, salience: 0.5 },
    { content: "b", confidence: 0.75, salience: 0.5 },
    { content: "c", nodeType: "fact", lifecycleState: "archived" },
  );
  await put(opened.store, { content: "d", userId: "bob", scope: "project" });
  await link({ seed: seedInto(opened.pack) }, nodes[0], nodes[1], { type: "supports" });

  const own = await opened.engine.storeCounts("ada");
  const all = await opened.engine.storeCounts();

  expect(own.nodes).toContainEqual({
    nodeType: "note",
    lifecycleState: nodes[0]?.lifecycleState as never,
    scope: "personal",
    count: 2,
    confidence: 1,
    salience: 1,
  });
  expect(own.nodes.reduce((sum, { count }) => sum + count, 0)).toBe(3);
  expect(own.edges).toEqual([{ edgeType: "supports", count: 1 }]);
  expect([own.events, all.events]).toEqual([3, 4]);
  expect(all.nodes.reduce((sum, { count }) => sum + count, 0)).toBe(4);
});
