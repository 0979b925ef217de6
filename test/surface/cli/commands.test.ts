import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { COMMAND_NAMES } from "../../../src/surface/cli/program.ts";
import { createDesk, createWordDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

const KEY = "The spare key lies under the blue flower pot";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  await desk.run(["init"]);
});
afterAll(() => desk.remove());

describe("help and version", () => {
  test("prints the version alone", async () => {
    const outcome = await desk.run(["--version"]);
    expect(outcome).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: "" });
  });

  test("says with --verbose what it is made of, for a report of a fault", async () => {
    const { code, stdout } = await desk.run(["--version", "--verbose"]);
    expect(code).toBe(0);
    const [first, ...others] = stdout.trim().split("\n");
    expect(first).toBe(`svc ${manifest.version}`);
    const names = ["Platform", "Build", "SQLite", "Native parts", "Models"];
    expect(others.map((line) => line.slice(0, 14).trim())).toEqual(names);
    expect(stdout).toContain(`${process.platform}-${process.arch}, kernel `);
    expect(stdout).toContain("BAAI/bge-small-en-v1.5");
  });

  test("lists every command", async () => {
    const { code, stdout } = await desk.run(["--help"]);
    expect(code).toBe(0);
    for (const name of COMMAND_NAMES) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "m"));
  });

  test("shows help and refuses when no command is given", async () => {
    const { code, stdout } = await desk.run([]);
    expect(code).toBe(2);
    expect(stdout).toContain("Usage: svc");
  });

  test("every command explains itself with examples", async () => {
    // One process for all: each of its own would load the whole program again.
    const source = join(import.meta.dir, "../../../src/surface/cli/program.ts");
    const program = `
      const { COMMAND_NAMES, runCli } = await import(${JSON.stringify(source)});
      for (const name of COMMAND_NAMES) {
        console.log("#####" + name);
        console.log("\\nexit code " + (await runCli([name, "--help"], {})));
      }`;
    const child = Bun.spawn([process.execPath, "--no-env-file", "-e", program], {
      cwd: desk.folder,
      stdout: "pipe",
      stderr: "pipe",
    });
    const [said, complaints] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([await child.exited, complaints]).toEqual([0, ""]);
    const helps = said.split("#####").slice(1);
    expect(helps).toHaveLength(COMMAND_NAMES.length);
    for (const [index, name] of COMMAND_NAMES.entries()) {
      for (const part of [`${name}\n`, `Usage: svc ${name}`, "Examples:", "exit code 0"]) {
        expect([name, helps[index]]).toEqual([name, expect.stringContaining(part)]);
      }
    }
  });
});

