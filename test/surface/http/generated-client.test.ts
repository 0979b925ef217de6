/** The OpenAPI document as its users need it: a well-known generator makes a client of it, and that client does everything. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ServerProcess, startServer } from "../../../scripts/bench/server.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { PROGRAM } from "../cli/run-svc.ts";
import {
  type ApiDocument,
  type ApiOperation,
  createAnswerCheck,
  operationsAt,
  readDocument,
} from "./fuzz/document.ts";

// A generator, a type check and a server, each a process of its own.
setDefaultTimeout(120_000);

const ROOT = resolve(import.meta.dir, "../../..");
const GENERATOR = join(ROOT, "node_modules/@hey-api/openapi-ts/bin/run.js");
const COMPILER = join(ROOT, "node_modules/typescript-native/bin/tsc");
const KEYS = { ada: "key-of-ada", bob: "key-of-bob" };

const TSCONFIG = {
  compilerOptions: {
    target: "ESNext",
    module: "Preserve",
    moduleResolution: "bundler",
    lib: ["ESNext", "DOM", "DOM.Iterable"],
    types: [],
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  },
  include: ["life.ts", "client"],
};

type Json = Readonly<Record<string, unknown>>;
type Call = {
  readonly operation: ApiOperation;
  readonly status: number;
  readonly json: unknown;
};
type Life = (
  baseUrl: string,
  key: string,
  send: (request: Request) => Promise<Response>,
) => Promise<Json>;
type Ran = { readonly code: number; readonly output: string };

const folder = mkdtempSync(join(tmpdir(), "svc-generated-"));
const calls: Call[] = [];
let server: ServerProcess | undefined;
let document: ApiDocument;
let generated: Ran;
let compiled: Ran;
let life: Json;

async function run(...args: readonly string[]): Promise<Ran> {
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: folder,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, output: (stdout + stderr).trim() };
}

/** Sends for the client, and writes down which operation it was and what came back. */
async function send(request: Request): Promise<Response> {
  const response = await fetch(request);
  const { pathname } = new URL(request.url);
  const operation = operationsAt(document, pathname).find(
    ({ method }) => method === request.method,
  );
  if (operation === undefined) throw new Error(`${request.method} ${pathname} is not documented`);
  calls.push({ operation, status: response.status, json: await response.clone().json() });
  return response;
}

beforeAll(async () => {
  const pack = join(folder, "pack", "memory.pack");
  mkdirSync(join(folder, "pack"));
  server = await startServer({
    pack,
    command: PROGRAM,
    environment: { SVC_API_USER_KEYS: JSON.stringify(KEYS) },
  });
  const text = await (await fetch(`${server.url}/openapi.json`)).text();
  document = readDocument(JSON.parse(text));
  writeFileSync(join(folder, "openapi.json"), text);
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
  copyFileSync(join(import.meta.dir, "generated-client/life.ts.txt"), join(folder, "life.ts"));
  const options = ["--client", "@hey-api/client-fetch", "--silent", "--no-log-file"];
  generated = await run(GENERATOR, "--input", "openapi.json", "--output", "client", ...options);
  compiled = await run(COMPILER, "--project", ".");
  // SAFETY: the type check above has seen that it has this shape.
  const program = (await import(join(folder, "life.ts"))) as { readonly life: Life };
  life = await program.life(server.url, KEYS.ada, send);
});

afterAll(async () => {
  await server?.end("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
});

/** A part of what the program brought back, by its path. */
function at(path: string): unknown {
  return path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), life);
}

test("the generator takes the document as it is, without a warning", () => {
  expect(generated).toEqual({ code: 0, output: "" });
});

test("the client and a program that uses all of it pass a strict type check", () => {
  expect(compiled).toEqual({ code: 0, output: "" });
});

test("the program used every operation of the document", () => {
  const used = new Set(calls.map(({ operation }) => operation.id));
  expect(document.operations.map(({ id }) => id).filter((id) => !used.has(id))).toEqual([]);
});

test("every answer is what the document declares for it", () => {
  const check = createAnswerCheck(document);
  const differences = calls.flatMap(
    ({ operation, status, json }) => check(operation, status, json) ?? [],
  );
  expect(differences).toEqual([]);
});

