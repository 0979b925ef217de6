import { describe, expect, test } from "bun:test";
import { type MemoryNode, nodeForm } from "../../../src/domain/node.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import {
  KEY,
  logOf,
  NOBODY,
  remember,
  rememberConditional,
  reread,
  tell,
} from "../../engine/lifecycle/memories.ts";
import { KEYS, type OpenedApp, useApps } from "./engine-app.ts";

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
  test.each([
    { route: "promote", body: undefined, after: { lifecycle_state: "stable" } },
    { route: "archive", body: undefined, after: { lifecycle_state: "archived" } },
    { route: "reinforce", body: undefined, after: { reinforcement_boost: 0.15, salience: 0.65 } },
    { route: "condition", body: { state: "true" }, after: { lifecycle_state: "tentative" } },
  ])("$route answers with the changed memory", async ({ route, body, after }) => {
    const app = await open();
    const { id } = await rememberConditional(app.engine);
    const { status, json } = await put(app, `${id}/${route}`, { body });
    expect(status).toBe(200);
    expect(json).toMatchObject(after);
    expect(schemaOf(nodeForm).safeParse(json).success).toBe(true);
    expect(json).toEqual(wire(await reread(app.engine, id)));
  });

  test.each(NODE_ROUTES)("$route of an unknown memory is 404", async ({ route, body }) => {
    const app = await open();
    const spelled = NOBODY.replaceAll("-", "").toUpperCase();
    for (const asked of [{ body }, { body, ...idempotent(KEY) }]) {
      expect(await put(app, `${spelled}/${route}`, asked)).toEqual({
        status: 404,
        json: { code: "not_found", detail: `Node '${NOBODY}' not found` },
      });
    }
  });

  test.each(NODE_ROUTES)("$route of a foreign memory is 404, of one's own 200", async (given) => {
    const { route, body } = given;
    const app = await open(KEYS);
    const { id } = await rememberConditional(app.engine);
    expect(await put(app, `${id}/${route}`, { body, key: "key-b" })).toEqual({
      status: 404,
      json: { code: "not_found", detail: `Node '${id}' not found` },
    });
    expect((await reread(app.engine, id)).lifecycleState).toBe("tentative");
    expect(await logOf(app.store, id)).toEqual([]);
    expect((await put(app, `${id}/${route}`, { body, key: "key-a" })).status).toBe(200);
    expect((await logOf(app.store, id)).map(({ actorId }) => actorId)).toEqual(["ada"]);
  });

  test.each(NODE_ROUTES)("$route without a key is 401", async ({ route, body }) => {
    const app = await open(KEYS);
    expect(await put(app, `${NOBODY}/${route}`, { body })).toEqual({
      status: 401,
      json: { code: "unauthenticated", detail: "Invalid or missing API key" },
    });
  });

  test.each(NODE_ROUTES)("$route names what is no UUID", async ({ route, body }) => {
    const app = await open();
    expect(await put(app, `x/${route}`, { body })).toEqual({
      status: 422,
      json: { code: "invalid_argument", detail: 'node_id: "x" is not a UUID' },
    });
    for (const key of ["", "abc"]) {
      expect(await put(app, `${NOBODY}/${route}`, { body, ...idempotent(key) })).toEqual({
        status: 422,
        json: {
          code: "invalid_argument",
          detail: `Idempotency-Key: ${JSON.stringify(key)} is not a UUID`,
        },
      });
    }
  });

  test.each(NODE_ROUTES)(
    "$route with a used key is a no-op, for another memory 409",
    async (of) => {
      const { route, body } = of;
      const app = await open();
      const { id } = await rememberConditional(app.engine);
      const { id: other } = await rememberConditional(app.engine);
      const first = await put(app, `${id}/${route}`, { body, ...idempotent(KEY) });
      const spelled = `{${KEY.toUpperCase()}}`;
      expect(await put(app, `${id}/${route}`, { body, ...idempotent(spelled) })).toEqual(first);
      expect(await put(app, `${other}/${route}`, { body, ...idempotent(KEY) })).toEqual({
        status: 409,
        json: {
          code: "request_conflict",
          detail: `request_id ${KEY} was used before with different inputs; use a new one`,
        },
      });
      expect(await logOf(app.store, id)).toHaveLength(1);
      expect(await logOf(app.store, other)).toHaveLength(0);
    },
  );

  test("promote of a contested memory is 422 and names the states", async () => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    const { id: other } = await remember(app.engine, "coffee");
    await app.engine.contradict(id, other);
    expect(await put(app, `${id}/promote`)).toEqual({
      status: 422,
      json: {
        code: "invalid_transition",
        detail: `promote: memory ${id} is contested; only a tentative memory can become stable`,
      },
    });
  });

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

  test("is 404 for missing or foreign evidence, 422 for that of another scope", async () => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    const foreign = await tell(app.engine, { userId: "bob" });
    for (const evidence of [NOBODY, foreign]) {
      expect(await put(app, `${id}/reinforce`, { body: { evidence_id: evidence } })).toEqual({
        status: 404,
        json: { code: "not_found", detail: `Event '${evidence}' not found` },
      });
    }
    const project = await tell(app.engine, { scope: "project" });
    const { status, json } = await put(app, `${id}/reinforce`, { body: { evidence_id: project } });
    expect(status).toBe(422);
    expect(json["detail"]).toStartWith(`evidence_id: event ${project} is of scope project, `);
  });

  test.each([
    {
      name: "an unknown key",
      body: { colour: 1 },
      detail: "colour: is not a known key; the known keys are evidence_id",
    },
    {
      name: "an actor",
      body: { actor: "bo" },
      detail: "actor: is not a known key; the known keys are evidence_id",
    },
    { name: "no UUID", body: { evidence_id: "x" }, detail: 'evidence_id: "x" is not a UUID' },
    { name: "a list", body: [], detail: "body: [] is not an object" },
  ])("with $name is 422", async ({ body, detail }) => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    const answer = await put(app, `${id}/reinforce`, { body });
    expect(answer).toEqual({ status: 422, json: { code: "invalid_argument", detail } });
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

  test.each([
    {
      name: "no state",
      body: {},
      detail: "state: is required: one of unknown, true, false, expired",
    },
    {
      name: "a truth value for text",
      body: { state: true },
      detail: "state: true is not one of unknown, true, false, expired",
    },
    {
      name: "an unknown method",
      body: { state: "true", evaluation_method: "guess" },
      detail: 'evaluation_method: "guess" is not one of user, tool, rule, llm',
    },
    { name: "a blank reason", body: { state: "true", reason: " " }, detail: "reason: is blank" },
    {
      name: "a long reason",
      body: { state: "true", reason: "é".repeat(4001) },
      detail: "reason: has 4001 characters; at most 4000 are allowed",
    },
    {
      name: "half a character",
      body: { state: "true", reason: "\ud800" },
      detail: "reason: holds a lone surrogate, which is not a character",
    },
    {
      name: "a time without offset",
      body: { state: "true", evaluated_at: "2026-03-01T10:00:00" },
      detail:
        'evaluated_at: "2026-03-01T10:00:00" has no time zone; write for example 2026-03-01T10:00:00Z',
    },
    { name: "a blank actor", body: { state: "true", actor: " " }, detail: "actor: is blank" },
    {
      name: "an owner",
      body: { state: "true", user_id: "a" },
      detail: "user_id: is not a known key",
    },
    {
      name: "unknown evidence",
      body: { state: "true", evidence_id: NOBODY },
      detail: `evidence_id: there is no event ${NOBODY} of the owner of memory `,
    },
  ])("with $name is 422", async ({ body, detail }) => {
    const app = await open();
    const before = await rememberConditional(app.engine);
    const { status, json } = await put(app, `${before.id}/condition`, { body });
    expect(status).toBe(422);
    expect(json["detail"]).toStartWith(detail);
    expect(await reread(app.engine, before.id)).toEqual(before);
  });

  test("of a memory without a condition is 422", async () => {
    const app = await open();
    const { id } = await remember(app.engine, "tea");
    expect(await put(app, `${id}/condition`, { body: { state: "true" } })).toEqual({
      status: 422,
      json: {
        code: "invalid_argument",
        detail: `node_id: memory ${id} is asserted; only conditional ones are evaluated`,
      },
    });
  });

  test("needs a body", async () => {
    const app = await open();
    expect((await put(app, `${NOBODY}/condition`)).status).toBe(422);
    expect((await put(app, `${NOBODY}/condition`, { body: null })).status).toBe(422);
  });
});

