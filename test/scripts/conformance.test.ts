import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NOT_APPLICABLE, REASONS } from "../../scripts/conformance/not-applicable.ts";
import { judge } from "../../scripts/conformance/run.ts";

type Checks = Parameters<typeof judge>[1] extends ReadonlyMap<string, infer Value> ? Value : never;

const SUCCESS: Checks = [{ id: "a", status: "SUCCESS" }];
const FAILURE: Checks = [{ id: "b", status: "FAILURE", errorMessage: "no such tool" }];

const judged = (scenarios: Readonly<Record<string, Checks>>, listed: readonly string[] = []) =>
  judge(
    "2025-11-25",
    new Map(Object.entries(scenarios)),
    listed.map((name) => ({ name, reason: "fixture" })),
  );

describe("a scenario that is not on the list", () => {
  test("counts when it passes", () => {
    expect(judged({ ping: SUCCESS })).toEqual({
      revision: "2025-11-25",
      applied: ["ping"],
      passed: 1,
      problems: [],
    });
  });

  test("is a problem when a check fails", () => {
    expect(judged({ ping: [...SUCCESS, ...FAILURE] }).problems).toEqual([
      "ping:b fails: no such tool",
    ]);
  });

  test("is a problem when it says nothing", () => {
    expect(judged({ ping: [{ id: "a", status: "SKIPPED" }] }).problems).toEqual([
      "ping says nothing; list it with the reason",
    ]);
  });
});

describe("a scenario that is on the list", () => {
  test("is excused, and does not count", () => {
    expect(judged({ image: [...SUCCESS, ...FAILURE] }, ["image"])).toMatchObject({
      applied: [],
      passed: 0,
      problems: [],
    });
  });

  test.each([
    ["passes", { image: SUCCESS }],
    ["does not exist", {}],
  ])("is a problem when it %s", (_, scenarios) => {
    expect(judged(scenarios, ["image"]).problems).toEqual([
      "image is listed, and passes or does not exist; take it off the list",
    ]);
  });

  test("is a problem when a message of the server does not fit the schema", () => {
    const wire: Checks = [
      { id: "wire-schema-valid", status: "FAILURE", errorMessage: "no resultType" },
    ];
    expect(judged({ image: [...FAILURE, ...wire] }, ["image"]).problems).toEqual([
      "image:wire-schema-valid fails: no resultType",
    ]);
  });
});

test("a single check is excused by its name, and no other one", () => {
  const other: Checks = [{ id: "c", status: "FAILURE", errorMessage: "status 500" }];
  expect(judged({ state: [...SUCCESS, ...FAILURE, ...other] }, ["state:b"])).toMatchObject({
    applied: ["state"],
    passed: 1,
    problems: ["state:c fails: status 500"],
  });
});

test("docs/mcp.md names every scenario that does not apply, with its reason", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/mcp.md"), "utf8");
  const rows = page.split("\n").filter((row) => row.startsWith("| "));
  for (const [revision, entries] of Object.entries(NOT_APPLICABLE)) {
    for (const { name, reason } of entries) {
      const said = rows.filter(
        (row) =>
          row.includes(`\`${name}\``) && row.includes(revision) && row.includes(REASONS[reason]),
      );
      expect([name, said.length]).toEqual([name, 1]);
    }
  }
});
