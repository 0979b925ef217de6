/**
 * Every documented error that HTTP can answer with, provoked over HTTP, on a real engine and a real pack. `PROVOKED` says of
 * each code where that is done, or why it cannot be.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ERROR_CATALOGUE, type ErrorCode } from "../../../src/domain/errors.ts";
import { rememberConditional } from "../../engine/lifecycle/memories.ts";
import { type Answer, KEYS, useApps } from "./engine-app.ts";
import { expectRefused as expectAnswer } from "./errors/expect-refused.ts";
import { REFUSALS } from "./errors/refusals.ts";
import { settle } from "./errors/scene.ts";
import { appOf, useServers } from "./serving.ts";

setDefaultTimeout(120_000);

type Where =
  /** By the tests below. */
  | { readonly here: true }
  /** By a test of another file. */
  | { readonly file: string; readonly test: string }
  /** Not at all. */
  | { readonly never: string };

const FAULTS = "test/surface/http/faults.test.ts";
const STARTS_NOT = "it ends the start; what is open by then stays as it is";

/** See faults.test.ts. */
const UNEMBEDDED = "a store leaves its job pending, a question is answered without";

const PROVOKED: Readonly<Record<ErrorCode, Where>> = {
  invalid_argument: { here: true },
  invalid_speaker: { here: true },
  request_conflict: { here: true },
  invalid_transition: { here: true },
  memory_replaced: {
    file: "test/surface/http/lifecycle.test.ts",
    test: "restore brings an archived memory back, and not one that was replaced or forgotten",
  },
  stale_profile: { never: "no route makes profiles" },
  stale_consolidation: { never: "the organizer counts it" },
  bad_citation: { here: true },
  not_found: { here: true },
  forbidden: { here: true },
  unauthenticated: { here: true },
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
  engine_closed: { file: FAULTS, test: "engine_closed: after the engine was closed" },
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
  { status: 503, file: "test/surface/http/app.test.ts", test: "before the engine is open" },
];

const { open } = useApps();
const serve = useServers();

/** The codes that were provoked so far. */
const seen = new Set<ErrorCode>();

const expectRefused: typeof expectAnswer = (code, answer, detail) => {
  seen.add(code);
  expectAnswer(code, answer, detail);
};

describe.each(Object.entries(REFUSALS))("%s", (code, cases) => {
  test.each(cases)("$name", async ({ ask, detail }) => {
    const app = await open();
    const world = await settle(app);
    const before = await app.engine.storeCounts();
    // SAFETY: the keys of the table are codes.
    expectRefused(code as ErrorCode, await app.ask(...ask(world)), detail);
    expect(await app.engine.storeCounts()).toEqual(before);
  });
});

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
  test("unauthenticated: no key, a wrong one, and one of another scheme", async () => {
    const { ask } = await open(KEYS);
    for (const headers of [
      {},
      { authorization: "Bearer key-c" },
      { authorization: "Basic key-a" },
      { authorization: "key-a" },
    ]) {
      const answer = await ask("/v1/stats", { headers });
      expectRefused("unauthenticated", answer, "Invalid or missing API key");
    }
  });

  test("unauthenticated: the answer names the scheme", async () => {
    const { engine } = await open();
    const answer = await appOf({ engine, auth: KEYS }).request("/v1/stats");
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
  });

  test.each([
    { name: "a body", path: "/v1/store", body: { content: "tea", user_id: "bob" } },
    { name: "an empty owner in a body", path: "/v1/retrieve", body: { query: "t", user_id: "" } },
    { name: "a query", path: "/v1/nodes?user_id=bob", body: undefined },
    { name: "an empty owner in a query", path: "/v1/stats?user_id=", body: undefined },
  ])("forbidden: another owner in $name", async ({ path, body }) => {
    const { ask } = await open(KEYS);
    const answer = await ask(path, { key: "key-a", body });
    expectRefused(
      "forbidden",
      answer,
      /^user_id: "(?:bob)?" is not the owner of this connection; /,
    );
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
