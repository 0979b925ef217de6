import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ChainOptions, NeighborhoodOptions } from "../../../src/engine/inspect/api.ts";
import { freshId, put } from "../../contract/samples.ts";
import { expectInvalid, useEngines } from "../engines.ts";
import { anEdge, connect } from "./edges.ts";

const { open } = useEngines();

const contents = (nodes: readonly MemoryNode[] | undefined) => nodes?.map(({ content }) => content);

/** `n0` to `n6` in a row, their edges now in one direction and now in the other; `n2` is archived. */
async function row() {
  const opened = await open();
  const nodes = await put(
    opened.store,
    ...Array.from({ length: 7 }, (_, index) => ({
      content: `n${index}`,
      ...(index === 2 && { lifecycleState: "archived" as const }),
    })),
  );
  const edges = nodes.slice(1).map((node, index) => {
    const [source, target] = index % 2 === 0 ? [nodes[index], node] : [node, nodes[index]];
    return anEdge(source, target);
  });
  await connect(opened.store, ...edges);
  const id = nodes[0]?.id ?? "";
  return { ...opened, nodes, id };
}

describe("a neighborhood", () => {
  test.each<{ maxHops: number | null | undefined; expected: string[] }>([
    { maxHops: undefined, expected: ["n1"] },
    { maxHops: null, expected: ["n1"] },
    { maxHops: 1, expected: ["n1"] },
    { maxHops: 3, expected: ["n1", "n3"] },
    { maxHops: 5, expected: ["n1", "n3", "n4", "n5"] },
  ])(
    "of $maxHops hops goes along edges of both directions and through retired memories",
    async ({ maxHops, expected }) => {
      const { engine, id } = await row();

      expect(contents(await engine.neighborhood(id, { maxHops }))).toEqual(expected);
    },
  );

  test("has each memory once and never the first", async () => {
    const { engine, store } = await open();
    const nodes = await put(store, { content: "a" }, { content: "b" }, { content: "c" });
    const [a, b, c] = nodes;
    await connect(store, anEdge(a, b), anEdge(b, c), anEdge(c, a), anEdge(b, a), anEdge(a, a));

    expect(contents(await engine.neighborhood(a?.id ?? "", { maxHops: 5 }))).toEqual(["b", "c"]);
  });

  test("visits at most 1000 memories, the first included", async () => {
    const { engine, store } = await open();
    const [hub, ...spokes] = await put(
      store,
      ...Array.from({ length: 1002 }, (_, index) => ({ content: `n${index}` })),
    );
    await connect(store, ...spokes.map((spoke) => anEdge(hub, spoke)));

    const found = (await engine.neighborhood(hub?.id ?? "", { maxHops: 1 })) ?? [];

    expect(found.map(({ id }) => id)).toEqual(spokes.slice(0, 999).map(({ id }) => id));
  });

  test("of a retired memory is there, of a foreign or unknown one it is not", async () => {
    const { engine, nodes } = await row();
    const retired = nodes[2]?.id ?? "";

    expect(contents(await engine.neighborhood(retired, { userId: "ada", maxHops: 1 }))).toEqual([
      "n1",
      "n3",
    ]);
    expect(await engine.neighborhood(retired, { userId: "bob" })).toBeUndefined();
    expect(await engine.neighborhood(freshId())).toBeUndefined();
  });

  test.each<{ name: string; options: Readonly<Record<string, unknown>>; field: string }>([
    { name: "0 hops", options: { maxHops: 0 }, field: "max_hops" },
    { name: "6 hops", options: { maxHops: 6 }, field: "max_hops" },
    { name: "half a hop", options: { maxHops: 1.5 }, field: "max_hops" },
    { name: "hops as text", options: { maxHops: "2" }, field: "max_hops" },
    { name: "a blank owner", options: { userId: "" }, field: "user_id" },
  ])("is refused for $name", async ({ options, field }) => {
    const { engine, id } = await row();

    // SAFETY: wrong types are what is tested.
    await expectInvalid(engine.neighborhood(id, options as NeighborhoodOptions), { field });
    await expectInvalid(engine.neighborhood("n0"), { field: "node_id" });
  });
});

/** Versions of a memory, each replaced by the next one; all but the last are superseded. */
async function versions(count: number) {
  const opened = await open();
  const nodes = await put(
    opened.store,
    ...Array.from({ length: count }, (_, index) => ({
      content: `v${index}`,
      lifecycleState: index === count - 1 ? ("stable" as const) : ("superseded" as const),
    })),
  );
  await connect(
    opened.store,
    ...nodes.slice(1).map((node, index) => anEdge(node, nodes[index], { edgeType: "supersedes" })),
  );
  return { ...opened, nodes };
}

describe("a chain", () => {
  test("leads forward to what replaced a memory and backward to what it replaced", async () => {
    const { engine, nodes } = await versions(5);
    const middle = nodes[2]?.id ?? "";

    expect(contents(await engine.chain(middle))).toEqual(["v3", "v4"]);
    expect(contents(await engine.chain(middle, { direction: null }))).toEqual(["v3", "v4"]);
    expect(contents(await engine.chain(middle, { direction: "forward" }))).toEqual(["v3", "v4"]);
    expect(contents(await engine.chain(middle, { direction: "backward" }))).toEqual(["v1", "v0"]);
    expect(await engine.chain(nodes[4]?.id ?? "")).toEqual([]);
  });

  test("has at most 100 steps", async () => {
    const { engine, nodes } = await versions(103);

    const forward = contents(await engine.chain(nodes[0]?.id ?? ""));

    expect(forward).toHaveLength(100);
    expect(forward?.at(-1)).toBe("v100");
  });

  test("ends where it meets itself", async () => {
    const { engine, store, nodes } = await versions(3);
    await connect(store, anEdge(nodes[0], nodes[2], { edgeType: "supersedes" }));

    expect(contents(await engine.chain(nodes[1]?.id ?? ""))).toEqual(["v2", "v0"]);
  });

  test("of a foreign or unknown memory is not there", async () => {
    const { engine, nodes } = await versions(2);
    const id = nodes[0]?.id ?? "";

    expect(contents(await engine.chain(id, { userId: "ada" }))).toEqual(["v1"]);
    expect(await engine.chain(id, { userId: "bob" })).toBeUndefined();
    expect(await engine.chain(freshId())).toBeUndefined();
  });

  test.each<{ name: string; options: Readonly<Record<string, unknown>>; field: string }>([
    { name: "another direction", options: { direction: "sideways" }, field: "direction" },
    { name: "no direction", options: { direction: "" }, field: "direction" },
    { name: "a blank owner", options: { userId: " " }, field: "user_id" },
  ])("is refused for $name", async ({ options, field }) => {
    const { engine, nodes } = await versions(2);

    // SAFETY: wrong types are what is tested.
    const call = engine.chain(nodes[0]?.id ?? "", options as ChainOptions);
    await expectInvalid(call, { field });
    await expectInvalid(engine.chain("v0"), { field: "node_id" });
  });
});
