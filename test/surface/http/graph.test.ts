import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { put } from "../../contract/samples.ts";
import { anEdge, connect } from "../../engine/inspect/edges.ts";
import { type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

/** What the route of one node says about each of them. */
async function wires({ ask }: OpenedApp, ...nodes: readonly (MemoryNode | undefined)[]) {
  return await Promise.all(
    nodes.map(async (node) => (await ask(`/v1/nodes/${node?.id}`, { key: "key-a" })).json),
  );
}

/** Three memories of ada, each replaced by the next one, and one of bob. */
async function filled(auth = {}) {
  const app = await open(auth);
  const nodes = await put(
    app.store,
    { content: "v0", lifecycleState: "superseded", nodeType: "fact" },
    { content: "v1", lifecycleState: "stable", scope: "project", nodeType: "fact" },
    { content: "v2", lifecycleState: "tentative" },
    { content: "of bob", userId: "bob" },
  );
  const [v0, v1, v2] = nodes;
  await connect(
    app.store,
    anEdge(v1, v0, { edgeType: "supersedes" }),
    anEdge(v2, v1, { edgeType: "supersedes" }),
  );
  return { app, nodes };
}

describe("GET /v1/nodes/scan", () => {
  test("answers with one page and the way to the next", async () => {
    const { app, nodes } = await filled();
    const [, v1, v2] = nodes;

    const first = await app.ask("/v1/nodes/scan?user_id=ada&limit=1");
    expect(first).toEqual({
      status: 200,
      json: {
        nodes: await wires(app, v1),
        count: 1,
        has_more: true,
        next_cursor: v1?.id,
        order: "id",
        consistency: "page",
      },
    });
    expect(Object.keys(first.json)).toEqual([
      "nodes",
      "count",
      "has_more",
      "next_cursor",
      "order",
      "consistency",
    ]);
    const second = await app.ask(
      `/v1/nodes/scan?user_id=ada&limit=1&after_id=${first.json["next_cursor"]}`,
    );
    expect(second.json).toEqual({
      nodes: await wires(app, v2),
      count: 1,
      has_more: false,
      next_cursor: null,
      order: "id",
      consistency: "page",
    });
  });

  test.each([
    { name: "a type", query: "type=fact", expected: ["v1"] },
    { name: "a scope", query: "scope=project", expected: ["v1"] },
    { name: "one state", query: "state=superseded", expected: ["v0"] },
    { name: "several states", query: "state=superseded&state=tentative", expected: ["v0", "v2"] },
    { name: "all at once", query: "state=stable&scope=personal&type=fact", expected: [] },
    { name: "the last of two types", query: "type=note&type=fact", expected: ["v1"] },
  ])("knows $name", async ({ query, expected }) => {
    const { app } = await filled();

    const { status, json } = await app.ask(`/v1/nodes/scan?user_id=ada&${query}`);

    expect(status).toBe(200);
    expect(json).toMatchObject({
      nodes: expected.map((content) => ({ content })),
      count: expected.length,
    });
  });

  test.each([
    { name: "a blank owner", query: "user_id=%20", detail: /^user_id: must be non-blank text$/ },
    { name: "a type", query: "user_id=ada&type=idea", detail: /^type: "idea" is not one of / },
    { name: "a scope", query: "user_id=ada&scope=", detail: /^scope: "" is not one of / },
    {
      name: "a second state",
      query: "user_id=ada&state=stable&state=dead",
      detail: /^state: "dead" is not one of /,
    },
    ...["0", "1001", "1.5", "", "+1", "0x10", "1e2", " 1"].map((limit) => ({
      name: `a limit of ${JSON.stringify(limit)}`,
      query: `user_id=ada&limit=${encodeURIComponent(limit)}`,
      detail: /^limit: ".*" is not an integer from 1 to 1000$/,
    })),
  ])("refuses $name that is wrong with 422", async ({ query, detail }) => {
    const { app } = await filled();

    const { status, json } = await app.ask(`/v1/nodes/scan?${query}`);

    expect(status).toBe(422);
    expect(json).toEqual({ code: "invalid_argument", detail: expect.stringMatching(detail) });
  });

  test("is not taken for a memory of that name, by no method", async () => {
    const { app } = await filled();

    const { status, json } = await app.ask("/v1/nodes/scan", { method: "DELETE" });

    expect({ status, json }).toEqual({
      status: 405,
      json: { code: "method_not_allowed", detail: "Method Not Allowed" },
    });
  });
});

describe("GET /v1/nodes/{node_id}/neighborhood", () => {
  test("answers with the active memories within two hops, or as many as asked", async () => {
    const { app, nodes } = await filled();
    const [v0, v1, v2] = nodes;
    const path = `/v1/nodes/${v0?.id}/neighborhood`;

    expect(await app.ask(path)).toEqual({
      status: 200,
      json: { nodes: await wires(app, v1, v2), count: 2 },
    });
    expect((await app.ask(`${path}?max_hops=1`)).json).toEqual({
      nodes: await wires(app, v1),
      count: 1,
    });
    expect((await app.ask(`/v1/nodes/${v2?.id}/neighborhood?max_hops=5`)).json).toEqual({
      nodes: await wires(app, v1),
      count: 1,
    });
  });
});

describe("GET /v1/nodes/{node_id}/chain", () => {
  test("answers with what replaced a memory, or what it replaced, in any state", async () => {
    const { app, nodes } = await filled();
    const [v0, v1, v2] = nodes;
    const path = (node: MemoryNode | undefined) => `/v1/nodes/${node?.id}/chain`;

    const forward = { nodes: await wires(app, v1, v2), count: 2 };
    expect(await app.ask(path(v0))).toEqual({ status: 200, json: forward });
    expect((await app.ask(`${path(v0)}?direction=forward`)).json).toEqual(forward);
    expect((await app.ask(`${path(v2)}?direction=backward`)).json).toEqual({
      nodes: await wires(app, v1, v0),
      count: 2,
    });
    expect((await app.ask(path(v2))).json).toEqual({ nodes: [], count: 0 });
  });
});
