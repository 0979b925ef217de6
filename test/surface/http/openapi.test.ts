import { expect, test } from "bun:test";
import { OPERATIONS } from "../../../src/surface/contract/operations.ts";
import { DOCS_PAGE } from "../../../src/surface/http/docs-page.ts";
import { buildOpenApi } from "../../../src/surface/http/openapi.ts";

type Schema = Record<string, unknown>;
type Entry = {
  operationId: string;
  summary: string;
  security: unknown[];
  parameters?: { name: string; in: string; schema: Schema; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};
type Document = {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Entry>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Schema };
};

// SAFETY: the shape is what this file asserts.
const document = buildOpenApi("1.2.3") as Document;
const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, entry]) => ({ path, method, entry })),
);

test("it is OpenAPI 3.1 of this version", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info).toMatchObject({ title: "svc", version: "1.2.3" });
});

test("every route is described once, with a summary", () => {
  const routes = OPERATIONS.flatMap(({ http }) => http ?? []).map(
    (http) => `${http.method} ${http.path}`,
  );
  expect(entries.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(routes.sort());
  expect(new Set(entries.map(({ entry }) => entry.operationId)).size).toBe(entries.length);
  for (const { entry } of entries) expect(entry.summary).not.toBe("");
});

test("all routes but health name the bearer scheme", () => {
  expect(document.components.securitySchemes).toHaveProperty("bearer");
  for (const { path, entry } of entries) {
    expect(entry.security).toEqual(path === "/v1/health" ? [] : [{ bearer: [] }]);
  }
});

test("every path parameter is declared and a uuid", () => {
  for (const { path, entry } of entries) {
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
      const parameter = entry.parameters?.find((item) => item.name === name);
      expect(parameter).toMatchObject({ in: "path", required: true, schema: { format: "uuid" } });
    }
  }
});

test("the request key is a uuid header", () => {
  const parameters = document.paths["/v1/ingest/fast"]?.["post"]?.parameters;
  expect(parameters).toMatchObject([
    { name: "Idempotency-Key", in: "header", schema: { format: "uuid" } },
  ]);
});

test("reports about answers name their refusals, receipts their absence", () => {
  const statuses = (path: string, method: string) =>
    Object.keys(document.paths[path]?.[method]?.responses ?? {});
  expect(statuses("/v1/answer-citations", "post")).toEqual(
    expect.arrayContaining(["400", "404", "409", "413", "422"]),
  );
  expect(statuses("/v1/retrievals/{request_id}", "get")).toContain("404");
  expect(statuses("/v1/answer-citations/{citation_id}", "get")).toContain("404");
});

test("numbers of a retrieval have their bounds", () => {
  const { RetrieveRequest, RankingMultipliers } = document.components.schemas;
  expect(RetrieveRequest).toMatchObject({
    properties: { max_per_source: { minimum: 1 }, limit: { minimum: 0 } },
  });
  expect(RankingMultipliers).toMatchObject({
    additionalProperties: false,
    properties: { graph: { minimum: 0.25, maximum: 4 } },
  });
});

test("bodies are closed and every reference leads somewhere", () => {
  const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/(\w+)"/g);
  for (const [, name] of references) expect(document.components.schemas).toHaveProperty(name ?? "");
  for (const { entry } of entries) {
    const schema = entry.requestBody?.content["application/json"]?.schema;
    if (schema === undefined) continue;
    const name = String(schema["$ref"]).split("/").pop() ?? "";
    expect(document.components.schemas[name]).toMatchObject({ additionalProperties: false });
  }
});

test("moments are date-time and errors hold a detail", () => {
  const store = document.components.schemas["StoreRequest"];
  expect(store).toMatchObject({ properties: { valid_from: { format: "date-time" } } });
  expect(document.components.schemas["Error"]).toMatchObject({ required: ["detail"] });
  for (const { path, entry } of entries) {
    if (path === "/v1/health") continue;
    for (const status of ["401", "403", "422", "500", "503"]) {
      expect(entry.responses).toHaveProperty(status);
    }
  }
});

test("the page asks no other server for anything", () => {
  expect(DOCS_PAGE).not.toMatch(/https?:\/\//);
  expect(DOCS_PAGE).not.toContain("src=");
});
