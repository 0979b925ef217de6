/**
 * Every documented error that HTTP can answer with, provoked over HTTP, on a real engine and a real pack. `PROVOKED` says of
 * each code where that is done, or why it cannot be.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ERROR_CATALOGUE, type ErrorCode } from "../../../src/domain/errors.ts";
import { NOBODY, rememberConditional } from "../../engine/lifecycle/memories.ts";
import {
  type Answer,
  type Asked,
  expectRefused as expectAnswer,
  KEYS,
  type OpenedApp,
  useApps,
} from "./engine-app.ts";
import { appOf, useServers } from "./serving.ts";

setDefaultTimeout(120_000);

type Where =
  /** By the tests below. */
  | { readonly here: true }
  /** By a test of another file. */
  | { readonly file: string; readonly test: string }
  /** Not at all. */
  | { readonly never: string };

const OPERATIONS = "test/surface/operations/operations.test.ts";
const FAULTS = "test/surface/http/faults.test.ts";
const STARTS_NOT = "it ends the start; what is open by then stays as it is";

/** See faults.test.ts. */
const UNEMBEDDED = "a store leaves its job pending, a question is answered without";

const PROVOKED: Readonly<Record<ErrorCode, Where>> = {
  invalid_argument: { here: true },
  invalid_speaker: { here: true },
  request_conflict: { here: true },
  invalid_transition: { here: true },
  memory_replaced: { here: true },
  stale_profile: { never: "no route makes profiles" },
  stale_consolidation: { never: "the organizer counts it" },
  bad_citation: { here: true },
  not_found: { here: true },
  forbidden: { file: OPERATIONS, test: "is 403 where another owner is named" },
  unauthenticated: { file: OPERATIONS, test: "is 401 without a key or with a wrong one" },
  too_large: { here: true },
  unauthenticated_bind: { never: STARTS_NOT },
  bind_failed: { never: STARTS_NOT },
  invalid_config: { never: STARTS_NOT },
  not_a_pack: { file: FAULTS, test: "not_a_pack or pack_damaged: a pack was overwritten" },
  not_an_export: { never: "no route imports" },
  pack_too_new: { never: STARTS_NOT },
  pack_too_old: { never: STARTS_NOT },
  pack_read_only: {
    file: "test/scenario/read-only-pack.test.ts",
    test: "is searched, shown, exported and served; what would write is refused",
  },
  encryption_failed: { never: STARTS_NOT },
  namespace_mismatch: { never: STARTS_NOT },
  workspace_damaged: { never: "no route opens a workspace" },
  workspace_in_use: { never: "no route opens a workspace" },
  workspace_full: { never: "no route opens a workspace" },
  workspace_closed: { never: "no route opens a workspace" },
  pack_in_use: { never: STARTS_NOT },
  pack_damaged: { file: FAULTS, test: "pack_damaged: pages of an encrypted pack" },
  storage_failed: { file: FAULTS, test: "storage_failed: a pack without one of its tables" },
  disk_full: { file: "test/fault/disk-full.test.ts", test: "a store is refused with disk_full" },
  storage_busy: { file: FAULTS, test: "storage_busy: another process holds the lock" },
  storage_unavailable: {
    file: "test/scenario/database.test.ts",
    test: "is 503 with Retry-After while the database is gone, and answers when it is back",
  },
  embedding_failed: { never: UNEMBEDDED },
  embedding_mismatch: { never: UNEMBEDDED },
  model_failed: { never: "no route asks a model on which its answer depends" },
  model_timeout: { never: "no route asks a model on which its answer depends" },
  materialization_failed: {
    file: FAULTS,
    test: "the text is safe, and found once it has been processed",
  },
  extraction_failed: {
    file: "test/scenario/extraction.test.ts",
    test: "a message that is waited for is kept, whatever the provider does",
  },
  vision_disabled: { never: "no route observes" },
  vision_failed: { never: "no route observes" },
  observation_failed: { never: "no route observes" },
  unsupported_source: { never: "no route observes" },
  frame_decode_failed: { never: "no route observes" },
  engine_closed: {
    file: OPERATIONS,
    test: "is 503 before the engine is open and once it is closed",
  },
  pack_locked: { file: FAULTS, test: "pack_locked: a locked pack" },
  unsupported: { never: "no route locks or unlocks" },
  internal: { file: FAULTS, test: "internal: a fault of the program" },
};

