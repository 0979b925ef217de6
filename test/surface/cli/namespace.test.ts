/** SVC_NAMESPACE_ID: every command that opens a pack looks whether it is the expected one. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { fingerprint } from "../../scenario/forged.ts";
import { outcomesOf } from "./many-commands.ts";
import { createWordDesk, type Desk, type Outcome } from "./run-svc.ts";

setDefaultTimeout(120_000);

const MINE = "0190aaaa-0000-7000-8000-000000000001";
const OTHER = "0190aaaa-0000-7000-8000-000000000002";
const KEY = `raw_key:${Buffer.alloc(32, 9).toString("base64url")}`;

let desk: Desk;
beforeAll(async () => {
  desk = createWordDesk();
  for (const pack of ["packs/memory.pack", "packs/folder"]) {
    expect(await run(MINE, "init", pack)).toMatchObject({ code: 0 });
  }
  expect(await run(MINE, "export", "packs/memory.pack", "--output", "export.jsonl")).toMatchObject({
    code: 0,
  });
});
afterAll(() => desk.remove());

const run = (id: string, ...args: readonly string[]) =>
  desk.run(args, { env: { SVC_NAMESPACE_ID: id } });

/** On both kinds of packs. */
const COMMANDS: readonly (readonly string[])[] = [
  ["info"],
  ["doctor"],
  ["export"],
  ["backup", "copy.pack"],
  ["compact"],
  ["rekey", "--new-encryption-key", KEY],
  ["key", "export"],
  ["key", "forget", "--yes"],
];

describe.each(["packs/memory.pack", "packs/folder"])("%s of another namespace", (pack) => {
  const lines = COMMANDS.map(([name = "", ...rest]) => ({
    args: name === "key" ? [name, rest[0] ?? "", pack, ...rest.slice(1)] : [name, pack, ...rest],
    env: { SVC_NAMESPACE_ID: OTHER },
  }));
  let outcomes: readonly Outcome[] = [];
  beforeAll(async () => {
    const before = fingerprint(join(desk.folder, "packs"));
    outcomes = await outcomesOf(desk.folder, lines);
    expect(fingerprint(join(desk.folder, "packs"))).toEqual(before);
    expect(await Bun.file(join(desk.folder, "copy.pack")).exists()).toBeFalse();
  });

  test.each(COMMANDS.map((command, at) => [command.join(" "), at] as const))(
    "is refused by svc %s, and stays as it is",
    (name, at) => {
      const { code, stdout, stderr } = outcomes[at] ?? { code: -1, stdout: "", stderr: "" };
      expect(`${stdout}${stderr}`).toContain(`belongs to the namespace ${MINE}, not ${OTHER}`);
      expect(code).toBe(name === "doctor" ? 1 : 2);
      expect(stdout).not.toContain("raw_key:");
    },
  );

  test("is read and written with its own id, and without one", async () => {
    for (const id of [MINE, "  "]) {
      for (const command of ["info", "compact"]) {
        expect(await run(id, command, pack)).toMatchObject({ code: 0 });
      }
    }
  });
});

test("an imported pack gets the identity that is set", async () => {
  expect(await run(OTHER, "import", "export.jsonl", "new.pack")).toMatchObject({ code: 0 });
  expect(await run(OTHER, "info", "new.pack")).toMatchObject({ code: 0 });
  const { code, stderr } = await run(MINE, "info", "new.pack");
  expect(stderr).toContain(`belongs to the namespace ${OTHER}, not ${MINE}`);
  expect(code).toBe(2);
});

test("a directory of another namespace is not migrated", async () => {
  const { code, stderr } = await run(OTHER, "migrate", "packs/folder", "migrated.pack");
  expect(stderr).toContain("belongs to the namespace");
  expect(code).toBe(2);
  expect(await run(MINE, "migrate", "packs/folder", "migrated.pack")).toMatchObject({ code: 0 });
  expect(await run(MINE, "info", "migrated.pack")).toMatchObject({ code: 0 });
});
