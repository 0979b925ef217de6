import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stoppableDatabase } from "../../contract/postgres-place.ts";
import { CHATGPT, fileOf, GRAPH, jsonLines } from "../../engine/import/samples.ts";
import { leftOut } from "../../left-out.ts";
import { emptyDatabase, onDatabase, unnumbered } from "../../packs/stores.ts";
import { dropDatabase, NO_POSTGRES } from "../../postgres/databases.ts";
import { createWordDesk, type Desk } from "./run-svc.ts";

setDefaultTimeout(180_000);

let desk: Desk;
let url = "";
const made: string[] = [];
beforeAll(async () => {
  if (NO_POSTGRES !== undefined) return;
  desk = createWordDesk();
  await desk.store("ours.pack", "ada", "The garden gate is green.", "Ada drinks lapsang tea.");
  url = await newDatabase();
  expect((await desk.run(["migrate", "ours.pack", url])).code).toBe(0);
});
afterAll(async () => {
  for (const one of made) await dropDatabase(new URL(one).pathname.slice(1));
  if (NO_POSTGRES === undefined) desk.remove();
});

async function newDatabase(): Promise<string> {
  const one = await emptyDatabase();
  made.push(one);
  return one;
}

async function json(args: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
  const { stdout, stderr, code } = await desk.run([...args, "--format", "json"]);
  expect({ stderr: code === 0 ? "" : stderr, code }).toEqual({ stderr: "", code: 0 });
  return JSON.parse(stdout);
}

