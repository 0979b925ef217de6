/** A program without the multilingual model, as a build may be: its sources without the files of the model. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

setDefaultTimeout(120_000);

const ROOT = join(import.meta.dir, "../../..");
const MULTILINGUAL = "intfloat/multilingual-e5-small";

let desk: Desk;
beforeAll(() => {
  desk = createDesk();
  const program = join(desk.folder, "program");
  cpSync(join(ROOT, "src"), join(program, "src"), {
    recursive: true,
    filter: (path) => !path.includes("/embedding/models/intfloat"),
  });
  for (const name of ["node_modules", "package.json", "tsconfig.json"]) {
    symlinkSync(join(ROOT, name), join(program, name));
  }
});
afterAll(() => desk.remove());

async function smaller(...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, "program/src/main.ts", ...args], {
    cwd: desk.folder,
    env: { ...process.env, HOME: desk.folder, XDG_CONFIG_HOME: join(desk.folder, ".config") },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

test("a pack of a model that only this build lacks keeps it, unless a rebuild names another", async () => {
  await desk.run(["init", "notes.pack", "--plain", "--model", "multilingual"]);
  await desk.store("notes.pack", SYSTEM_USER, "Der Schlüssel liegt unter dem Blumentopf");
  const found = await smaller("search", "notes.pack", "Blumentopf", "--format", "json");
  expect(JSON.parse(found.stdout).results[0].content).toContain("Blumentopf");

  expect(await smaller("rebuild", "notes.pack")).toEqual({
    code: 1,
    stdout: "",
    stderr: `Error: this program lacks the embedding model of what is stored, ${MULTILINGUAL}: use a build that has it, or name another model with --model english\n`,
  });
  expect((await smaller("info", "notes.pack")).stdout).toContain(
    `${MULTILINGUAL} (384), which this program lacks`,
  );

  expect((await smaller("rebuild", "notes.pack", "--model", "english")).code).toBe(0);
  expect((await smaller("info", "notes.pack")).stdout).toMatch(
    /BAAI\/bge-small-en-v1\.5 \(384\)$/m,
  );
});
