import { describe, expect, test } from "bun:test";
import { hostsIn } from "../../scripts/check/steps.ts";
import { addTallies, closingLine, readTally } from "../../scripts/check/tally.ts";

const ESC = String.fromCharCode(27);

describe("readTally", () => {
  test.each([
    {
      name: "a full summary",
      output:
        "(pass) a\n\n 3 pass\n 1 skip\n 1 todo\n 0 fail\n 3 expect() calls\nRan 5 tests across 1 file. [5.00ms]\n",
      exitCode: 0,
      tally: { passed: 3, failed: 0, skipped: 2 },
    },
    {
      name: "a summary in colours",
      output: `${ESC}[0m${ESC}[32m 12 pass${ESC}[0m\n${ESC}[0m${ESC}[31m 2 fail${ESC}[0m\n`,
      exitCode: 1,
      tally: { passed: 12, failed: 2, skipped: 0 },
    },
    {
      name: "a summary without the leading blank",
      output: "...\n3 pass\n0 fail\n",
      exitCode: 0,
      tally: { passed: 3, failed: 0, skipped: 0 },
    },
    {
      name: "a summary that a test imitated before",
      output: " 99 pass\n 7 fail\n 3 pass\n 0 fail\n",
      exitCode: 0,
      tally: { passed: 3, failed: 0, skipped: 0 },
    },
    {
      name: "an error outside of any test",
      output: " 3 pass\n 0 fail\n 1 error\n",
      exitCode: 1,
      tally: { passed: 3, failed: 1, skipped: 0 },
    },
    {
      name: "several errors",
      output: " 3 pass\n 1 fail\n 2 errors\n",
      exitCode: 1,
      tally: { passed: 3, failed: 3, skipped: 0 },
    },
    {
      name: "a crash",
      output: "panic: segmentation fault\n",
      exitCode: 132,
      tally: { passed: 0, failed: 1, skipped: 0 },
    },
    {
      name: "a kill",
      output: "(pass) a\n",
      exitCode: undefined,
      tally: { passed: 0, failed: 1, skipped: 0 },
    },
    {
      name: "a bad exit after passes",
      output: " 3 pass\n 0 fail\n",
      exitCode: 1,
      tally: { passed: 3, failed: 1, skipped: 0 },
    },
    { name: "no test", output: "", exitCode: 0, tally: { passed: 0, failed: 1, skipped: 0 } },
    {
      name: "skipped tests only",
      output: " 0 pass\n 4 skip\n 0 fail\n",
      exitCode: 0,
      tally: { passed: 0, failed: 1, skipped: 4 },
    },
  ])("reads $name", ({ output, exitCode, tally }) => {
    expect(readTally(output, exitCode)).toEqual(tally);
  });
});

test("the closing line holds the three sums", () => {
  const sum = addTallies(
    { passed: 1, failed: 2, skipped: 3 },
    { passed: 10, failed: 20, skipped: 30 },
  );
  expect(closingLine(sum)).toBe("11 passed, 22 failed, 33 skipped");
});

test("hostsIn points at the lines of a lockfile that name a host", () => {
  const lines = [
    '"a": ["a@1.0.0", "", {}, "sha512-x"],',
    '"b": ["b@1.0.0", "http://localhost:1/b.tgz"],',
  ];
  expect(hostsIn(lines.join("\n"))).toEqual([`bun.lock:2 names a host: ${lines[1]}`]);
  expect(hostsIn(lines[0]!)).toEqual([]);
});
