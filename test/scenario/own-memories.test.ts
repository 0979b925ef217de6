import { expect, setDefaultTimeout, test } from "bun:test";
import { resolve } from "node:path";
import { usePlace } from "./place.ts";

/** The built program; the checks build it before they run the tests. */
const EXECUTABLE = resolve(process.env["SVC_EXE"] ?? "dist/svc");

// Processes are started that load the model.
setDefaultTimeout(120_000);

const place = usePlace("memories");

async function svc(...args: readonly string[]) {
  const child = Bun.spawn([EXECUTABLE, ...args], {
    cwd: place.root,
    env: {
      PATH: process.env["PATH"] ?? "",
      XDG_CONFIG_HOME: place.root,
      SVC_KEY_STORE: "file",
      ...place.environment(),
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { stdout, stderr, code };
}

test("a person lists memories, corrects one, retires one, and reads why the rest was found", async () => {
  await svc("init", "memory.pack", "--owner", "anna");
  const stored = await svc("store", "memory.pack", "Anna prefers tea", "--type", "preference");
  const [, old = ""] = /Stored as preference (\S+)/.exec(stored.stdout) ?? [];
  await svc("store", "memory.pack", "The spare key lies under the flower pot");

  const listed = await svc("list", "memory.pack");
  expect(listed.stdout).toMatch(
    new RegExp(`^MEMORY .*\nThe spare key lies.*\nAnna prefers tea +preference .* ${old}\n$`),
  );
  const edited = await svc("edit", "memory.pack", old, "Anna prefers coffee");
  const [, fresh = ""] = /^Stored as preference (\S+), which replaces/.exec(edited.stdout) ?? [];
  expect((await svc("show", "memory.pack", old)).stdout).toMatch(
    new RegExp(`Replaced by +\\S+${fresh}`),
  );

  const key = await svc("search", "memory.pack", "where is the key?", "--format", "json");
  const id: string = JSON.parse(key.stdout).results[0].node_id;
  expect(await svc("archive", "memory.pack", id, "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Archived note ${id.slice(-6)}`),
  });
  const found = await svc("search", "memory.pack", "what does Anna drink?");
  const [, request = ""] = /svc explain (\S+)/.exec(found.stderr) ?? [];
  const { stdout } = await svc("explain", request, "--db-path", "memory.pack");
  expect(stdout).toContain('"Anna prefers coffee"');
  expect(stdout).not.toContain("Anna prefers tea");
  expect(stdout).not.toContain("spare key");
});
