/** The official suite of the protocol against the built program: SVC_EXE, else dist/svc, else src/main.ts under Bun. */
import { expect, test } from "bun:test";
import { runConformance } from "../../scripts/conformance/run.ts";

test("the server passes every scenario of the conformance suite that applies, in both eras and with both sets of tools", async () => {
  const results = await runConformance();
  expect(results.flatMap(({ problems }) => problems)).toEqual([]);
  expect(results.map(({ revision, tools, applied }) => [revision, tools, applied.length])).toEqual([
    ["2025-11-25", "full", 6],
    ["2026-07-28", "full", 11],
    ["2025-11-25", "core", 6],
    ["2026-07-28", "core", 11],
  ]);
}, 180_000);
