/**
 * Every operation, over HTTP and as a tool, on real engines and packs: one meaningful call, its repetition under a request id, and
 * what is refused. The calls are in calls.ts; all else follows from the table of operations.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { z } from "zod";
import type { HttpBinding } from "../../../src/surface/contract/core/operation.ts";
import { OPERATIONS } from "../../../src/surface/contract/core/operations.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import { testClock } from "../../engine/engines.ts";
import { appOf, KEYS } from "../http/engine-app.ts";
import { type Caller, useTools } from "../mcp/served-tools.ts";
import { CALLS, type Call, FILE, type Json, REQUEST } from "./calls.ts";
import { ADA, BOB, settle, type World } from "./world.ts";

setDefaultTimeout(120_000);

const { open } = useTools();

const NOBODY = "00000000-0000-4000-8000-00000000dead";
const RETRY = "Idempotency-Key";

const callOf = (name: string): Call => {
  const call = CALLS[name];
  if (call === undefined) throw new Error(`calls.ts has no call of ${name}`);
  return call;
};
const ROUTES = OPERATIONS.flatMap(({ name, http }) =>
  http === undefined || http.isPublic === true ? [] : [{ name, http, call: callOf(name) }],
);
const TOOLS = OPERATIONS.flatMap(({ name, mcp }) => {
  const call = mcp && callOf(name);
  return mcp === undefined || call?.tool === undefined
    ? []
    : [{ name, mcp, call, given: call.tool.given ?? call.given, told: call.tool.told }];
});

type Route = (typeof ROUTES)[number];
type Answer = { readonly status: number; readonly json: Json };
type App = ReturnType<typeof appOf>["app"];
type Sent = {
  readonly key?: string;
  readonly query?: string;
  readonly retry?: string;
};

/** Sends the members of a request where its route has them. */
async function send(app: App, http: HttpBinding, given: unknown, sent: Sent = {}): Promise<Answer> {
  const { key, query = "", retry } = sent;
  const rest: Record<string, unknown> = { ...Object(given) };
  const path = http.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest[name]);
    delete rest[name];
    return encodeURIComponent(value);
  });
  const hasBody = http.request.body !== undefined;
  const pairs = hasBody ? [] : Object.entries(rest);
  const search = [
    new URLSearchParams(
      pairs.map(([name, value]): [string, string] => [name, String(value)]),
    ).toString(),
    query,
  ].filter((part) => part !== "");
  const answer = await app.request(`${path}${search.length > 0 ? "?" : ""}${search.join("&")}`, {
    method: http.method.toUpperCase(),
    headers: {
      ...(hasBody && { "content-type": "application/json" }),
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(retry !== undefined && { [RETRY]: retry }),
    },
    ...(http.takesFile && { body: FILE }),
    ...(hasBody && { body: JSON.stringify(Array.isArray(given) ? given : rest) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json");
  return { status: answer.status, json: isJson ? JSON.parse(text) : text };
}

async function openWorld() {
  const served = await open({ clock: testClock() });
  const world = await settle(served);
  return { served, world, app: appOf(served.engine, KEYS).app };
}

/** The worlds of two owners, and that neither changes. */
async function openTwo() {
  const opened = await openWorld();
  const bobs = await settle(opened.served, BOB);
  const { engine } = opened.served;
  for (const { userId } of [ADA, BOB]) await engine.processPending({ userId });
  const look = () =>
    Promise.all(
      [ADA, BOB].map(async ({ userId }) => [
        await engine.storeCounts(userId),
        await engine.scanNodes({ userId, lifecycleStates: STATES, limit: 1000 }),
        await engine.listAnswerCitations({ userId, limit: 1000 }),
      ]),
    );
  const before = await look();
  const expectUnchanged = async () => expect(await look()).toEqual(before);
  return { ...opened, bobs, expectUnchanged };
}
const STATES = [
  "tentative",
  "stable",
  "contested",
  "superseded",
  "deprecated",
  "archived",
] as const;

/** Routes that only operators may call. */
const OPERATORS_ONLY: ReadonlySet<string> = new Set(["list_owners", "examine"]);
/** A batch names what is missing; what is recorded has the id that its caller gives it. */
const NO_ID_IS_MISSING: ReadonlySet<string> = new Set(["get_nodes.node_ids"]);
const CHOSEN: ReadonlySet<string> = new Set(
  ["citation_id", "answer_id"].map((id) => `record_answer_citations.${id}`),
);

/** Members that name something by its id, and `evidence_id` where it may be given. */
function idsIn(name: string, given: Json, members: readonly string[]): readonly string[] {
  const isId = (member: string): boolean => /_ids?$|^ids$|_key$/.test(member);
  const optional = members.filter((member) => member === "evidence_id");
  return [...Object.keys(given).filter(isId), ...optional].filter(
    (member) => !CHOSEN.has(`${name}.${member}`),
  );
}
/** The same form of a value with an id that nobody has. */
function nobodys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((_, place) => `${NOBODY.slice(0, -1)}${place}`);
  return String(value).includes("/") ? "frames/nobody.jpg" : NOBODY;
}
/** An answer with each id replaced. */
const withoutIds = (answer: unknown): string =>
  JSON.stringify(answer).replaceAll(
    /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|frames\/[\w-]+\.jpg/g,
    "<id>",
  );

/** The members of a body, or of a query. */
const membersOf = ({ request }: HttpBinding) => request.body?.shape ?? request.query?.shape ?? {};
const jsonSchemaOf = (schema: z.ZodType): Json =>
  z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;

test("every operation has a call, and no other", () => {
  const names = OPERATIONS.filter(({ http }) => http?.isPublic !== true).map(({ name }) => name);
  expect(Object.keys(CALLS).toSorted()).toEqual(names.toSorted());
  expect(TOOLS.map(({ mcp }) => mcp.tool)).toEqual(
    OPERATIONS.flatMap(({ mcp }) => mcp?.tool ?? []),
  );
});

/** What reads shares a world; each change has its own. */
function groupsOf<T>(rows: readonly T[], isRead: (row: T) => boolean, nameOf: (row: T) => string) {
  const changes = rows.filter((row) => !isRead(row)).map((row) => [nameOf(row), [row]] as const);
  return [["what reads", rows.filter(isRead)] as const, ...changes];
}

type Opened = Awaited<ReturnType<typeof openWorld>>;

async function expectAnswer({ served, world, app }: Opened, { name, http, call }: Route) {
  const sent = OPERATORS_ONLY.has(name)
    ? { app: appOf(served.engine).app, how: {} }
    : { app, how: { key: "key-a", ...(http.request.headers && { retry: REQUEST }) } };
  const ask = (given: Json, how: Sent = {}) => send(sent.app, http, given, { ...sent.how, ...how });
  const first = await ask(call.given(world));
  expect([name, first.status, structuredClone(first.json)]).toMatchObject([
    ...[name, call.status ?? 200, call.answer(world)],
  ] as never);
  if (first.status === 200 && name !== "get_blob") {
    const parsed = schemaOf(http.response).safeParse(first.json);
    expect([name, parsed]).toMatchObject([name, { success: true }]);
  }
  if (http.request.headers === undefined) return;
  const counts = await served.engine.storeCounts();
  const again = await ask(call.given(world), { retry: `{${REQUEST.toUpperCase()}}` });
  expect(again).toEqual(first);
  expect(await ask(call.other?.(world) ?? {})).toEqual({
    status: 409,
    json: {
      code: "request_conflict",
      detail: expect.stringContaining(`request_id ${REQUEST} was used before`),
    },
  });
  for (const retry of ["", "x".repeat(256)]) {
    const detail = `${RETRY}: must have 1 to 255 characters`;
    expect(await ask(call.given(world), { retry })).toEqual({
      ...{ status: 422, json: { code: "invalid_argument", detail } },
    });
  }
  expect(await served.engine.storeCounts()).toEqual(counts);
}

/** Those that read, and take a body. */
const READS = /^\/v1\/(assertions|quantities)\/|^\/v1\/nodes\/batch$/;

test.each(
  groupsOf(
    ROUTES,
    ({ http }) => http.method === "get" || READS.test(http.path),
    ({ name }) => name,
  ),
)("%s: a route answers in its form, once for one request id", async (_, routes) => {
  const opened = await openWorld();
  for (const route of routes) await expectAnswer(opened, route);
});

describe("every route", () => {
  test("is 401 without a key or with a wrong one, whatever else is wrong", async () => {
    const { world, app } = await openWorld();
    for (const { name, http, call } of ROUTES) {
      for (const key of [undefined, "key-c", "ada", ""]) {
        const sent = { ...(key !== undefined && { key }), query: "colour=red" };
        const { status, json } = await send(app, http, call.given(world), sent);
        expect([name, status, json]).toEqual([
          ...[name, 401],
          { code: "unauthenticated", detail: "Invalid or missing API key" },
        ]);
      }
    }
  });

  test("shows and changes nothing of another owner", async () => {
    const { world, app, expectUnchanged } = await openTwo();
    for (const { name, http, call } of ROUTES) {
      if (["store", "store_many", "ingest", "ingest_fast"].includes(name)) continue;
      const { status, json } = await send(app, http, call.given(world), { key: "key-b" });
      const isAboutOne = idsIn(name, call.given(world), []).length > 0 && name !== "get_nodes";
      const expected = OPERATORS_ONLY.has(name) ? 403 : isAboutOne ? 404 : 200;
      expect([name, status]).toEqual([name, expected]);
      expect(`${name}: ${JSON.stringify(json)}`).not.toContain(ADA.word);
    }
    await expectUnchanged();
  });

  test("answers an id of another owner as one that nobody has", async () => {
    const { world, app, bobs, expectUnchanged } = await openTwo();
    for (const { name, http, call } of ROUTES) {
      const own = call.given(bobs);
      for (const id of idsIn(name, own, Object.keys(membersOf(http)))) {
        const theirs = id === "evidence_id" ? world.tea.event : call.given(world)[id];
        const ask = (value: unknown) => send(app, http, { ...own, [id]: value }, { key: "key-b" });
        const [foreign, missing] = [await ask(theirs), await ask(nobodys(theirs))];
        const place = `${name}.${id}`;
        expect([place, withoutIds(foreign)]).toEqual([place, withoutIds(missing)]);
        expect([place, [400, 404, 422].includes(foreign.status)]).toEqual([
          ...[place, !NO_ID_IS_MISSING.has(place)],
        ]);
      }
    }
    await expectUnchanged();
  });

  test("is 403 where another owner is named", async () => {
    const { world, app, expectUnchanged } = await openTwo();
    const named = ROUTES.flatMap((route) =>
      ["ada", "", "Bob"].flatMap((owner) => {
        const { query, body } = route.http.request;
        const given = route.call.given(world);
        if (query?.shape["user_id"] !== undefined)
          return { ...route, given, query: `user_id=${owner}` };
        const members = { ...given, user_id: owner };
        return body?.shape["user_id"] === undefined ? [] : { ...route, given: members, query: "" };
      }),
    );
    for (const { name, http, given, query } of named) {
      const { status, json } = await send(app, http, given, { key: "key-b", query });
      expect([name, given, query, status, json["code"]]).toEqual([
        ...[name, given, query, 403, "forbidden"],
      ]);
    }
    expect(named.length).toBeGreaterThan(100);
    await expectUnchanged();
  });

  test("is 404 for an operator who names another owner than that of an id", async () => {
    const { world, served, expectUnchanged } = await openTwo();
    const operator = appOf(served.engine).app;
    for (const { name, http, call } of ROUTES.filter((route) => route.http.takesOwner)) {
      const { status } = await send(operator, http, call.given(world), { query: "user_id=bob" });
      expect([name, status]).toEqual([name, 404]);
    }
    await expectUnchanged();
  });

  test("needs an owner where its answer is about one", async () => {
    const { app } = appOf((await open()).engine);
    const { world } = await openWorld();
    for (const { name, http, call } of ROUTES.filter(needsOwner)) {
      for (const owner of [undefined, ""]) {
        const named = http.request.body === undefined ? {} : { user_id: owner };
        const query = http.request.body === undefined && owner === "" ? "user_id=" : "";
        const { status, json } = await send(
          app,
          http,
          { ...call.given(world), ...named },
          { query },
        );
        expect([name, status, json["detail"]]).toEqual([
          ...[name, 422, "user_id: is required: the name of the owner of these memories"],
        ]);
      }
    }
  });

  test("is 422 for what its document does not have, by name, and changes nothing", async () => {
    const { world, app, expectUnchanged } = await openTwo();
    for (const { name, http, call } of ROUTES) {
      const given = call.given(world);
      const ask = async (members: unknown, query = "") => {
        const { status, json } = await send(app, http, members, { key: "key-a", query });
        return [name, status, json["code"], json["detail"]];
      };
      const refused = (detail: string) => [
        ...[name, 422, "invalid_argument", expect.stringMatching(new RegExp(`^${detail}`))],
      ];
      expect(await ask(given, "colour=red")).toEqual(
        refused("colour: is not a known query parameter; "),
      );
      for (const fault of faultsOf(http, given)) {
        expect([fault, ...(await ask(fault.given))]).toEqual([fault, ...refused(fault.detail)]);
      }
    }
    await expectUnchanged();
  });

  test("is 503 before the engine is open and once it is closed, and 500 without a cause when the store fails", async () => {
    const { served, world, app } = await openWorld();
    const young = appOf(served.engine, {}, { engine: () => undefined }).app;
    const fail = () => Promise.reject(new TypeError("wires crossed"));
    const failing = Object.fromEntries(
      Object.entries(served.engine).map(([name, value]) => [
        name,
        typeof value === "function" ? fail : value,
      ]),
    );
    const broken = appOf({ ...served.engine, ...failing }).app;
    await served.engine.close();
    for (const { name, http, call } of ROUTES.filter((route) => !ENGINELESS.has(route.name))) {
      const given = {
        ...call.given(world),
        ...(needsOwner({ name, http, call }) && { user_id: "ada" }),
      };
      const early = await send(young, http, given);
      expect([name, early.status, early.json["code"]]).toEqual([name, 503, "not_ready"]);
      const { user_id: _, ...own } = given;
      const late = await send(app, http, own, { key: "key-a" });
      if (!OPERATORS_ONLY.has(name)) {
        expect([name, late.status, late.json["code"]]).toEqual([name, 503, "engine_closed"]);
      }
      expect([name, await send(broken, http, given)]).toEqual([
        name,
        { status: 500, json: { code: "internal", detail: "Internal server error" } },
      ]);
    }
  });
});

/** What is answered without a look at the memory. */
const ENGINELESS: ReadonlySet<string> = new Set(["caller", "examine"]);

/** Whether an operator has to name the owner. */
function needsOwner({ name }: Pick<Route, "name" | "http" | "call">): boolean {
  const operation = OPERATIONS.find((one) => one.name === name);
  return operation?.mcp?.needsOwner ?? OWNED.has(name);
}
/** Those that are no tools. */
const OWNED: ReadonlySet<string> = new Set([
  ...["import_source", "undo_import", "changes"],
  ...["store_many", "list_retrievals", "explain_retrieval", "browse_nodes", "timeline", "facets"],
  ...[
    "list_entities",
    "list_contradictions",
    "list_operations",
    "list_events",
    "list_sessions",
    "get_nodes",
    "list_forgettings",
  ],
]);

type Fault = { readonly given: unknown; readonly detail: string };

/** Members that take any text in a query. */
const FREE: ReadonlySet<string> = new Set([
  "source_name",
  ...["contains", "client", "actor", "session_id", "user_id", "list_operations.type", "blob_key"],
]);

/** Requests of which one thing is wrong, and how the refusal begins. */
function faultsOf(http: HttpBinding, given: Json): readonly Fault[] {
  const { body, params, query } = http.request;
  const inPath = Object.keys(params?.shape ?? {}).filter((name) => !FREE.has(name));
  const ids = inPath.map((name) => ({
    ...{ given: { ...given, [name]: "x" }, detail: `${name}: "x" is not a UUID` },
  }));
  if (body === undefined)
    return [...ids, ...Object.entries(query?.shape ?? {}).flatMap(queryFaults)];
  const shape = Object.entries(body.shape).filter(([name]) => name !== "user_id");
  const isClosed = jsonSchemaOf(body)["additionalProperties"] === false;
  return [
    ...ids,
    ...(inPath.length === 0 ? [{ given: [], detail: "body: \\[\\] is not an object" }] : []),
    ...(isClosed
      ? [
          {
            given: { ...given, colour: 1 },
            detail: "colour: is not a known key; the known keys are ",
          },
        ]
      : []),
    ...shape.flatMap(([name, schema]) => [
      { given: { ...given, [name]: [[]] }, detail: `(.*; )?${name}[:.[]` },
      ...(body.shape[name]?.safeParse(undefined).success === false
        ? [{ given: { ...given, [name]: undefined }, detail: `${name}: is required` }]
        : []),
      ...boundsOf(schema).map((value) => ({
        ...{ given: { ...given, [name]: value }, detail: `${name}: ` },
      })),
    ]),
  ];

  function queryFaults([name, schema]: [string, unknown]): readonly Fault[] {
    if (FREE.has(name) || (name === "type" && http.path === "/v1/operations")) return [];
    const values = ["no-such", "", ...boundsOf(schema as z.ZodType), "1.5"].map(String);
    return values.map((value) => ({ given: { ...given, [name]: value }, detail: `${name}: ` }));
  }
}

/** Numbers beyond the bounds of a member, and what is not one of a closed set. */
function boundsOf(schema: unknown): readonly unknown[] {
  const shown = jsonSchemaOf(schema as z.ZodType);
  const parts = [shown, ...((shown["anyOf"] as Json[] | undefined) ?? [])];
  return parts.flatMap(({ minimum, maximum, enum: members }) => [
    ...(typeof minimum === "number" && minimum > -(2 ** 53) + 1 ? [minimum - 1] : []),
    ...(typeof maximum === "number" && maximum < 2 ** 53 - 1 ? [maximum + 1] : []),
    ...(members === undefined ? [] : ["no-such"]),
  ]);
}

type Tool = (typeof TOOLS)[number];

/** Tools leave out members that are null. */
function toolAnswer(call: Call, world: World): unknown {
  const members = Object.entries(Object(call.tool?.answer?.(world) ?? call.answer(world)));
  return Object.fromEntries(members.filter(([, value]) => value !== null));
}

async function expectTold(
  { served, world }: Opened,
  ada: Caller,
  { mcp, call, given, told }: Tool,
) {
  const isRepeatable = "request_id" in mcp.input.shape && call.other !== undefined;
  const args = { ...given(world), ...(isRepeatable && { request_id: REQUEST }) };
  const { text, ...result } = await ada.call(mcp.tool, args);
  const structured = toolAnswer(call, world);
  expect([mcp.tool, structuredClone(result)]).toMatchObject([
    ...[mcp.tool, { isError: false, structured }],
  ] as never);
  for (const part of told?.(world, result.structured) ?? []) {
    expect([mcp.tool, text]).toEqual([
      mcp.tool,
      typeof part === "string" ? expect.stringContaining(part) : expect.stringMatching(part),
    ]);
  }
  const parsed = schemaOf(mcp.output).safeParse(result.structured);
  expect([mcp.tool, parsed]).toMatchObject([mcp.tool, { success: true }]);
  if (!isRepeatable) return;
  expect(await ada.answer(mcp.tool, args)).toEqual(result.structured);
  const counts = await served.engine.storeCounts();
  const other = await ada.call(mcp.tool, { ...call.other?.(world), request_id: REQUEST });
  expect(other).toMatchObject({ isError: false, structured: { conflict: true } });
  expect(other.text).toEndWith("Use another UUID for another change.");
  expect(await served.engine.storeCounts()).toEqual(counts);
}

const TOOL_GROUPS = groupsOf(
  TOOLS,
  ({ mcp }) => mcp.annotations.readOnlyHint,
  ({ mcp }) => mcp.tool,
);

test.each(TOOL_GROUPS)(
  "%s: a tool answers with its values, says them to a model, and once for one request id",
  async (_, tools) => {
    const opened = await openWorld();
    const ada = await opened.served.connect("ada");
    for (const tool of tools) await expectTold(opened, ada, tool);
  },
);

/** A change that takes no owner is about an id: see tools.test.ts for an operator's. */
const OF_OPERATORS = TOOL_GROUPS.filter(
  ([name, tools]) => name === "what reads" || tools.some(({ mcp }) => mcp.needsOwner),
);

test.each(OF_OPERATORS)(
  "%s: a tool answers an operator who names the owner, where it takes one, in the same way",
  async (_, tools) => {
    const { served, world } = await openWorld();
    const operator = await served.connect();
    for (const { mcp, call, given } of tools) {
      const owner = mcp.needsOwner ? { user_id: "ada" } : {};
      const result = await operator.call(mcp.tool, { ...given(world), ...owner });
      const structured = toolAnswer(call, world);
      expect([mcp.tool, structuredClone(result)]).toMatchObject([
        ...[mcp.tool, { isError: false, structured }],
      ] as never);
    }
  },
);

/** Arguments of which one thing is wrong, and what the error says. */
function brokenArguments({ name, mcp, given }: (typeof TOOLS)[number], world: World) {
  const args = given(world);
  const members = Object.entries(mcp.input.shape).filter(([member]) => member !== "user_id");
  return [
    { args: { ...args, colour: 1 }, says: /colour: is not a known key; the arguments are / },
    ...members.map(([member]) => ({
      ...{ args: { ...args, [member]: [[]] }, says: new RegExp(`^${member}[:.[]`) },
    })),
    ...members
      .filter(([, schema]) => !(schema as z.ZodType).safeParse(undefined).success)
      .map(([member]) => ({
        ...{ args: { ...args, [member]: undefined }, says: new RegExp(`^${member}: is required`) },
      })),
    ...idsIn(name, args, Object.keys(mcp.input.shape)).map((id) => ({
      args: { ...args, [id]: Array.isArray(args[id]) ? ["x"] : "x" },
      says: /"x" is not a UUID/,
    })),
  ];
}

describe("every tool", () => {
  const errorOf = async (caller: Caller, tool: string, args: Json) => {
    const { isError, structured, text } = await caller.call(tool, args);
    const { error, ...more } = structured;
    expect([tool, args, typeof error, more]).toEqual([tool, args, "string", {}]);
    expect(text).toStartWith(String(error));
    return { isError, error: String(error) };
  };

  test("answers an id of another owner as one that nobody has", async () => {
    const { served, world, bobs, expectUnchanged } = await openTwo();
    const bob = await served.connect("bob");
    for (const { name, mcp, given } of TOOLS) {
      const own = given(bobs);
      for (const id of idsIn(name, own, Object.keys(mcp.input.shape))) {
        const theirs = id === "evidence_id" ? world.tea.event : given(world)[id];
        const [foreign, missing] = [
          await errorOf(bob, mcp.tool, { ...own, [id]: theirs }),
          await errorOf(bob, mcp.tool, { ...own, [id]: nobodys(theirs) }),
        ];
        expect([mcp.tool, id, withoutIds(foreign)]).toEqual([mcp.tool, id, withoutIds(missing)]);
      }
    }
    await expectUnchanged();
  });

  test("is about the bound owner: another is refused by name; who is bound to none names one", async () => {
    const { served, world, expectUnchanged } = await openTwo();
    const [bob, operator] = [await served.connect("bob"), await served.connect()];
    for (const { mcp, given } of TOOLS.filter((one) => one.mcp.needsOwner)) {
      expect(await errorOf(bob, mcp.tool, { ...given(world), user_id: "ada" })).toEqual({
        isError: false,
        error: 'user_id: "ada" is not the owner of this connection; leave user_id out',
      });
      const { error } = await errorOf(operator, mcp.tool, given(world));
      expect([mcp.tool, error]).toEqual([mcp.tool, expect.stringMatching(/^user_id: is required/)]);
    }
    await expectUnchanged();
  });

  test("shows nothing of another owner where it names nothing of theirs", async () => {
    const { served, world, expectUnchanged } = await openTwo();
    const bob = await served.connect("bob");
    for (const { name, mcp, given } of TOOLS) {
      if (idsIn(name, given(world), []).length > 0 || name.startsWith("ingest") || name === "store")
        continue;
      const { isError, structured } = await bob.call(mcp.tool, given(world));
      expect([mcp.tool, isError]).toEqual([mcp.tool, false]);
      expect(`${mcp.tool} ${JSON.stringify(structured)}`).not.toContain(ADA.word);
    }
    await expectUnchanged();
  });

  test("names each argument that is missing, unknown or of another type, and changes nothing", async () => {
    const { served, world, expectUnchanged } = await openTwo();
    const ada = await served.connect("ada");
    for (const one of TOOLS) {
      for (const { args, says } of brokenArguments(one, world)) {
        const { isError, error } = await errorOf(ada, one.mcp.tool, args);
        const [, detail = error] = /^Invalid arguments for tool \w+: (.*)$/s.exec(error) ?? [];
        expect([one.mcp.tool, args, isError, detail]).toEqual([
          ...[one.mcp.tool, args, error !== detail, expect.stringMatching(says)],
        ]);
      }
    }
    await expectUnchanged();
  });
});

test("an id of one's own is no secret: who is bound to nobody reads by id alone", async () => {
  const { served, world } = await openWorld();
  const operator = await served.connect();
  expect(await operator.answer("memory_get_node", { node_id: world.tea.node })).toMatchObject({
    user_id: "ada",
  });
});
