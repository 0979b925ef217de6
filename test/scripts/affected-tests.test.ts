import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { affectedTests, changedFiles } from "../../scripts/check/affected-tests.ts";
import { type Lacking, leftOut } from "../left-out.ts";

const root = mkdtempSync(join(tmpdir(), "svc-affected-"));
afterAll(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=ada", "-c", "user.email=ada@example.org"];
  const { success, stderr } = Bun.spawnSync(["git", ...identity, ...args], { cwd: root });
  if (!success) throw new Error(stderr.toString());
}

write("scripts/tool.ts", "export {};\n");
write("src/lib/text.ts", "export const text = 1;\n");
write("src/domain/node.ts", 'export { text } from "../lib/text.ts";\n');
write(
  "src/domain/kind.ts",
  'import type { Text } from "../lib/text.ts";\nexport const kind = 1;\n',
);
write("src/engine/lazy.ts", 'export const load = () => import("../domain/node.ts");\n');
for (const [path, to] of [
  ["lib/text", "../../src/lib/text.ts"],
  ["domain/kind", "../../src/domain/kind.ts"],
  ["domain/node", "../../src/domain/node.ts"],
  ["domain/other", "../../src/domain/node.ts"],
  ["engine/lazy", "../../src/engine/lazy.ts"],
  ["fault/kill", "../../src/lib/text.ts"],
]) {
  write(`test/${path}.test.ts`, `import "${to}";\n`);
}

const find = (changed: readonly string[], budgetMs = 60_000) =>
  affectedTests({
    root,
    changed,
    timings: { "test/domain/node.test.ts": 900, "test/domain/other.test.ts": 100 },
    budgetMs,
  });

describe("the tests of a change", () => {
  test("are those that load a changed file, the nearest first, of these the fastest; kills wait for the whole check", () => {
    expect(find(["src/lib/text.ts"])).toEqual({
      run: [
        "test/lib/text.test.ts",
        "test/domain/other.test.ts",
        "test/domain/node.test.ts",
        "test/engine/lazy.test.ts",
      ],
      leftOut: [],
    });
  });

  test("are named when there is no time for them; the nearest runs in any case", () => {
    expect(find(["src/domain/node.ts"], 150)).toEqual({
      run: ["test/domain/node.test.ts"],
      leftOut: ["test/domain/other.test.ts", "test/engine/lazy.test.ts"],
    });
  });

  test("are the changed tests themselves, those of kills too", () => {
    expect(find(["test/fault/kill.test.ts"]).run).toEqual(["test/fault/kill.test.ts"]);
    expect(find(["README.md"])).toEqual({ run: [], leftOut: [] });
  });
});

const GIT: Lacking = Bun.which("git") === null ? "it takes git" : undefined;

test.skipIf(GIT !== undefined)(
  `a change is what differs from main, committed or not, and what git does not know; nothing that is gone${leftOut(GIT)}`,
  () => {
    git("init", "--quiet", "--initial-branch=main");
    git("add", "src", "test");
    git("commit", "--quiet", "--message=all");
    expect(changedFiles(root)).toEqual(["scripts/tool.ts"]);
    git("switch", "--quiet", "--create=mine");
    write("src/lib/text.ts", "export const text = 2;\n");
    git("commit", "--quiet", "--all", "--message=text");
    write("src/domain/node.ts", "export {};\n");
    rmSync(join(root, "src/domain/kind.ts"));
    expect([...changedFiles(root)].sort()).toEqual([
      "scripts/tool.ts",
      "src/domain/node.ts",
      "src/lib/text.ts",
    ]);
  },
);