describe("init", () => {
  test("prints what to paste, and repeats itself without changing the pack", async () => {
    const path = join(desk.folder, "memory.pack");
    const before = await Bun.file(path).bytes();
    // The folder of the keys is told where it is not the usual one of this home.
    const env = { HOME: join(desk.folder, "another") };
    const { code, stdout } = await desk.run(["init"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain(
      `claude mcp add --env XDG_CONFIG_HOME=${join(desk.folder, ".config")} --scope user memory -- `,
    );
    expect(await Bun.file(path).bytes()).toEqual(before);
    const json: unknown = JSON.parse(
      stdout.slice(stdout.indexOf("{"), stdout.lastIndexOf("}") + 1),
    );
    expect(json).toMatchObject({
      mcpServers: { memory: { args: expect.arrayContaining(["mcp", "--db-path", path]) } },
    });
  });
});

describe("store and search", () => {
  test("find again what was stored, in other words", async () => {
    const stored = await desk.run(["store", "memory.pack", ...KEY.split(" "), "--format", "json"]);
    expect(stored.code).toBe(0);
    expect(JSON.parse(stored.stdout)).toMatchObject({
      user_id: SYSTEM_USER,
      node_type: "note",
      processing_status: { status: "complete" },
    });
    const found = await desk.run(["search", "memory.pack", "how do I get in?", "--format", "json"]);
    expect(JSON.parse(found.stdout)).toMatchObject({
      query: "how do I get in?",
      count: 1,
      results: [{ content: KEY, node_type: "note", strength: expect.any(String) }],
    });
    const table = await desk.run(["search", "memory.pack", "key"]);
    expect(table.stdout).toContain(KEY);
    const context = await desk.run(["search", "memory.pack", "key", "--context"]);
    expect(context.stdout).toContain(JSON.stringify(KEY));
  });

  test("name near memories, replace what is named, and show a text once", async () => {
    // Only the model knows what is near.
    const own = createDesk();
    await own.run(["init", "memory.pack", "--plain"]);
    const run = (...args: string[]) =>
      own.run(["store", "memory.pack", "--user-id", "near", ...args]);
    const first = await run("Tom lives in Oslo", "--format", "json");
    const { node_id: old, near } = JSON.parse(first.stdout);
    expect(near).toEqual([]);
    const table = await run("Tom lives in Oslo");
    expect(table.stdout).toContain(`Known already as note ${old.slice(-6)}, from just now`);
    const known = await run("Tom lives in Oslo", "--format", "json");
    expect(JSON.parse(known.stdout)).toMatchObject({ node_id: old, duplicate: true });
    const other = await run("Tom lives in Oslo", "--speaker", "Eva");
    expect(other.stdout).toContain("Stored as note");
    const search = ["search", "memory.pack", "where does Tom live?", "--user-id", "near"];
    const before = new Date().toISOString();
    const moved = await run("Tom moved to Bergen", "--supersedes", old, "--format", "json");
    expect(JSON.parse(moved.stdout).near).toEqual([
      expect.objectContaining({ content: "Tom lives in Oslo", identical: false }),
    ]);
    const again = await run("Tom moved to Rome", "--supersedes", old);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining("was replaced by") });
    const { results } = JSON.parse((await own.run([...search, "--format", "json"])).stdout);
    expect(results).toHaveLength(2);
    const then = [...search, "--as-of", before];
    const was = JSON.parse((await own.run([...then, "--format", "json"])).stdout);
    const { became } = was.results.find(({ node_id: id }: { node_id: string }) => id === old);
    expect(became.state).toBe("superseded");
    expect((await own.run(then)).stdout).toContain("(since replaced by ");
    own.remove();
  });

  test("keep owners apart and read stdin", async () => {
    const text = "Zürich – 東京, two\nlines";
    const args = ["store", "memory.pack", "-", "--user-id", "anna", "--type", "fact"];
    const stored = await desk.run(args, { stdin: `${text}\n` });
    expect(stored).toMatchObject({ code: 0, stdout: expect.stringContaining("Stored as fact") });
    const search = ["search", "memory.pack", "Zürich", "--format", "json", "--user-id"];
    const anna = JSON.parse((await desk.run([...search, "anna"])).stdout);
    expect(anna).toMatchObject({ count: 1, results: [{ content: text }] });
    const tom = await desk.run([...search, "tom"]);
    expect(JSON.parse(tom.stdout)).toMatchObject({ count: 0, results: [] });
  });

  test("refuse a text that is not UTF-8, in place of storing another one", async () => {
    const args = ["store", "memory.pack", "-", "--user-id", "bytes"];
    const stored = await desk.run(args, { stdin: Buffer.from([0x61, 0xff, 0x62]) });
    expect(stored).toMatchObject({ code: 2, stderr: expect.stringContaining("UTF-8") });
    const listed = await desk.run(["list", "memory.pack", "--user-id", "bytes"]);
    expect(listed.stdout).not.toContain("note");
  });
});

describe("info and doctor", () => {
  test("show what the pack holds and leave nothing beside it", async () => {
    const { stdout, code } = await desk.run(["info", "memory.pack", "--format", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      db_path: join(desk.folder, "memory.pack"),
      manifest: { format_version: 1, software_version: manifest.version },
    });
    const shown = await desk.run(["info", "memory.pack"]);
    expect(shown.stdout).toContain(`svc open ${join(desk.folder, "memory.pack")}\n`);
    const doctor = await desk.run(["doctor"]);
    expect(doctor.code).toBe(0);
    expect(doctor.stdout).toMatch(/^\d+\/\d+ passed, \d+ warnings?, 0 failures$/m);
    const beside = readdirSync(desk.folder).filter((name) => name.startsWith("memory.pack"));
    expect(beside).toEqual(["memory.pack"]);
  });

  test("pass an empty folder with a warning", async () => {
    const empty = createWordDesk();
    const { code, stdout } = await empty.run(["doctor", "--format", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, failures: 0, warnings: 1 });
    expect(readdirSync(empty.folder)).toEqual([]);
    empty.remove();
  });
});

test("demo stores and finds, and leaves nothing behind", async () => {
  const { code, stdout, stderr } = await desk.run(["demo"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const first = [...stdout.matchAll(/\? {2}\(\d+ ms\)\n {2}(?:->|nearest:) (\S+ \S+ \S+)/g)].map(
    (match) => match[1],
  );
  expect(first).toEqual([
    "The spare key",
    "Anna is allergic",
    "The mobile app",
    "Tom prefers short",
    // Asked in German and in Spanish.
    "The spare key",
    "Anna is allergic",
  ]);
  // Only what is strong, or the nearest one.
  expect(stdout.match(/^ {2}(?:->|nearest:)/gm)).toHaveLength(first.length);
});

test("the environment and .env decide where no path is given", async () => {
  const other = createWordDesk();
  writeFileSync(join(other.folder, ".env"), "SVC_PACK_PATH=./named.pack\n");
  await other.run(["init", "named.pack"]);
  const named = await other.run(["doctor", "--format", "json"]);
  expect(named.stdout).toContain("named.pack");
  const env = { SVC_PACK_PATH: "./missing.pack" };
  expect((await other.run(["doctor"], { env })).stdout).toContain("missing.pack is missing");
  other.remove();
});