describe("through the client", () => {
  test("a memory is stored, read back with everything, and its source too", () => {
    expect(at("health.status")).toBe("ok");
    expect(at("stored.processing_status.status")).toBe("complete");
    expect(at("node")).toMatchObject({
      id: at("stored.node_id"),
      user_id: "ada",
      session_id: "walk",
      node_type: "fact",
      content: "Biscuit is afraid of thunder; the vet is Dr. Li.",
      lifecycle_state: "tentative",
      confidence: 0.75,
      epistemic_type: "observed",
      source_type: "user_stated",
      event_time: "2026-02-01T10:00:00.000000Z",
      valid_to: "2036-02-01T00:00:00.000000Z",
      ttl_days: null,
      superseded_by: null,
      evidence_refs: [at("stored.event_id")],
    });
    expect(at("node.metadata")).toMatchObject({ place: "park", weights: [1, 2.5, null] });
    const content = "Biscuit is afraid of thunder; the vet is Dr. Li, call 555-0100.";
    expect(at("event")).toMatchObject({ content, content_hash: sha256Hex(content), role: "user" });
    expect(at("ofEvent")).toMatchObject({ count: 1, nodes: [{ id: at("stored.node_id") }] });
    expect(at("status")).toMatchObject({ status: "complete", last_error: null });
  });

  test("texts are taken in once, whatever is sent again", () => {
    expect(at("admitted.accepted")).toBe(2);
    expect(at("repeated")).toEqual(at("admitted"));
    expect(at("processed")).toEqual({ processed: 2, pending: 0, failed: 0 });
  });

  test("a question is answered, its receipt kept, and the answer's sources recorded", () => {
    expect(at("answer.results.0")).toMatchObject({
      node_id: at("stored.node_id"),
      content: "Biscuit is afraid of thunder; the vet is Dr. Li.",
      session_id: "walk",
    });
    expect(at("answer.metrics")).toMatchObject({
      receipt_persisted: true,
      ranking_multipliers: null,
      ranking_profile_reason: null,
    });
    expect(at("answer.value_bindings")).toMatchObject([
      { reference: "vet", presentation: "Dr. Li", lookup: "Dr. Li, 555-0100" },
    ]);
    expect(at("records.0.node.id")).toBe(at("stored.node_id"));
    expect(at("receipt")).toMatchObject({
      request_id: at("answer.metrics.request_id"),
      query: "What is Biscuit afraid of?",
      scopes: ["personal", "project"],
    });
    expect(at("cited")).toMatchObject({
      cited_node_ids: [at("stored.node_id")],
      receipt_checksum: at("receipt.checksum"),
      method: "application_verified",
    });
    expect(at("citations")).toEqual([at("cited")]);
    expect(at("noCitations")).toEqual([]);
    expect(at("citation")).toEqual(at("cited"));
  });

  test("pages are followed to the end", () => {
    expect(at("facts")).toMatchObject({ count: 1, nodes: [{ id: at("stored.node_id") }] });
    // One stored, one ingested, two admitted; one memory a page.
    expect(at("pages")).toBe(4);
    const ids = (at("scanned") as { readonly id: string }[]).map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort());
    expect(at("none")).toMatchObject({ nodes: [], has_more: false, next_cursor: null });
  });

  test("memories are promoted, reinforced with and without a body, evaluated and archived", () => {
    expect(at("promoted.lifecycle_state")).toBe("stable");
    expect(at("reinforced.reinforcement_boost")).toBeCloseTo(0.15, 6);
    expect(at("withEvidence.reinforcement_boost")).toBeCloseTo(0.3, 6);
    expect(at("withEvidence.evidence_refs")).toEqual([
      at("stored.event_id"),
      at("ingested.event_id"),
    ]);
    expect(at("evaluated.metadata")).toMatchObject({
      condition_state: "true",
      condition_evaluation_method: "tool",
      condition_evaluation_reason: "wind 3",
      condition_evaluated_at: "2026-03-01T10:00:00.000000Z",
    });
    expect(at("archived.lifecycle_state")).toBe("archived");
    expect(at("restored.lifecycle_state")).toBe("tentative");
  });

  test("a memory replaces another, two contradict each other, and one of them wins", () => {
    const { oslo, rome, lima } = at("ids") as Readonly<Record<"oslo" | "rome" | "lima", string>>;
    expect(at("superseded.nodes")).toMatchObject([
      { id: oslo, lifecycle_state: "superseded", superseded_by: rome },
      { id: rome, lifecycle_state: "tentative" },
    ]);
    expect(at("contradicted.nodes")).toMatchObject([
      { id: rome, lifecycle_state: "contested" },
      { id: lima, lifecycle_state: "contested" },
    ]);
    expect(at("resolved.nodes")).toMatchObject([
      { id: rome, lifecycle_state: "stable" },
      { id: lima, lifecycle_state: "deprecated" },
    ]);
    expect(at("around.nodes")).toMatchObject([{ id: rome }]);
    expect(at("forward.nodes")).toMatchObject([{ id: rome }]);
    expect(at("backward.nodes")).toMatchObject([{ id: oslo }]);
    expect(at("provenance")).toMatchObject({
      node: { id: rome },
      evidence_events: [{ content: "Ada lives in Rome." }],
      missing_evidence_refs: [],
      operations: [{ op_type: "CONTRADICTION_NOTED" }],
      contradiction_edges: [{ edge_type: "contradicts" }],
    });
    expect(at("rest.operations")).not.toEqual([]);
    expect(at("rest.next_operation_cursor")).toBeNull();
  });

  test("claims are counted, amounts summed, and the state of a claim told", () => {
    expect(at("contested")).toMatchObject({ status: "contested", historical_coverage: null });
    expect(at("settled")).toMatchObject({
      status: "single",
      current_values: [{ object: "Rome" }],
      historical_coverage: { exact_snapshot: false },
    });
    expect(at("claims.groups")).toMatchObject([
      { values: { subject: "Ada", object: "Rome" }, occurrence_count: 1 },
    ]);
    expect(at("everything.matched_records")).toBe(3);
    const sum = { total: "19.75", minimum: "7.25", maximum: "12.50", value_count: 2 };
    expect(at("amounts.groups")).toMatchObject([{ ...sum, values: { unit: "euros" } }]);
    expect(at("spent")).toMatchObject({
      plan: { status: "ready", action: "spend" },
      aggregation: { groups: [sum] },
    });
    expect(at("unclear")).toMatchObject({
      plan: { status: "unsupported", query: null, action: null },
      aggregation: null,
    });
    // Stored or ingested: 1 + 1 + 2 + 1 + 3 + 2; archived, superseded and deprecated ones are not active.
    expect(at("stats")).toMatchObject({ event_count: 10, node_count: 7, backend: "sqlite" });
  });

  test("a refusal comes back as its declared type, with its reason", () => {
    const nobody = "00000000-0000-4000-8000-00000000dead";
    expect(at("refusals")).toEqual({
      missing: { status: 404, detail: `Node '${nobody}' not found` },
      foreign: {
        status: 403,
        detail: 'user_id: "bob" is not the owner of this connection; leave user_id out',
      },
      malformed: { status: 422, detail: 'node_id: "x" is not a UUID' },
      reused: {
        status: 409,
        detail:
          "request_id 11111111-2222-4333-8444-555555555555 was used before with different inputs; use a new one",
      },
      operators: Array.from({ length: 2 }, () => ({
        status: 403,
        detail: "This is for operators; the key belongs to one owner",
      })),
    });
    const id = at("stored.event_id");
    expect(at("extraction")).toEqual({
      status: 404,
      detail: `Extraction of event '${id}' not found`,
    });
    expect(at("extractionStatus")).toEqual({
      status: 404,
      detail: `Extraction status of event '${id}' not found`,
    });
    expect(at("unretried.status")).toBe(404);
    expect(at("noPicture")).toEqual({ status: 404, detail: "Blob 'frames/0a.jpg' not found" });
    expect(at("extracted")).toEqual({ processed: 0, pending: 0, failed: 0 });
  });
});