describe("POST of two memories", () => {
  test.each([
    { path: "/v1/supersedences", prepared: false, states: ["superseded", "tentative"] },
    { path: "/v1/contradictions", prepared: false, states: ["contested", "contested"] },
    { path: "/v1/contradictions/resolve", prepared: true, states: ["stable", "deprecated"] },
  ])("$path answers with both, in the order given", async ({ path, prepared, states }) => {
    const app = await open();
    const { id: a } = await remember(app.engine, "tea");
    const { id: b } = await remember(app.engine, "coffee");
    if (prepared) await app.engine.contradict(a, b);
    const body = bodyFor(path, a, b);
    const { status, json } = await app.ask(path, { body });
    expect(status).toBe(200);
    expect(json).toEqual({
      nodes: [wire(await reread(app.engine, a)), wire(await reread(app.engine, b))],
      count: 2,
    });
    expect(json["nodes"]).toMatchObject(states.map((state) => ({ lifecycle_state: state })));
    expect(await app.ask(path, { body })).toEqual({ status, json });
  });

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

  test.each(PAIR_ROUTES)("$path looks up the first, then the second, then both", async (route) => {
    const { path, second, first } = route;
    const app = await open();
    const { id: known } = await remember(app.engine, "tea");
    const other = "00000000-0000-4000-8000-00000000beef";
    const detailOf = async (...ids: readonly [string, string]) => {
      const { status, json } = await app.ask(path, { body: bodyFor(path, ...ids) });
      return [status, json["detail"]];
    };
    expect(await detailOf(NOBODY, other)).toEqual([404, `Node '${NOBODY}' not found`]);
    expect(await detailOf(known, NOBODY)).toEqual([404, `Node '${NOBODY}' not found`]);
    expect(await detailOf(NOBODY, NOBODY)).toEqual([404, `Node '${NOBODY}' not found`]);
    expect(await detailOf(known, known)).toEqual([
      422,
      `${second}: names the same memory as ${first}`,
    ]);
    expect(await detailOf("x", NOBODY)).toEqual([422, `${first}: "x" is not a UUID`]);
    expect(await detailOf(NOBODY, "x")).toEqual([422, `${second}: "x" is not a UUID`]);
  });

  test.each(PAIR_ROUTES)(
    "$path refuses another owner and another scope with 422",
    async (route) => {
      const { path, second } = route;
      const app = await open();
      const { id } = await remember(app.engine, "tea");
      const { id: bobs } = await remember(app.engine, "tea", { userId: "bob" });
      const { id: project } = await remember(app.engine, "tea", { scope: "project" });
      for (const other of [bobs, project]) {
        const { status, json } = await app.ask(path, { body: bodyFor(path, id, other) });
        expect(status).toBe(422);
        expect(json["detail"]).toStartWith(`${second}: memory ${other} `);
      }
      const evidence = { ...bodyFor(path, id, project), evidence_id: NOBODY };
      const { status, json } = await app.ask(path, { body: evidence });
      expect([status, json["detail"]]).toEqual([
        422,
        `evidence_id: there is no event ${NOBODY} of the owner of memory ${id}`,
      ]);
    },
  );

  test.each(PAIR_ROUTES)("$path of a foreign memory is 404", async ({ path }) => {
    const app = await open(KEYS);
    const { id: a } = await remember(app.engine, "tea");
    const { id: b } = await remember(app.engine, "tea", { userId: "bob" });
    const body = bodyFor(path, a, b);
    expect(await app.ask(path, { body, key: "key-b" })).toEqual({
      status: 404,
      json: { code: "not_found", detail: `Node '${a}' not found` },
    });
    expect(await app.ask(path, { body, key: "key-a" })).toEqual({
      status: 404,
      json: { code: "not_found", detail: `Node '${b}' not found` },
    });
    expect((await app.ask(path, { body })).status).toBe(401);
  });

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

  test.each(PAIR_ROUTES)("$path refuses unknown keys and missing ones", async ({ path, first }) => {
    const app = await open();
    const body = { ...bodyFor(path, NOBODY, NOBODY), reason: "x" };
    expect((await app.ask(path, { body })).json).toEqual({
      code: "invalid_argument",
      detail: expect.stringMatching(/^reason: is not a known key; the known keys are /),
    });
    const { status, json } = await app.ask(path, { body: {} });
    expect(status).toBe(422);
    expect(json["detail"]).toStartWith(`${first}: is required; `);
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

  test("a resolution of what is not contested is 422", async () => {
    const app = await open();
    const { id: a } = await remember(app.engine, "tea");
    const { id: b } = await remember(app.engine, "coffee");
    const path = "/v1/contradictions/resolve";
    expect(await app.ask(path, { body: bodyFor(path, a, b) })).toEqual({
      status: 422,
      json: {
        code: "invalid_transition",
        detail: `resolve: memory ${a} is tentative; only a contested memory can become stable`,
      },
    });
  });
});

function bodyFor(path: string, firstId: string, secondId: string) {
  const route = PAIR_ROUTES.find((known) => known.path === path);
  if (route === undefined) throw new Error(`no such route: ${path}`);
  return { [route.first]: firstId, [route.second]: secondId };
}
