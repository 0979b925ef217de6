import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EXAMPLE_MODEL, examplesOf, expectedOutput } from "./library/examples.ts";

// Each test starts a program that opens packs.
setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "..");
let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "svc-examples-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

test.each([
  { page: "README.md", least: 1 },
  { page: "docs/library.md", least: 16 },
  { page: "docs/frameworks.md", least: 9 },
])(
  "the examples of $page, run one after the other, print what their comments say",
  ({ page, least }) => {
    const source = examplesOf(page);
    symlinkSync(join(ROOT, "node_modules"), join(place, "node_modules"));
    writeFileSync(join(place, "model.ts"), EXAMPLE_MODEL);
    writeFileSync(
      join(place, "examples.ts"),
      source
        .replaceAll('from "svc"', `from ${JSON.stringify(join(ROOT, "src/library.ts"))}`)
        .replaceAll(/from "svc-client\/([\w-]+)"/g, `from "${ROOT}/clients/js/src/$1.ts"`),
    );
    const { SVC_ENCRYPTION_KEY: _, ...env } = process.env;
    const child = Bun.spawnSync([process.execPath, "examples.ts"], {
      cwd: place,
      // Keys are kept there.
      env: { ...env, NO_COLOR: "1", HOME: place, XDG_CONFIG_HOME: place },
      stdin: "ignore",
    });
    const printed = child.stdout.toString().trimEnd().split("\n");
    expect(child.stderr.toString()).toBe("");
    expect(printed).toEqual([...expectedOutput(source)]);
    expect(printed.length).toBeGreaterThanOrEqual(least);
    expect(child.exitCode).toBe(0);
  },
);
