import { describe, expect, test } from "bun:test";
import { asUuid } from "../../../src/lib/uuid.ts";
import { logOf, remember, rememberConditional } from "../../engine/lifecycle/memories.ts";
import { useApps } from "./engine-app.ts";

const { open } = useApps();

test("the actor of an operator's change is api-operator, of a reinforcement the owner", async () => {
  const { ask, engine, store } = await open({ apiKey: "k" });
  const { id } = await rememberConditional(engine);
  for (const route of ["promote", "archive", "reinforce", "condition"]) {
    const body = route === "condition" ? { state: "true" } : undefined;
    await ask(`/v1/nodes/${id}/${route}`, { method: "PUT", body, key: "k" });
  }
  const actors = (await logOf(store, id)).map(({ actorId }) => actorId);
  expect(actors).toEqual(["api-operator", "api-operator", "ada", "api-operator"]);
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
    const { ask, engine, store } = await open();
    const ids: string[] = [];
    for (const text of ["tea", "coffee", "water"]) ids.push((await remember(engine, text)).id);
    const [a = "", b = "", c = ""] = ids;
    const supersede = (old_node_id: string, new_node_id: string, more: object = {}) =>
      ask("/v1/supersedences", { body: { old_node_id, new_node_id, ...more } });
    await supersede(a, b, { actor: " bo " });
    await supersede(b, c);
    const actorsOf = async (id: string) =>
      (await logOf(store, asUuid(id))).map(({ actorId }) => actorId);
    expect([await actorsOf(a), await actorsOf(b)]).toEqual([["bo"], ["api-operator"]]);
    const { status, json } = await supersede(a, b);
    expect(status).toBe(422);
    expect(json["detail"]).toContain('by actor "bo" with no evidence');
  });
});
