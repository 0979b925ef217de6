/** The OpenAPI document as another well-known generator reads it: what has a default may be left out. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { exampleOf, type Schemas } from "../../../src/surface/http/docs-page.ts";
import { type ApiOperation, DOCUMENT } from "./fuzz/document.ts";

// A generator and type checks, each a process of its own.
setDefaultTimeout(120_000);

const ROOT = resolve(import.meta.dir, "../../..");
const GENERATOR = join(ROOT, "node_modules/openapi-typescript/bin/cli.js");
const COMPILER = join(ROOT, "node_modules/typescript-native/bin/tsc");
const OPTIONS = ["--strict", "--noEmit", "--exactOptionalPropertyTypes", "--skipLibCheck", "false"];

/** What an operation is called with, by the generated types. */
const PRELUDE = `import type { operations } from "./types";
type Given<K extends keyof operations> = Pick<operations[K], "parameters" | "requestBody">;
declare function call<K extends keyof operations>(name: K, given: Given<K>): void;
`;

const folder = mkdtempSync(join(tmpdir(), "svc-types-"));

function run(...args: readonly string[]): {
  readonly code: number;
  readonly output: string;
} {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], { cwd: folder });
  return { code: exitCode, output: `${stdout}${stderr}`.trim() };
}

/** A call with what the document requires and nothing else. */
function minimalCall(operation: ApiOperation, schemas: Schemas): string {
  const { id, parameters, body, takesFile } = operation;
  const given = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((parameter) => parameter.in === place && parameter.required)
        .map(({ name, schema }) => [name, exampleOf(schema, schemas)]),
    );
  const path = given("path");
  const query = given("query");
  const parts = {
    parameters: {
      ...(Object.keys(path).length > 0 && { path }),
      ...(Object.keys(query).length > 0 && { query }),
    },
    ...(takesFile && { requestBody: { content: { "application/octet-stream": "" } } }),
    ...(body?.required && {
      requestBody: {
        content: { "application/json": exampleOf(body.schema, schemas) },
      },
    }),
  };
  return `call(${JSON.stringify(id)}, ${JSON.stringify(parts)});\n`;
}

/** Without examples, which would stand in calls where nothing is required. */
function withoutExamples(schemas: Schemas): Schemas {
  return JSON.parse(JSON.stringify(schemas), (name, value) =>
    name === "examples" && Array.isArray(value) ? undefined : value,
  );
}

/** What the compiler says to a minimal call of every operation. */
function compile(document: object): ReturnType<typeof run> {
  writeFileSync(join(folder, "openapi.json"), JSON.stringify(document));
  expect(run(GENERATOR, "openapi.json", "--output", "types.ts")).toMatchObject({
    code: 0,
  });
  const schemas = withoutExamples(DOCUMENT.schemas);
  const calls = DOCUMENT.operations.map((operation) => minimalCall(operation, schemas));
  writeFileSync(join(folder, "calls.ts"), PRELUDE + calls.join(""));
  return run(COMPILER, ...OPTIONS, "calls.ts");
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every operation can be called with what it requires and nothing else", () => {
  expect(compile(DOCUMENT.raw)).toEqual({ code: 0, output: "" });
});
