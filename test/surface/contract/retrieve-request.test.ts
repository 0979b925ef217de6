import { expect, test } from "bun:test";
import {
  flattenFilters,
  retrieveBodySchema,
  toRetrieveInput,
} from "../../../src/surface/contract/retrieve-request.ts";
import { parseWire } from "../../../src/surface/contract/wire-issues.ts";

const read = (body: object) =>
  toRetrieveInput(
    flattenFilters(parseWire(retrieveBodySchema, { query: "q", ...body }, "body")),
    "ada",
    undefined,
  );

test("filters may be nested or flat", () => {
  const filters = { scope: ["project"], source_types: [], time_from: "2026-01-01T00:00:00Z" };
  expect(read({ filters })).toEqual(read(filters));
  expect(read({ filters })).toMatchObject({ scope: ["project"], sourceTypes: [] });
});

test("a filter given twice must be the same", () => {
  expect(read({ scope: "agent", filters: { scope: "agent" } }).scope).toBe("agent");
  expect(() => read({ scope: "agent", filters: { scope: "project" } })).toThrow(
    "filters.scope: differs from scope beside it",
  );
});

test("mode is another name of retrieval_mode", () => {
  expect(read({}).retrievalMode).toBeUndefined();
  expect(read({ mode: "explicit" }).retrievalMode).toBe("explicit");
  expect(read({ mode: "explicit", retrieval_mode: "explicit" }).retrievalMode).toBe("explicit");
  expect(() => read({ mode: "explicit", retrieval_mode: "default" })).toThrow(
    'mode: "explicit" differs from retrieval_mode "default"',
  );
});

test("unknown keys are refused inside the filters too", () => {
  expect(() => read({ filters: { colour: 1 } })).toThrow("filters.colour: is not a known key");
});
