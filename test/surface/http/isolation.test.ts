/** What the key of one owner reaches of another's memories, on every route that there is. Real engine, real pack. */
import { expect, test } from "bun:test";
import { noUse, remembering } from "../../../src/adapters/embedding/remember.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import type { HttpBinding } from "../../../src/surface/contract/core/operation.ts";
import { OPERATIONS } from "../../../src/surface/contract/core/operations.ts";
import { anAdmission, anEvent } from "../../contract/samples.ts";
import { wordEmbedder } from "../../engine/engines.ts";
import { type Answer, appOf, KEYS, type OpenedApp, useApps } from "./engine-app.ts";

const { open } = useApps();

/** A word of ada's that must reach nobody else. */
const PRIVATE = "Zx9private";
const PICTURE = "frames/of-ada.jpg";

/** What ada has. */
type Belongings = {
  readonly node: string;
  readonly other: string;
  readonly event: string;
  readonly receipt: string;
  readonly citation: string;
};

const CITATION = "01900000-0000-7000-8000-00000000c17a";

async function belongingsOf(ask: OpenedApp["ask"], store: OpenedApp["store"]): Promise<Belongings> {
  const timestamp = asInstant("2026-03-18T12:00:00.000000Z");
  const seen = anEvent({ userId: "ada", content: `${PRIVATE}: a picture`, timestamp });
  const bytes = new TextEncoder().encode(PRIVATE);
  const picture = { key: PICTURE, mediaType: "image/jpeg", bytes, event: seen.id };
  await store.admit(anAdmission([seen], { blobs: [picture] }));
  const asAda = async (path: string, body: unknown): Promise<Answer["json"]> => {
    const { status, json } = await ask(path, { body, key: "key-a" });
    expect([path, status]).toEqual([path, 200]);
    return json;
  };
  const assertion = (object: string) => ({
    subject: "Ada",
    predicate: "drinks",
    object,
    polarity: "positive",
  });
  const stored = await asAda("/v1/store", {
    content: `${PRIVATE}: Ada drinks 5 cups of tea`,
    session_id: PRIVATE,
    node_type: "fact",
    metadata: { assertion: assertion("tea") },
  });
  const other = await asAda("/v1/store", {
    content: `${PRIVATE}: Ada drinks coffee`,
    node_type: "fact",
    metadata: { assertion: assertion("coffee") },
  });
  const found = await asAda("/v1/retrieve", { query: "Ada tea" });
  const receipt = textAt(found["metrics"], "request_id");
  const cited = {
    citation_id: CITATION,
    request_id: receipt,
    answer_id: PRIVATE,
    cited_node_ids: [textAt(stored, "node_id")],
    answer_sha256: "0".repeat(64),
    method: "model_reported",
  };
  await asAda("/v1/answer-citations", cited);
  await asAda("/v1/ingest/fast", { items: [{ content: `${PRIVATE}: Ada waits` }] });
  return {
    node: textAt(stored, "node_id"),
    other: textAt(other, "node_id"),
    event: textAt(stored, "event_id"),
    receipt,
    citation: CITATION,
  };
}

function textAt(value: unknown, name: string): string {
  const text: unknown = Reflect.get(Object(value), name);
  expect(text).toBeString();
  return String(text);
}

/** A complete body of each route that takes one, about what ada has. */
function bodiesFor({ node, other, event, receipt }: Belongings): Readonly<Record<string, object>> {
  const moment = "2026-03-18T12:00:00Z";
  return {
    store: { content: "x" },
    ingest: { content: "x" },
    ingest_fast: { items: [{ content: "x" }] },
    process_materializations: { budget_ms: 1000 },
    forget: { ids: [node] },
    organize: { budget_ms: 1000 },
    process_extractions: { limit: 1 },
    retrieve: { query: "Ada tea", retrieval_mode: "explicit" },
    record_answer_citations: {
      citation_id: "01900000-0000-7000-8000-00000000b0b0",
      request_id: receipt,
      answer_id: "1",
      cited_node_ids: [node],
      answer_sha256: "0".repeat(64),
      method: "model_reported",
    },
    aggregate_assertions: { query: {} },
    assertion_state: {
      query: { subject: "Ada", predicate: "drinks", scope: "personal", valid_at: moment },
    },
    aggregate_quantities: { query: {} },
    aggregate_quantities_from_text: { question: "How much tea did I drink?" },
    get_nodes: { node_ids: [node, other] },
    pin_node: { pinned: true },
    restore_node: { reason: "wanted" },
    reinforce_node: { evidence_id: event },
    evaluate_condition: { state: "true" },
    supersede_node: { old_node_id: node, new_node_id: other },
    contradict_nodes: { node_a_id: node, node_b_id: other },
    resolve_contradiction: { winner_id: node, loser_id: other },
  };
}

