import { expect, test } from "bun:test";
import { upgradeInWords } from "../../../../src/adapters/sqlite/schema/upgrade-progress.ts";

/** An upgrade under a clock that the test sets. */
function upgrading() {
  const lines: string[] = [];
  let now = 5000;
  const progress = upgradeInWords(
    "old.pack",
    (line) => lines.push(line),
    () => now,
  );
  return { lines, progress, wait: (ms: number) => (now += ms) };
}

test("an upgrade within a second says nothing", () => {
  const { lines, progress, wait } = upgrading();
  const told = progress.begin("documents");
  for (let done = 1; done <= 9; done += 1) {
    wait(111);
    told(done, 9);
  }
  progress.end();
  expect(lines).toEqual([]);
});

test("a longer one says at most once a second how far it is, and that it is done", () => {
  const { lines, progress, wait } = upgrading();
  progress.begin("tables");
  wait(1500);
  const told = progress.begin("documents");
  for (let done = 1; done <= 30; done += 1) {
    wait(100);
    told(done, 30);
  }
  wait(400);
  progress.end();
  const what = "old.pack: upgrading the pack from an earlier version (documents)";
  expect(lines).toEqual([
    what,
    `${what}: 10 of 30`,
    `${what}: 20 of 30`,
    `${what}: 30 of 30`,
    "old.pack: upgraded after 5 s",
  ]);
});
