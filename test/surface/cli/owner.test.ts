import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../until.ts";
import { outcomesOf } from "./many-commands.ts";
import { createDesk, createWordDesk, type Desk, SYSTEM_USER } from "./run-svc.ts";

// Each test starts processes, some of which load the model.
setDefaultTimeout(120_000);

let desk: Desk;
beforeAll(() => {
  desk = createWordDesk();
});
afterAll(() => desk.remove());

const TEA = "Anna prefers tea to coffee";

/** Makes a pack as a program does that names its owners, without one of its own. */
async function packOf(name: string, ...owners: readonly string[]): Promise<string> {
  return await packIn(desk, name, owners);
}

async function packIn(one: Desk, name: string, owners: readonly string[]): Promise<string> {
  const path = join(one.folder, name);
  const engine = await one.engine(name, { SVC_ENCRYPTION_ENABLED: "false" });
  for (const userId of owners) await engine.ingestFast({ content: TEA, userId });
  // The engine itself may be at them.
  await until(async () => (await engine.processPending()).pending === 0);
  await engine.close();
  return path;
}

test("info names the command that shows the pack in a browser", async () => {
  await desk.run(["init", "my own.pack", "--plain"]);
  const { stdout } = await desk.run(["info", "my own.pack"]);
  expect(stdout).toMatch(/^Look inside with +svc open '[^']*my own\.pack'$/m);
});