/** Routes that only operators may call. */
const OPERATORS_ONLY: ReadonlySet<string> = new Set(["list_owners", "examine"]);

const ROUTES = OPERATIONS.flatMap(({ name, http }) =>
  http === undefined || http.isPublic === true ? [] : [{ name, http }],
);

function pathOf({ path }: HttpBinding, has: Belongings): string {
  const ids: Readonly<Record<string, string>> = {
    node_id: has.node,
    event_id: has.event,
    request_id: has.receipt,
    citation_id: has.citation,
    proposal_operation_id: has.node,
    forget_id: has.node,
    blob_key: encodeURIComponent(PICTURE),
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    expect(ids).toHaveProperty(name);
    return ids[name] ?? "";
  });
}

/** Everything of ada's, as far as it can be read. */
async function snapshotOf(ask: OpenedApp["ask"], has: Belongings): Promise<string> {
  const paths = [
    "/v1/nodes/scan?limit=1000",
    `/v1/nodes/${has.node}/provenance`,
    `/v1/nodes/${has.other}/provenance`,
    "/v1/answer-citations",
    "/v1/stats",
  ];
  const answers = await Promise.all(paths.map((path) => ask(path, { key: "key-a" })));
  // It tells an owner that the pack has changed, and nothing of the change.
  return JSON.stringify(answers).replace(/"change_sequence":"[^"]*"/, "");
}

