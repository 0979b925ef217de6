/** Addresses of databases in place of paths: what cannot be used is refused by every command, and no password is shown. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { type Line, outcomesOf } from "./many-commands.ts";
import { createDesk } from "./run-svc.ts";

setDefaultTimeout(120_000);

const SECRET = "hunter2";
const desk = createDesk();
afterAll(() => desk.remove());

/** Every command that takes a pack, around it. */
const COMMANDS: readonly (readonly [before: readonly string[], after: readonly string[]])[] = [
  [["init"], []],
  [["serve", "--port", "0", "--db-path"], []],
  [["open"], ["--no-browser"]],
  [["connect", "cursor", "--dry-run", "--db-path"], []],
  [["store"], ["a text"]],
  [["search"], ["a question"]],
  [["list"], []],
  [["nodes"], []],
  [["stats"], []],
  [["info"], []],
  [["doctor"], []],
  [["rebuild"], []],
  [["export"], ["--output", "out.jsonl"]],
  [["import", "export.jsonl"], []],
  [["import"], ["new.pack"]],
  [["backup"], ["copy.pack"]],
  [["backup", "memory.pack"], []],
  [["compact"], []],
  [["migrate"], ["new.pack"]],
  [["migrate", "memory"], []],
  [["rekey"], ["--plain"]],
  [["key", "status"], []],
  [["key", "export"], []],
  [["owner"], []],
  [["organize"], []],
  [["export", "memory.pack", "--output"], []],
];

const lineOf = (address: string, [before, after]: (typeof COMMANDS)[number]): Line => ({
  args: [...before, address, ...after],
});

async function expectNothingShown(lines: readonly Line[]): Promise<void> {
  await Bun.write(`${desk.folder}/export.jsonl`, "");
  for (const [at, { code, stdout, stderr }] of (await outcomesOf(desk.folder, lines)).entries()) {
    const told = `${lines[at]?.args[0]}: ${stdout}${stderr}`;
    expect(told).not.toContain(SECRET);
    expect(told).not.toMatch(/went wrong inside|URIError/);
    expect(`${told} ${code}`).not.toEndWith(" 0");
  }
  const made = readdirSync(desk.folder).filter((name) => !name.startsWith("."));
  expect(made).toEqual(["export.jsonl"]);
}

test.each([
  `postgres:/anna:${SECRET}@127.0.0.1:1/m`,
  // One that can be used, of a server that is not there.
  `Postgres://anna:${SECRET}@127.0.0.1:1/m`,
])("no command shows %s or makes a file of that name", async (address) => {
  await expectNothingShown(COMMANDS.map((command) => lineOf(address, command)));
  // It serves a client before it opens anything.
  const { stdout, stderr } = await desk.run(["mcp", "--db-path", address]);
  expect(stdout + stderr).not.toContain(SECRET);
});

test("nothing is stored at what is no address", async () => {
  const addresses = [
    `postgres://anna:wr#${SECRET}@127.0.0.1:1/m`,
    `postgres://anna:${SECRET}%@127.0.0.1:1/m`,
    `postgres://anna:${SECRET}@127.0.0.1:99999/m`,
    `mysql://anna:${SECRET}@127.0.0.1:1/m`,
    `"postgres://anna:${SECRET}@127.0.0.1:1/m"`,
    `SVC_DATABASE_URL=postgres://anna:${SECRET}@127.0.0.1:1/m`,
  ];
  await expectNothingShown(addresses.map((address) => lineOf(address, [["store"], ["a text"]])));
});

test("a key is refused beside a database, which it would not encrypt, and paths are no addresses", async () => {
  const address = "postgres://anna@127.0.0.1:1/m";
  const secret = `postgres://anna:${SECRET}@127.0.0.1:1/m`;
  const paths = ["SVC_PACK_PATH", "SVC_DB_PATH", "SVC_VECTOR_PATH", "SVC_LEXICAL_PATH"];
  const serve = ["serve", "--port", "0"];
  const rows = [
    {
      args: ["list", address, "--encryption-key", SECRET],
      says: "postgres://127.0.0.1:1/m: a key was given, and this is a database",
    },
    {
      args: serve,
      env: { SVC_DATABASE_URL: address, SVC_ENCRYPTION_KEY: SECRET },
      says: "SVC_ENCRYPTION_KEY: is the key of a pack",
    },
    ...paths.map((name) => ({
      ...{ args: serve, env: { [name]: secret } },
      says: `${name}: is an address, and a path is needed`,
    })),
    { args: [secret], says: "unknown command" },
  ];
  const outcomes = await outcomesOf(desk.folder, rows);
  for (const [at, { says }] of rows.entries()) {
    const { code, stderr } = outcomes[at] ?? { code: -1, stderr: "" };
    expect(stderr).toContain(says);
    expect(stderr).not.toContain(SECRET);
    expect(code).toBe(2);
  }
});
