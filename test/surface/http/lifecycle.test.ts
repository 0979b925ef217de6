import { describe, expect, test } from "bun:test";
import { type MemoryNode, nodeForm } from "../../../src/domain/node.ts";
import {
  KEY,
  logOf,
  remember,
  rememberConditional,
  reread,
  tell,
} from "../../engine/lifecycle/memories.ts";
import { type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

const idempotent = (key: string) => ({ headers: { "idempotency-key": key } });

/** A change of one memory by its path. */
function put({ ask }: OpenedApp, path: string, asked: Parameters<OpenedApp["ask"]>[1] = {}) {
  return ask(`/v1/nodes/${path}`, { method: "PUT", ...asked });
}

const wire = (node: MemoryNode) => JSON.parse(JSON.stringify(nodeForm.json(node)));

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
  test("archive a second time is 422", async () => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    await put(app, `${id}/archive`);
    const { status, json } = await put(app, `${id}/archive`);
    expect(status).toBe(422);
    expect(json["detail"]).toStartWith(`archive: memory ${id} is archived already`);
  });

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

describe("PUT /v1/nodes/{node_id}/reinforce", () => {
  test.each([
    { name: "none", asked: {} },
    { name: "null", asked: { body: null } },
    { name: "an empty one", asked: { body: {} } },
    { name: "one with null evidence", asked: { body: { evidence_id: null } } },
  ])("takes as body $name", async ({ asked }) => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    const { status, json } = await put(app, `${id}/reinforce`, asked);
    expect([status, json["reinforcement_boost"]]).toEqual([200, 0.15]);
  });

  test("cites evidence", async () => {
    const app = await open();
    const { id, evidenceRefs } = await remember(app.engine, "tea");
    const evidence = await tell(app.engine);
    const { json } = await put(app, `${id}/reinforce`, { body: { evidence_id: evidence } });
    expect(json["evidence_refs"]).toEqual([...evidenceRefs, evidence]);
  });
});

describe("PUT /v1/nodes/{node_id}/condition", () => {
  test("records everything that it is given", async () => {
    const app = await open();
    const { id } = await rememberConditional(app.engine);
    const evidence = await tell(app.engine);
    const { status, json } = await put(app, `${id}/condition`, {
      body: {
        state: "false",
        evidence_id: evidence,
        evaluation_method: "llm",
        reason: " it blows ",
        evaluated_at: "2026-03-01T10:00:00+01:00",
        actor: " bo ",
      },
    });
    expect(status).toBe(200);
    expect(json["metadata"]).toEqual({
      condition: "the wind is below 5",
      condition_state: "false",
      condition_evaluated_at: "2026-03-01T09:00:00.000000Z",
      condition_evaluation_method: "llm",
      condition_evaluated_by: "bo",
      condition_evaluation_reason: "it blows",
      condition_evaluation_evidence_id: evidence,
    });
  });
});

describe("POST of two memories", () => {
  test.each(PAIR_ROUTES)(
    "$path with a used key is a no-op whatever happened since, for other memories 409",
    async ({ path }) => {
      const app = await open();
      const { id: a } = await remember(app.engine, "tea");
      const { id: b } = await remember(app.engine, "coffee");
      const { id: c } = await remember(app.engine, "milk");
      const body = bodyFor(path, a, b);
      if (path.endsWith("resolve")) await app.engine.contradict(a, b);
      expect((await app.ask(path, { body, ...idempotent(KEY) })).status).toBe(200);
      await app.engine.archive(a);
      const count = (await logOf(app.store, a)).length;

      const spelled = `{${KEY.toUpperCase()}}`;
      expect(await app.ask(path, { body, ...idempotent(spelled) })).toEqual({
        status: 200,
        json: {
          nodes: [wire(await reread(app.engine, a)), wire(await reread(app.engine, b))],
          count: 2,
        },
      });
      const others = bodyFor(path, a, c);
      expect(await app.ask(path, { body: others, ...idempotent(KEY) })).toEqual({
        status: 409,
        json: {
          code: "request_conflict",
          detail: `request_id ${KEY} was used before with different inputs; use a new one`,
        },
      });
      expect(await logOf(app.store, a)).toHaveLength(count);
      for (const key of ["", "abc"]) {
        expect(await app.ask(path, { body, ...idempotent(key) })).toMatchObject({
          status: 422,
          json: { detail: `Idempotency-Key: ${JSON.stringify(key)} is not a UUID` },
        });
      }
    },
  );

  test.each(PAIR_ROUTES)("$path takes an actor from an operator only", async ({ path }) => {
    const app = await open({ userKeys: { ada: "key-a" } });
    const { id: a } = await remember(app.engine, "tea");
    const { id: b } = await remember(app.engine, "coffee");
    const body = { ...bodyFor(path, a, b), actor: "bo" };
    expect(await app.ask(path, { body, key: "key-a" })).toEqual({
      status: 422,
      json: { code: "invalid_argument", detail: "actor: is this connection's owner; leave it out" },
    });
  });

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