test("a key of another owner reads nothing and changes nothing, on any route", async () => {
  const { ask, store } = await open(KEYS);
  const has = await belongingsOf(ask, store);
  const bodies = bodiesFor(has);
  const before = await snapshotOf(ask, has);
  expect(before).toContain(PRIVATE);
  for (const { name, http } of ROUTES) {
    const asked = { key: "key-b", method: http.method.toUpperCase() };
    const body = http.request.body === undefined ? undefined : bodies[name];
    if (http.request.body !== undefined) expect(bodies).toHaveProperty(name);
    const { status, json } = await ask(pathOf(http, has), { ...asked, body });
    expect(`${name}: ${JSON.stringify(json)}`).not.toContain(PRIVATE);
    const isAboutOne = /\{/.test(http.path) || JSON.stringify(body ?? {}).includes(has.node);
    // A batch names what is missing.
    const isRefused = isAboutOne && name !== "get_nodes";
    const expected = OPERATORS_ONLY.has(name) ? 403 : isRefused ? 404 : 200;
    expect([name, status]).toEqual([name, expected]);
  }
  expect(await snapshotOf(ask, has)).toBe(before);
});

test("what a key erases tells nothing of what others hold, whether a guess is right or not", async () => {
  const { ask, store } = await open(KEYS);
  const has = await belongingsOf(ask, store);
  const asBob = async (path: string, body?: unknown): Promise<Answer["json"]> => {
    const { status, json } = await ask(path, { body, key: "key-b" });
    expect([path, status]).toEqual([path, 200]);
    return json;
  };
  const told: unknown[] = [];
  for (const guess of [PRIVATE, "Zx9privacy", "zx9private", "zx9privacy", "Ada tea", "Ada tee"]) {
    const ids = [textAt(await asBob("/v1/store", { content: guess }), "node_id")];
    const confirm = textAt(await asBob("/v1/forget", { ids }), "confirm");
    const answer = await asBob("/v1/forget", { ids, mode: "erase", confirm });
    const known = await asBob(`/v1/forget/${textAt(answer, "forget_id")}`);
    for (const id of Object.values(has)) expect(JSON.stringify([answer, known])).not.toContain(id);
    const receipt = Object(answer["receipt"]);
    told.push([answer["stage"], answer["counts"], receipt.scan, known["counts"]]);
  }
  expect(told).toEqual(told.map(() => told[0]));
});

test("an owner's numbers tell nothing of what others have", async () => {
  const use = noUse();
  const words = wordEmbedder();
  const { embed } = remembering(
    (text) => words.embedDocument(text),
    () => false,
    use,
  );
  const embedder = { ...words, embedDocument: embed, use: () => ({ ...use }) };
  const { ask } = await open(KEYS, { embedder });
  await ask("/v1/store", { key: "key-a", body: { content: PRIVATE } });
  const risen: number[] = [];
  for (const content of [PRIVATE, `${PRIVATE}!`]) {
    const before = use.computed;
    await ask("/v1/store", { key: "key-b", body: { content } });
    risen.push(use.computed - before);
    const { json } = await ask("/v1/stats", { key: "key-b" });
    expect(json).toMatchObject({ details: { embeddings: null, bytes: null } });
  }
  expect(risen).toEqual([1, 1]);
});

test("naming another owner is 403 wherever an owner can be named", async () => {
  const { ask, store } = await open(KEYS);
  const has = await belongingsOf(ask, store);
  const bodies = bodiesFor(has);
  const before = await snapshotOf(ask, has);
  const named: string[] = [];
  for (const { name, http } of ROUTES) {
    const asked = { key: "key-b", method: http.method.toUpperCase() };
    for (const owner of ["ada", "", "Bob"]) {
      if (http.request.query?.shape["user_id"] !== undefined) {
        const body = http.request.body && bodies[name];
        const { status } = await ask(`${pathOf(http, has)}?user_id=${owner}`, { ...asked, body });
        expect([name, owner, status]).toEqual([name, owner, 403]);
        named.push(name);
      }
      if (http.request.body?.shape["user_id"] !== undefined) {
        const body = { ...bodies[name], user_id: owner };
        const { status } = await ask(pathOf(http, has), { ...asked, body });
        expect([name, owner, status]).toEqual([name, owner, 403]);
        named.push(name);
      }
    }
  }
  expect(new Set(named).size).toBeGreaterThan(10);
  expect(await snapshotOf(ask, has)).toBe(before);
});

test("an operator who names another owner than that of an id reads nothing and changes nothing", async () => {
  const { ask, store, engine } = await open(KEYS);
  const has = await belongingsOf(ask, store);
  const before = await snapshotOf(ask, has);
  const { ask: operator } = appOf(engine);
  const named: string[] = [];
  for (const { name, http } of ROUTES.filter(({ http: route }) => route.takesOwner)) {
    const body = http.request.body && bodiesFor(has)[name];
    const asked = { method: http.method.toUpperCase(), body };
    const { status } = await operator(`${pathOf(http, has)}?user_id=bob`, asked);
    expect([name, status]).toEqual([name, 404]);
    named.push(name);
  }
  expect(named.length).toBeGreaterThan(15);
  expect(await snapshotOf(ask, has)).toBe(before);
  for (const query of ["", "?user_id=ada"]) {
    expect((await operator(`/v1/nodes/${has.node}${query}`)).status).toBe(200);
  }
});

test("a query parameter that a route does not take is 422 and changes nothing", async () => {
  const { ask, store } = await open(KEYS);
  const has = await belongingsOf(ask, store);
  const before = await snapshotOf(ask, has);
  for (const { name, http } of ROUTES) {
    const body = http.request.body && bodiesFor(has)[name];
    const asked = { method: http.method.toUpperCase(), key: "key-a", body };
    const { status, json } = await ask(`${pathOf(http, has)}?userid=ada`, asked);
    const known = Object.keys(http.request.query?.shape ?? {});
    expect([name, status]).toEqual([name, 422]);
    expect(json["detail"]).toStartWith("userid: is not a known query parameter; ");
    for (const parameter of known) expect(json["detail"]).toContain(parameter);
  }
  expect(await snapshotOf(ask, has)).toBe(before);
});

test("without a key every route is 401, and with a server without keys none is", async () => {
  const keyed = await open(KEYS);
  const has = await belongingsOf(keyed.ask, keyed.store);
  const free = await open();
  for (const { name, http } of ROUTES) {
    const asked = { method: http.method.toUpperCase() };
    for (const key of [undefined, "key-c", "ada", ""]) {
      const { status } = await keyed.ask(pathOf(http, has), { ...asked, ...(key && { key }) });
      expect([name, status]).toEqual([name, 401]);
    }
    const { status } = await free.ask(pathOf(http, has), asked);
    // Only the program itself examines its pack.
    expect(name === "examine" ? [409] : [200, 404, 422]).toContain(status);
  }
});
