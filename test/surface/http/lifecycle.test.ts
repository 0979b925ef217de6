import { describe, expect, test } from "bun:test";
import { logOf, remember, rememberConditional } from "../../engine/lifecycle/memories.ts";
import { type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

/** A change of one memory by its path. */
function put({ ask }: OpenedApp, path: string, asked: Parameters<OpenedApp["ask"]>[1] = {}) {
  return ask(`/v1/nodes/${path}`, { method: "PUT", ...asked });
}

/** What each route of one memory takes, and the least body that it needs. */
const NODE_ROUTES = [
  { route: "promote", body: undefined },
  { route: "archive", body: undefined },
  { route: "reinforce", body: undefined },
  { route: "condition", body: { state: "true" } },
] as const;

const PAIR_ROUTES = [
  { path: "/v1/supersedences", first: "old_node_id", second: "new_node_id" },
  { path: "/v1/contradictions", first: "node_a_id", second: "node_b_id" },
  { path: "/v1/contradictions/resolve", first: "winner_id", second: "loser_id" },
] as const;

describe("PUT /v1/nodes/{node_id}/…", () => {
  test("restore brings an archived memory back, and not one that was replaced or forgotten", async () => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    const { id: next } = await remember(app.engine, "coffee");
    await put(app, `${id}/archive`);
    const { status, json } = await put(app, `${id}/restore`, { body: { reason: "asked for" } });
    expect([status, json["lifecycle_state"]]).toEqual([200, "tentative"]);
    expect((await put(app, `${id}/restore`)).status).toBe(422);
    expect((await put(app, `${id}/restore`, { body: { reason: " " } })).status).toBe(422);

    await app.engine.supersede(id, next);
    expect(await put(app, `${id}/restore`)).toEqual({
      status: 409,
      json: { code: "memory_replaced", detail: expect.stringContaining(next) },
    });
    const ids = { userId: "ada", ids: [next] };
    const { confirm } = await app.engine.forget(ids);
    await app.engine.forget({ ...ids, mode: "erase", confirm });
    const gone = await put(app, `${next}/restore`);
    expect(gone.status).toBe(404);
  });

  test("the actor of an operator's change is api-operator, of a reinforcement the owner", async () => {
    const app = await open({ apiKey: "k" });
    const { id } = await rememberConditional(app.engine);
    for (const { route, body } of NODE_ROUTES) {
      await put(app, `${id}/${route}`, { body, key: "k" });
    }
    expect((await logOf(app.store, id)).map(({ actorId }) => actorId)).toEqual([
      "api-operator",
      "api-operator",
      "ada",
      "api-operator",
    ]);
  });
});

test("PATCH replaces a memory and keeps its scope and type; DELETE erases only with the confirm of a preview", async () => {
  const app = await open();
  const of = { userId: "ada", nodeType: "task", scope: "project", speaker: "Ada" } as const;
  const { nodeId: old } = await app.engine.storeWithReceipt({ ...of, content: "Call Dr. Li." });
  const at = `/v1/nodes/${old}`;

  const foreign = await app.ask(`${at}?user_id=bob`, { method: "DELETE" });
  const changed = await app.ask(at, { method: "PATCH", body: { content: "Call Dr. Moor." } });
  const next = String(changed.json["node_id"]);
  const refused = await app.ask(`/v1/nodes/${next}`, { method: "DELETE" });
  const kept = await app.engine.getNode(next);
  const confirm = /confirm=(\w+)/.exec(String(refused.json["detail"]))?.[1];
  const erased = await app.ask(`/v1/nodes/${next}?confirm=${confirm}`, { method: "DELETE" });

  expect(foreign.status).toBe(404);
  expect(kept).toMatchObject({ nodeType: "task", scope: "project", content: "Call Dr. Moor." });
  expect(refused.status).toBe(422);
  expect(erased).toMatchObject({ status: 200, json: { mode: "erase", memories: [{ id: next }] } });
  expect(await app.engine.getNode(next)).toBeUndefined();
  const replaced = await app.engine.getNode(old, { includeSuperseded: true });
  expect(replaced).toMatchObject({ lifecycleState: "superseded" });
  expect(await app.ask(at, { method: "PUT" })).toMatchObject({
    status: 405,
    json: { detail: expect.stringContaining("PATCH") },
  });
});

test("everything of one owner is forgotten at once, and nothing of another", async () => {
  const { ask, engine, store } = await open();
  const items = Array.from({ length: 1001 }, (_, at) => ({ content: `kayak ${at}` }));
  await engine.storeMany({ userId: "ada", items: items.slice(1) });
  await engine.store({ userId: "ada", content: "kayak 0" });
  await engine.store({ userId: "bob", content: "kayak of Bob" });
  await engine.retrieve({ userId: "ada", query: "zebra crossing" });
  const of = { user_id: "ada", everything: true };
  const forget = (more: object) => ask("/v1/forget", { body: { ...of, ...more } });

  const beside = await forget({ containing: "kayak" });
  const preview = await forget({});
  const erased = await forget({ mode: "erase", confirm: preview.json["confirm"] });

  expect(beside.status).toBe(422);
  expect(preview.json["events"]).toHaveLength(1001);
  expect(erased.status).toBe(200);
  expect(await engine.stats("ada")).toMatchObject({ nodeCount: 0 });
  expect((await engine.retrieve({ userId: "ada", query: "kayak" })).results).toEqual([]);
  expect((await engine.listRetrievals({ userId: "ada" })).retrievals).toHaveLength(1);
  expect(await store.countEvents("bob")).toBe(1);
});

describe("POST of two memories", () => {
  test("an operator's actor is recorded, else api-operator; other inputs later are 422", async () => {
    const app = await open();
    const { id: a } = await remember(app.engine, "tea");
    const { id: b } = await remember(app.engine, "coffee");
    const { id: c } = await remember(app.engine, "water");
    const path = "/v1/supersedences";
    await app.ask(path, { body: { ...bodyFor(path, a, b), actor: " bo " } });
    await app.ask(path, { body: bodyFor(path, b, c) });
    expect((await logOf(app.store, a)).map(({ actorId }) => actorId)).toEqual(["bo"]);
    expect((await logOf(app.store, b)).map(({ actorId }) => actorId)).toEqual(["api-operator"]);
    const { status, json } = await app.ask(path, { body: bodyFor(path, a, b) });
    expect(status).toBe(422);
    expect(json["detail"]).toContain('by actor "bo" with no evidence');
  });
});

function bodyFor(path: string, firstId: string, secondId: string) {
  const route = PAIR_ROUTES.find((known) => known.path === path);
  if (route === undefined) throw new Error(`no such route: ${path}`);
  return { [route.first]: firstId, [route.second]: secondId };
}
