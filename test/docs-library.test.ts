import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectedOutput, libraryExamples } from "./library/examples.ts";

const place = mkdtempSync(join(tmpdir(), "svc-examples-"));
afterAll(() => rmSync(place, { recursive: true, force: true }));

test("the examples of docs/library.md, run one after the other, print what their comments say", () => {
  const library = join(import.meta.dir, "../src/library.ts");
  const source = libraryExamples();
  writeFileSync(
    join(place, "examples.ts"),
    source.replaceAll('from "svc"', `from ${JSON.stringify(library)}`),
  );
  const { SVC_ENCRYPTION_KEY: _, ...env } = process.env;
  const child = Bun.spawnSync([process.execPath, "examples.ts"], {
    cwd: place,
    env: { ...env, NO_COLOR: "1" },
    stdin: "ignore",
  });
  const printed = child.stdout.toString().trimEnd().split("\n");
  expect(child.stderr.toString()).toBe("");
  expect(printed).toEqual([...expectedOutput(source)]);
  expect(printed.length).toBeGreaterThan(15);
  expect(child.exitCode).toBe(0);
});
