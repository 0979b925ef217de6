/** The official suite of the protocol against the built program: SVC_EXE, else dist/svc, else src/main.ts under Bun. */
import { expect, test } from "bun:test";
import { runConformance } from "../../scripts/conformance/run.ts";

test("the server passes every scenario of the conformance suite that applies, in both eras", async () => {
  const results = await runConformance();
  expect(results.flatMap(({ problems }) => problems)).toEqual([]);
  expect(results.map(({ revision, applied }) => [revision, applied.length])).toEqual([
    ["2025-11-25", 6],
    ["2026-07-28", 11],
  ]);
}, 180_000);
