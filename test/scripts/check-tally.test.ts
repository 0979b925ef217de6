import { expect, test } from "bun:test";
import { addTallies, closingLine, readPytestTally, readTally } from "../../scripts/check/tally.ts";

test.each([
  ["a full summary", " 3 pass\n 1 skip\n 1 todo\n 0 fail\nRan 5 tests. [5.00ms]\n", 0, [3, 0, 2]],
  ["one in colours", "\u001b[0m\u001b[32m 12 pass\u001b[0m\n\u001b[31m 2 fail\n", 1, [12, 2, 0]],
  ["one that a test imitated", " 99 pass\n 7 fail\n 3 pass\n 0 fail\n", 0, [3, 0, 0]],
  ["errors outside of tests", " 3 pass\n 1 fail\n 2 errors\n", 1, [3, 3, 0]],
  ["a crash", "panic: segmentation fault\n", 132, [0, 1, 0]],
  ["a kill", "(pass) a\n", undefined, [0, 1, 0]],
  ["a bad exit after passes", " 3 pass\n 0 fail\n", 1, [3, 1, 0]],
  ["skipped tests only", " 0 pass\n 4 skip\n 0 fail\n", 0, [0, 1, 4]],
] as const)("%s is read", (_, output, exitCode, [passed, failed, skipped]) => {
  expect(readTally(output, exitCode)).toEqual({ passed, failed, skipped });
});

test.each([
  ["passes and failures", "1 failed, 33 passed, 2 skipped in 31.49s\n", 1, [33, 1, 2]],
  ["passes", "types: no issues in 9 files\n34 passed in 0.30s", 0, [34, 0, 0]],
  ["a bad exit after passes", "34 passed in 0.30s", 1, [34, 1, 0]],
  ["no tests", "no tests ran in 0.01s", 0, [0, 1, 0]],
] as const)("%s of pytest are read", (_, output, exitCode, [passed, failed, skipped]) => {
  expect(readPytestTally(output, exitCode)).toEqual({ passed, failed, skipped });
});

test("the closing line holds the sums", () => {
  const tallies = [1, 10].map((n) => ({ passed: n, failed: 2 * n, skipped: 3 * n }));
  const sum = tallies.reduce(addTallies);
  expect(closingLine(sum)).toBe("11 passed, 22 failed, 33 skipped");
});