test("init writes the owner that is given, else the user of the system, and info shows it", async () => {
  const made = await desk.run(["init", "anna.pack", "--plain", "--owner", "anna"]);
  expect(made.stdout).toContain("Its owner is anna.");
  const info = await desk.run(["info", "anna.pack"]);
  expect(info.stdout).toMatch(/Owner of the pack +anna\n/);
  const json = await desk.run(["info", "anna.pack", "--format", "json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ owner: "anna" });
  const own = await desk.run(["init", "own.pack", "--plain"]);
  expect(own.stdout).toContain(`Its owner is ${SYSTEM_USER}.`);
});

test("init of a pack that has an owner keeps it and says how to change it", async () => {
  await desk.run(["init", "kept.pack", "--plain", "--owner", "anna"]);
  const again = await desk.run(["init", "kept.pack", "--owner", "bob"]);
  expect(again.code).toBe(0);
  expect(again.stdout).toContain("Its owner is anna.");
  expect(again.stdout).toMatch(/svc owner use .*kept\.pack bob/);
  const blank = await desk.run(["init", "blank.pack", "--plain", "--owner", " "]);
  expect(blank).toMatchObject({ code: 2, stderr: expect.stringContaining("user_id") });
  expect(await Bun.file(join(desk.folder, "blank.pack")).exists()).toBeFalse();
});

test("what the command line stores is the pack's owner's, and another may be named", async () => {
  await desk.run(["init", "used.pack", "--plain", "--owner", "anna"]);
  const stored = await desk.run(["store", "used.pack", TEA, "--format", "json"]);
  expect(JSON.parse(stored.stdout)).toMatchObject({ user_id: "anna" });
  const bob = ["store", "used.pack", "Bob has a dog", "--user-id", "bob", "--format", "json"];
  expect(JSON.parse((await desk.run(bob)).stdout)).toMatchObject({ user_id: "bob" });
  const found = await desk.run(["search", "used.pack", "what does Anna drink?"]);
  expect(found.stdout).toContain(TEA);
  expect(found.stdout).not.toContain("Bob has a dog");
});

test("an export carries the owner of the pack into the one that is made of it", async () => {
  await desk.run(["init", "from.pack", "--plain", "--owner", "anna"]);
  await desk.store("from.pack", "bob", "Bob has a dog");
  await desk.run(["export", "from.pack", "--output", "from.jsonl"]);
  await desk.run(["import", "from.jsonl", "to.pack"]);
  const { stdout } = await desk.run(["info", "to.pack", "--format", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ owner: "anna", node_count: 1 });
  await desk.run(["compact", "to.pack"]);
  const after = await desk.run(["info", "to.pack", "--format", "json"]);
  expect(JSON.parse(after.stdout)).toMatchObject({ owner: "anna" });
});
test("a directory pack keeps its owner when it becomes a single file", async () => {
  await desk.run(["init", "dir", "--plain", "--owner", "anna"]);
  await desk.run(["migrate", "dir", "single.pack", "--encryption-key", ""]);
  const { stdout } = await desk.run(["info", "single.pack", "--format", "json"]);
  expect(JSON.parse(stdout)).toMatchObject({ owner: "anna" });
});

test("a pack without an owner of its own is used as the only one's who is in it", async () => {
  const path = await packOf("only.pack", "carl");
  const { stdout, stderr } = await desk.run(["list", path]);
  expect(stdout).toContain(TEA);
  expect(stderr).not.toContain("owners");
});

test("a pack of several owners keeps to _cli, as it did, and says how to settle it", async () => {
  const path = await packOf("several.pack", "anna", "bob", "anna");
  const stored = await desk.run(["store", path, "from here", "--format", "json"]);
  expect(JSON.parse(stored.stdout)).toMatchObject({ user_id: "_cli" });
  expect(stored.stderr).toBe(
    `The pack has memories of several owners: anna (2), bob (1). Taken: _cli. To settle it: svc owner use ${path} NAME\n`,
  );
});

test("an empty search says under which names there are memories", async () => {
  // Words alone are not known for certain.
  const own = createDesk();
  const path = await packIn(own, "named.pack", ["anna", "bob", "anna"]);
  const other = await own.run(["search", path, "tea", "--user-id", "Anna"]);
  expect(other.stderr).toContain("Something is known under anna, bob: --user-id anna");
  const known = await own.run(["search", path, "tea", "--user-id", "anna", "--limit", "0"]);
  expect(known.stderr).not.toContain("Something is known");
  own.remove();
});

describe("svc owner", () => {
  const ask = (...args: readonly string[]) => desk.run(["owner", ...args]);
  const owners = async (path: string) =>
    JSON.parse((await ask("list", path, "--format", "json")).stdout);

  test("lists who has memories, and whose the pack is", async () => {
    const path = await packOf("listed.pack", "_cli", "anna", "anna");
    expect((await ask("list", path)).stdout).toMatch(
      /^OWNER +MEMORIES +EVENTS +LAST USED \(UTC\).*\nanna +2 +2 +\d{4}-\d\d-\d\d \d\d:\d\d *\n_cli +1 +1 .*\nThe pack names none of them: svc owner use .*listed\.pack NAME\n$/,
    );
    expect(await ask("use", path, "anna")).toMatchObject({
      code: 0,
      stdout: "The pack now belongs to anna.\n",
    });
    expect((await ask("list", path)).stdout).toMatch(/\nanna .*the pack's\n/);
    const last = expect.stringMatching(/^\d{4}-.*Z$/);
    expect(await owners(path)).toEqual({
      owner: "anna",
      owners: [
        { user_id: "anna", memories: 2, events: 2, last_used: last },
        { user_id: "_cli", memories: 1, events: 1, last_used: last },
      ],
    });
    const bob = await ask("use", path, "bob", "--format", "json");
    expect(JSON.parse(bob.stdout)).toEqual({ owner: "bob", before: "anna" });
    expect((await ask("list", path)).stdout).toContain("belongs to bob, who has nothing in it yet");
  });
  test("renames an owner once it was agreed to, and the pack goes with the name", async () => {
    const path = await packOf("renamed.pack", "_cli", "_cli");
    await ask("use", path, "_cli");
    const before = await owners(path);
    const preview = await ask("rename", path, "_cli", "anna", "--dry-run");
    expect(preview.stdout).toBe(
      "Would give 2 memories and 2 events of _cli to anna. Nothing was changed.\n",
    );
    const unasked = await ask("rename", path, "_cli", "anna");
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect(await owners(path)).toEqual(before);

    const renamed = await ask("rename", path, "_cli", "anna", "--yes");
    expect(renamed.stdout).toBe("2 memories and 2 events of _cli now belong to anna.\n");
    expect(await owners(path)).toMatchObject({ owner: "anna", owners: [{ user_id: "anna" }] });
    expect((await desk.run(["list", path])).stdout).toContain(TEA);
  });

  test("joins two owners, so that one question finds what both stored", async () => {
    const path = await packOf("joined.pack", "_cli", "anna");
    await desk.store("joined.pack", "_cli", "Bob has a red bicycle");
    const joined = await ask("join", path, "_cli", "anna", "--yes", "--format", "json");
    expect(JSON.parse(joined.stdout)).toMatchObject({
      ...{ from: "_cli", into: "anna", is_join: true, is_done: true },
      moved: { user_id: "_cli", memories: 2, events: 2 },
    });
    const found = await desk.run(["search", path, "what colour is the bicycle?"]);
    expect(found.stdout).toContain("Bob has a red bicycle");
    expect(found.stderr).not.toContain("owners");
    expect((await desk.run(["doctor", path])).stdout).not.toContain("_cli");
  });

  test("refuses what cannot be done, in a preview too, and changes nothing", async () => {
    const path = await packOf("refused.pack", "_cli", "anna");
    const before = await owners(path);
    const rows = [
      [["rename", path, "_cli", "anna"], "into: is already an owner; join the two"],
      [["rename", path, "carl", "dora"], "from: has nothing here"],
      [["join", path, "carl", "anna"], "from: has nothing here"],
      [["join", path, "_cli", "carl"], "into: has nothing here"],
      [["join", path, "anna", "anna"], "into: is the same name"],
      [["rename", path, "anna", " "], "user_id"],
    ] as const;
    const wished = rows.flatMap(([args, why]) =>
      ["--yes", "--dry-run"].map((wish) => ({ args: ["owner", ...args, wish], why })),
    );
    const outcomes = await outcomesOf(desk.folder, wished);
    for (const [index, { args, why }] of wished.entries()) {
      expect({ args, ...outcomes[index] }).toMatchObject({
        ...{ args, code: 2, stdout: "", stderr: expect.stringContaining(why) },
      });
    }
    expect((await ask("list", join(desk.folder, "no.pack"))).code).not.toBe(0);
    expect(await owners(path)).toEqual(before);
  });
});
