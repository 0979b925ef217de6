/** The OpenAPI document as its users need it: a well-known generator makes a client of it, and that client does everything. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type ServerProcess, startServer } from "../../../scripts/bench/server.ts";
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