/** Refusals with a code of the listener: what is no proper request for anything. */
const BY_THE_LISTENER: readonly {
  readonly status: number;
  readonly file: string;
  readonly test: string;
}[] = [
  { status: 307, file: "test/surface/http/app.test.ts", test: "a slash too many is redirected" },
  { status: 404, file: "test/surface/http/app.test.ts", test: "an unknown path is 404" },
  { status: 405, file: "test/surface/http/app.test.ts", test: "a wrong method is 405" },
  { status: 408, file: "test/surface/http/slow.test.ts", test: "is 408" },
  { status: 403, file: "test/surface/http/host.test.ts", test: "is refused for %s" },
  { status: 421, file: "test/surface/http/host.test.ts", test: "a foreign name is refused" },
  { status: 503, file: OPERATIONS, test: "is 503 before the engine is open" },
];

/** A memory of ada, one that was archived, one that was replaced, and an answer. */
async function settle({ ask, engine }: OpenedApp) {
  const stored = async (content: string) => {
    const { json } = await ask("/v1/store", { body: { content, user_id: "ada" } });
    return String(json["node_id"]);
  };
  const [tea, gone] = [await stored("Ada drinks tea"), await stored("nobody needs this")];
  const old = await stored("Ada lives in Oslo");
  await engine.supersede(old, await stored("Ada lives in Rome"));
  await engine.archive(gone);
  const { metadata } = await engine.retrieve({ userId: "ada", query: "what does Ada drink" });
  return { tea, gone, old, request: metadata.requestId };
}
type World = Awaited<ReturnType<typeof settle>>;

/** A request that is refused, and the text that says why. */
type Case = {
  readonly name: string;
  readonly ask: (world: World) => readonly [string, Asked?];
  readonly detail: string | RegExp;
};

const store = (given: object) => (): readonly [string, Asked] => [
  "/v1/store",
  { body: { content: "tea", user_id: "ada", ...given } },
];
const post = (path: string, body: unknown) => (): readonly [string, Asked] => [path, { body }];
const put = (path: string): readonly [string, Asked] => [`/v1/nodes/${path}`, { method: "PUT" }];

/** One of each code. What else has it follows from the tables of operations and of errors. */
const REFUSALS = {
  invalid_argument: [
    {
      name: "a moment without an offset",
      ask: store({ event_time: "2026-02-01T10:00:00" }),
      detail:
        'event_time: "2026-02-01T10:00:00" has no time zone; write for example 2026-02-01T10:00:00Z',
    },
    {
      name: "a name twice",
      ask: post("/v1/store", '{"user_id":"u","user_id":"v","content":"tea"}'),
      detail: 'body: is not valid JSON: "user_id" stands twice in one object',
    },
    {
      name: "a cursor of no page",
      ask: ({ tea }): readonly [string] => [`/v1/nodes/${tea}/provenance?operation_cursor=x`],
      detail: 'operation_cursor: "x" is not the next_operation_cursor of an earlier page',
    },
  ],
  invalid_speaker: [
    {
      name: "a reserved key",
      ask: store({ metadata: { svc_speaker_v1: "x" } }),
      detail: "metadata.svc_speaker_v1: is reserved; use the parameter that sets it",
    },
    {
      name: "a long speaker",
      ask: store({ speaker: "é".repeat(201) }),
      detail: "speaker: has 201 characters; at most 200 are allowed",
    },
  ],
  invalid_transition: [
    {
      name: "an archive of an archived memory",
      ask: ({ gone }) => put(`${gone}/archive`),
      detail: /^archive: memory \S+ is archived already/,
    },
  ],
  memory_replaced: [
    {
      name: "restoring what was replaced",
      ask: ({ old }) => put(`${old}/restore`),
      detail: /^memory \S+ was replaced, and \S+ stands now/,
    },
  ],
  bad_citation: [
    {
      name: "a memory that was not in the answer",
      ask: ({ request, gone }) =>
        post("/v1/answer-citations", {
          ...{ user_id: "ada", request_id: request, answer_id: "a", cited_node_ids: [gone] },
        })(),
      detail: /^cited_node_ids: \S+ was not among the results of this retrieval$/,
    },
  ],
  not_found: [
    {
      name: "a receipt to cite from",
      ask: post("/v1/answer-citations", { user_id: "ada", request_id: NOBODY, answer_id: "a" }),
      detail: `there is no receipt of a retrieval ${NOBODY}`,
    },
  ],
} as const satisfies Readonly<Record<string, readonly Case[]>>;