describe.skipIf(NO_POSTGRES !== undefined)(`on a database${leftOut(NO_POSTGRES)}`, () => {
  test("info says what it says of the pack that was moved there", async () => {
    const [pack, database] = [await json(["info", "ours.pack"]), await json(["info", url])];
    const own = { db_path: "", db_size_bytes: 0, encryption: null };
    const { connection_encryption: connection, ...same } = database;
    expect({ ...same, ...own }).toEqual({ ...pack, ...own });
    expect([database["encryption"], connection]).toEqual([null, "none"]);
    expect(database["db_path"]).toBe(url);
    expect(Number(database["db_size_bytes"])).toBeGreaterThan(1_000_000);
  });

  test("an import comes in once, and is taken back", async () => {
    const own = await newDatabase();
    expect((await desk.run(["migrate", "ours.pack", own])).code).toBe(0);
    const source = fileOf(JSON.stringify(CHATGPT));
    const report = await json(["import", source, own, "--user-id", "ada"]);
    expect(report["records"]).toMatchObject({ said: { new: 2 }, answer: { new: 1 } });
    expect((await desk.run(["search", own, "Lisbon", "--user-id", "ada"])).stdout).toContain(
      "Lisbon",
    );
    const graph = fileOf(jsonLines(...GRAPH));
    await json(["import", graph, own, "--user-id", "ada"]);
    for (const again of [source, graph]) {
      expect(await json(["import", again, own, "--user-id", "ada"])).toMatchObject({
        import_id: null,
      });
    }
    const undone = await json([
      "import",
      "--undo",
      String(report["import_id"]),
      own,
      "--user-id",
      "ada",
    ]);
    expect(undone).toMatchObject({ events: 3, memories: 3 });
    const last = await json(["import", source, own, "--user-id", "ada"]);
    expect(last["records"]).toMatchObject({ said: { forgotten: 2, new: 0 } });
  });

  test("commands that are shown name the user, and run as they are shown", async () => {
    const told = (await desk.run(["info", url])).stdout;
    expect(told).toContain(`svc open ${url}\n`);
    expect(told).toMatch(/^Database +postgres:/m);
    expect(told).toMatch(/^Encryption +the server decides; connection to it: not encrypted$/m);
    expect(told).toMatch(/^Owner of the database /m);
    expect(told).not.toMatch(/\bpack\b/i);
    const { stderr } = await desk.run(["search", url, "tea", "--user-id", "ada"]);
    const command = /Why these: svc (explain \S+ --db-path \S+)/.exec(stderr)?.[1] ?? "";
    expect(command).toEndWith(url);
    expect((await desk.run(command.split(" "))).code).toBe(0);
  });

  test("stats are those of the pack", async () => {
    expect(await json(["stats", url])).toEqual({ ...(await json(["stats", "ours.pack"])) });
  });

  test("doctor finds nothing wrong, and then what was broken", async () => {
    const sound = await json(["doctor", url]);
    expect(sound).toMatchObject({ ok: true, failures: 0 });
    const names = [sound["checks"]].flat().map((check) => Reflect.get(Object(check), "name"));
    expect(names).toEqual([
      ...[
        "database",
        "pgvector",
        "clock",
        "format",
        "tables",
        "connection",
        "rights",
        "row-level security",
      ],
      ...[
        "server indexes",
        "counters",
        "indexes",
        "jobs",
        "fading",
        "extraction",
        "embedding",
        "costs",
      ],
      ...["platform", "native library", "cache folder"],
    ]);
    await onDatabase(url, (sql) => sql.run("UPDATE owners SET next_key = 1"));
    const counted = await desk.run(["doctor", url]);
    expect(counted.code).toBe(1);
    expect(counted.stdout).toContain('those of "ada" do not agree with their rows');
    await onDatabase(url, (sql) => sql.run("UPDATE owners SET next_key = 100"));
    await onDatabase(url, (sql) => sql.run("DELETE FROM vectors WHERE key = 1"));
    const lacking = await desk.run(["doctor", url]);
    expect(lacking.stdout).toContain("1 active nodes lack a vector");
    expect((await desk.run(["rebuild", url])).code).toBe(0);
    expect(await json(["doctor", url])).toMatchObject({ ok: true, warnings: 0 });
  });

  test("behind row-level security info and doctor see what is there, and what is broken", async () => {
    const walled = await stoppableDatabase();
    made.push(walled);
    expect((await desk.run(["migrate", "ours.pack", walled])).code).toBe(0);
    const on = { env: { SVC_DATABASE_ROW_SECURITY: "true" } };
    expect((await desk.run(["rebuild", walled], on)).code).toBe(0);
    expect(await json(["info", walled])).toMatchObject({ node_count: 2, event_count: 2 });
    expect(await json(["doctor", walled])).toMatchObject({ ok: true, failures: 0 });
    await onDatabase(walled, (sql) => sql.run("UPDATE owners SET next_key = 1"));
    const counted = await desk.run(["doctor", walled]);
    expect(counted.stdout).toContain('those of "ada" do not agree with their rows');
    expect(counted.stdout).toMatch(/row-level security.*on for this user/);
  });

  test("doctor says that a server does not answer, and that tables are missing", async () => {
    const away = await desk.run(["doctor", "postgres://svc@127.0.0.1:9/memories"]);
    expect(away.code).toBe(1);
    expect(away.stdout).toContain("cannot be reached");
    const empty = await desk.run(["doctor", await newDatabase()]);
    expect(empty.stdout).toContain("has no tables yet");
  });

  test("doctor says where the setting asks for other partitions than the tables have", async () => {
    const divided = await newDatabase();
    const by = (count: number) => ({ env: { SVC_DATABASE_PARTITIONS: String(count) } });
    expect((await desk.run(["migrate", "ours.pack", divided], by(3))).code).toBe(0);
    const says = async (...call: Parameters<Desk["run"]>) =>
      /\[WARN\] partitions: (.*)/.exec((await desk.run(...call)).stdout)?.[1];
    expect(await says(["doctor", divided])).toBeUndefined();
    expect(await says(["doctor", divided], by(3))).toBeUndefined();
    expect(await says(["doctor", divided], by(4))).toBe(
      `SVC_DATABASE_PARTITIONS is 4, and the tables are in 3, which it does not change: set it to 3, or unset it; or copy all into an empty database: SVC_DATABASE_PARTITIONS=4 svc migrate ${divided} ADDRESS`,
    );
    expect(await says(["doctor", url], by(4))).toContain("the tables are whole, which it does not");
    expect((await desk.run(["doctor", url], by(4))).code).toBe(0);
  });

  test("organize runs its jobs", async () => {
    expect(await json(["organize", url])).toMatchObject({ jobs_run: expect.any(Array) });
  });

  test("export writes what the pack's export has, and import fills an empty database with it", async () => {
    const passing = () => readdirSync(tmpdir()).filter((name) => name.startsWith("svc-passing-"));
    const before = passing();
    expect((await desk.run(["export", "ours.pack", "--output", "pack.jsonl"])).code).toBe(0);
    const done = await desk.run(["export", url, "--output", "database.jsonl"]);
    expect(done).toMatchObject({ code: 0 });
    const read = (name: string) => readFileSync(join(desk.folder, name), "utf8");
    const texts = (name: string) =>
      unnumbered(read(name)).filter((line) => /"record":"(node|event|owner)"/.test(line));
    expect(texts("database.jsonl")).toEqual([...texts("pack.jsonl")]);
    expect((await desk.run(["export", url, "--output", "database.jsonl"])).stderr).toContain(
      "exists already",
    );
    // Others may be there of programs that were killed.
    expect(passing()).toEqual(before);

    const target = await newDatabase();
    const imported = await json(["import", "pack.jsonl", target]);
    expect(imported).toMatchObject({ node_count: 2, event_count: 2, nodes_embedded: 2 });
    const found = await desk.run(["search", target, "lapsang", "--user-id", "ada"]);
    expect(found.stdout).toContain("Ada drinks lapsang tea.");
    const again = await desk.run(["import", "pack.jsonl", target]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("holds something else already");
  });

  test.each([
    { args: ["compact"], says: "VACUUM FULL" },
    { args: ["rekey"], says: "a database has no key" },
    { args: ["rekey", "--plain"], says: "a database has no key" },
    { args: ["backup", "@", "copy"], says: "pg_dump (docs/scale.md#backup)" },
    { args: ["key", "export"], says: "a database has no key" },
  ])("$args is refused, and says what helps", async ({ args: [name = "", ...rest], says }) => {
    const args =
      name === "key" ? [name, ...rest, url] : [name, url, ...rest.filter((part) => part !== "@")];
    const { code, stderr } = await desk.run(args);
    expect(stderr).toContain(says);
    expect(code).toBe(2);
  });

  test("migrate copies one database into another, with as many partitions as are asked for", async () => {
    const parts = await newDatabase();
    const settings = { env: { SVC_DATABASE_PARTITIONS: "2" } };
    const { code, stderr, stdout } = await desk.run(["migrate", url, parts], settings);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(stdout).toContain(new URL(parts).pathname);
    expect((await desk.run(["list", parts])).stdout).toBe((await desk.run(["list", url])).stdout);
    expect((await desk.run(["doctor", parts])).stdout).toContain("those of owners in 2 partitions");
    const other = { env: { SVC_DATABASE_PARTITIONS: "3" } };
    const refused = await desk.run(["list", parts], other);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("its tables have 2 partitions");
    const again = await desk.run(["migrate", url, parts]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("holds something else already");
  });
});
