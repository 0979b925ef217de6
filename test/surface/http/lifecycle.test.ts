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