const { open } = useApps();
const serve = useServers();

/** The codes that were provoked so far. */
const seen = new Set<ErrorCode>();

const expectRefused: typeof expectAnswer = (code, answer, detail) => {
  seen.add(code);
  expectAnswer(code, answer, detail);
};

test.each(Object.entries<readonly Case[]>(REFUSALS))(
  "%s, wherever it is due",
  async (code, cases) => {
    const app = await open();
    const world = await settle(app);
    const before = await app.engine.storeCounts();
    for (const { name, ask, detail } of cases) {
      // SAFETY: the keys of the table are codes.
      expectRefused(code as ErrorCode, await app.ask(...ask(world)), detail);
      expect([name, await app.engine.storeCounts()]).toEqual([name, before]);
    }
  },
);

describe("request_conflict", () => {
  const KEY = "11111111-2222-4333-8444-555555555555";

  test("the id of citations, with another answer", async () => {
    const app = await open();
    const { request } = await settle(app);
    const cite = (answer: string) =>
      app.ask("/v1/answer-citations", {
        body: { user_id: "ada", citation_id: KEY, request_id: request, answer_id: answer },
      });
    const first = await cite("a");
    expect(first.status).toBe(200);
    expect(await cite("a")).toEqual(first);
    expectRefused("request_conflict", await cite("b"), /was used before with different inputs/);
  });
});

describe("with keys of owners", () => {
  test("unauthenticated: the answer names the scheme", async () => {
    const { engine } = await open();
    const answer = await appOf({ engine, auth: KEYS }).request("/v1/stats");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test("invalid_argument: an actor beside a key", async () => {
    const app = await open(KEYS);
    const { id } = await rememberConditional(app.engine);
    const answer = await app.ask(`/v1/nodes/${id}/condition`, {
      method: "PUT",
      key: "key-a",
      body: { state: "true", actor: "bob" },
    });
    expectRefused("invalid_argument", answer, "actor: is this connection's owner; leave it out");
  });
});

describe("too_large", () => {
  const detail =
    "The request body is larger than 10485760 bytes (10 MiB); split it into several requests";
  const long = JSON.stringify({ content: "x".repeat(10 * 1024 * 1024), user_id: "ada" });

  test("a body whose length is told", async () => {
    const { ask } = await open();
    const headers = { "content-length": String(long.length) };
    const answer = await ask("/v1/store", { body: long, headers });
    expectRefused("too_large", answer, detail);
  });

  test("a body that comes in pieces", async () => {
    const server = await serve({ engine: (await open()).engine });
    const pieces = new ReadableStream({
      pull: (controller) => {
        controller.enqueue(new TextEncoder().encode(long.slice(0, 1024 * 1024)));
      },
    });
    const answer = await fetch(`${server.url}/v1/store`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: pieces,
    });
    // SAFETY: what it holds is what is asserted.
    const json = (await answer.json()) as Answer["json"];
    expectRefused("too_large", { status: answer.status, json }, detail);
  });
});

describe("the table", () => {
  const isHere = (where: Where): boolean => "here" in where;

  test("has every code of the catalogue and no other", () => {
    expect(Object.keys(PROVOKED).sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
  });

  test("what it says is provoked here was", () => {
    const claimed = Object.entries(PROVOKED).flatMap(([code, where]) =>
      isHere(where) ? code : [],
    );
    expect([...seen].sort()).toEqual(claimed.sort() as ErrorCode[]);
  });

  const elsewhere = [
    ...BY_THE_LISTENER,
    ...Object.values(PROVOKED).flatMap((where) => ("file" in where ? where : [])),
  ];
  test.each(elsewhere)("$file has the test: $test", ({ file, test: name }) => {
    expect(readFileSync(resolve(file), "utf8")).toContain(name);
  });
});
