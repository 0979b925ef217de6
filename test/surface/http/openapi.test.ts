import { expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ERROR_CATALOGUE } from "../../../src/domain/errors.ts";
import { OPERATIONS } from "../../../src/surface/contract/core/operations.ts";
import { buildOpenApi } from "../../../src/surface/http/openapi.ts";
import { REFUSAL_CODES } from "../../../src/surface/listener/answers.ts";

type Schema = Record<string, unknown>;
type Entry = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security: unknown[];
  parameters?: { name: string; in: string; schema: Schema; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};
type Document = {
  openapi: string;
  info: { title: string; version: string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Entry>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Schema };
};

// SAFETY: the shape is what this file asserts.
const document = buildOpenApi("1.2.3") as Document;
const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, entry]) => ({ path, method, entry })),
);
test("it is valid by the schema of OpenAPI 3.1", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});
test("every route is described once, with a summary", () => {
  const routes = OPERATIONS.flatMap(({ http }) => http ?? []).map(
    (http) => `${http.method} ${http.path}`,
  );
  expect(entries.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort());
  expect(new Set(entries.map(({ entry }) => entry.operationId)).size).toBe(entries.length);
  for (const { entry } of entries) {
    expect(entry.summary).not.toBe("");
    expect(entry.description).not.toBe("");
  }
});

test("every route stands in one group, and every group says what it is for", () => {
  const groups = document.tags.map(({ name }) => name);
  expect(document.tags.filter(({ description }) => description.length < 10)).toEqual([]);
  for (const { entry } of entries) {
    expect(entry.tags).toHaveLength(1);
    expect(groups).toContain(entry.tags[0] ?? "");
  }
  const used = new Set(entries.flatMap(({ entry }) => entry.tags));
  expect(groups.filter((group) => !used.has(group))).toEqual([]);
});

test("every failure has a body with a detail and a code", () => {
  const CODE = "#/components/schemas/ErrorCode";
  expect(document.components.schemas["ErrorCode"]?.["enum"]).toEqual([
    ...Object.keys(ERROR_CATALOGUE),
    ...REFUSAL_CODES,
  ]);
  for (const { path, entry } of entries) {
    const failures = Object.entries(entry.responses).filter(([status]) => status !== "200");
    for (const [, { content }] of failures) {
      const name = String(content?.["application/json"]?.schema["$ref"]).split("/").pop() ?? "";
      expect(document.components.schemas[name]).toMatchObject({
        required: ["detail", "code"],
        properties: { detail: { type: "string" }, code: { $ref: CODE } },
        additionalProperties: false,
      });
    }
    expect(failures.map(([status]) => status)).toContain("default");
    const isLarge = entry.requestBody?.content["application/json"] !== undefined;
    expect(`${path} ${"413" in entry.responses}`).toBe(`${path} ${isLarge}`);
  }
});

test("what looks like an identifier or a moment has its format", () => {
  const odd = Object.entries(document.components.schemas).flatMap(([schema, { properties }]) =>
    Object.entries((properties ?? {}) as Record<string, Schema>)
      .filter(([name]) => /(^|_)(node|event|request|citation|evidence)_id$|_at$/.test(name))
      .filter(([, field]) => !/"format":"(uuid|date-time)"/.test(JSON.stringify(field)))
      .map(([name]) => `${schema}.${name}`),
  );
  expect(odd).toEqual([]);
});

test("all routes but health name the bearer scheme", () => {
  expect(document.components.securitySchemes).toHaveProperty("bearer");
  for (const { path, entry } of entries) {
    expect(entry.security).toEqual(path === "/v1/health" ? [] : [{ bearer: [] }]);
  }
});

test("every path parameter is declared and a uuid, or the key of a picture", () => {
  for (const { path, entry } of entries) {
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
      const parameter = entry.parameters?.find((item) => item.name === name);
      const schema = name === "blob_key" ? { maxLength: 256 } : { format: "uuid" };
      expect(parameter).toMatchObject({ in: "path", required: true, schema });
    }
  }
});
test("every body has an example that its schema allows", () => {
  for (const { name, http } of OPERATIONS) {
    if (http?.request.body === undefined) continue;
    const { content } = document.paths[http.path]?.[http.method]?.requestBody ?? {};
    const parsed = http.request.body.safeParse(content?.["application/json"]?.example);
    expect([name, parsed.success]).toEqual([name, true]);
  }
});
test("bodies say their defaults without `default`, of which generators make required fields", () => {
  const { components } = document;
  expect(JSON.stringify(components)).not.toContain('"default":');
  const { ProcessRequest, StoreRequest } = components.schemas;
  expect(ProcessRequest).toMatchObject({
    properties: {
      budget_ms: {
        description: "Milliseconds to spend; 0 only counts. Default 1000.",
        "x-default": 1000,
      },
    },
  });
  expect(JSON.stringify(StoreRequest)).not.toContain("deprecated");
});
/** Bodies whose unknown keys are ignored. */
const OPEN: ReadonlySet<string> = new Set(["OrganizeRequest", "ProcessExtractionsRequest"]);

test("bodies are closed and every reference leads somewhere", () => {
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name ?? "");
  for (const { entry } of entries) {
    const schema = entry.requestBody?.content["application/json"]?.schema;
    if (schema === undefined) continue;
    const name = String(schema["$ref"]).split("/").pop() ?? "";
    const isClosed = document.components.schemas[name]?.["additionalProperties"] === false;
    expect([name, isClosed]).toEqual([name, !OPEN.has(name)]);
  }
});
