import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createMeter, exceeded, readBudgets, type SizeBudget } from "../../scripts/check/sizes.ts";

const ROOT = join(import.meta.dir, "../..");
const place = mkdtempSync(join(tmpdir(), "svc-sizes-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

for (const [path, content] of Object.entries({
  "src/main.ts": "1\n2\n",
  "src/lib/a.ts": "1\n2\n3\n",
  "src/lib/deep/b.tsx": "1\n",
  "src/lib/note.md": "1\n2\n",
  "src/page/client/written.ts": "1\n2\n3\n4\n",
  "test/sample.pack": "SQLite\0format",
  "test/sample.txt": "text",
})) {
  mkdirSync(dirname(join(place, path)), { recursive: true });
  writeFileSync(join(place, path), content);
}

const budget = (given: Partial<SizeBudget>): SizeBudget => ({
  ...{ name: "part", unit: "lines", of: ["src"], max: 0, target: 0 },
  ...given,
});

test.each([
  { name: "lines of all of src, without what the build writes", given: {}, size: 6 },
  { name: "what stands in a folder but not below", given: { of: ["src/*"] }, size: 2 },
  {
    name: "a folder without a part",
    given: { of: ["src/lib"], without: ["src/lib/deep"] },
    size: 3,
  },
  { name: "files", given: { unit: "files" }, size: 3 },
  { name: "bytes of binary files", given: { unit: "bytes", of: ["test"] }, size: 13 },
] as const)("a budget of $name is kept up to its size and exceeded above it", ({ given, size }) => {
  expect(exceeded(place, [budget({ ...given, max: size })])).toEqual([]);
  const [finding, ...more] = exceeded(place, [budget({ ...given, max: size - 1 })]);
  expect(more).toEqual([]);
  expect(finding).toStartWith(`part: ${size} `);
  expect(finding).toEndWith(
    "who raises it in scripts/config/sizes.json says in the commit what was tried first",
  );
});

test("the budgets count each line of src in one part", () => {
  const sizeOf = createMeter(ROOT);
  const parts = readBudgets(ROOT).filter(
    ({ unit, of }) => unit === "lines" && of.every((folder) => folder.startsWith("src/")),
  );
  const sum = parts.reduce((total, part) => total + sizeOf(part), 0);
  expect(sum).toBe(sizeOf({ unit: "lines", of: ["src"] }));
});
