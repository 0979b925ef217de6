/** Addresses of databases in place of paths: what cannot be used is refused by every command, and no password is shown. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createDesk } from "./run-svc.ts";

setDefaultTimeout(120_000);

const SECRET = "hunter2";
const desk = createDesk();
afterAll(() => desk.remove());

/** Every command that takes a pack, around it. */
const COMMANDS: readonly (readonly [before: readonly string[], after: readonly string[]])[] = [
  [["init"], []],
  [["serve", "--port", "0", "--db-path"], []],
  [["mcp", "--db-path"], []],
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

async function expectSecret(commands: typeof COMMANDS, address: string): Promise<void> {
  await Bun.write(`${desk.folder}/export.jsonl`, "");
  const runs = commands.map(([before, after]) => [...before, address, ...after]);
  for (let next = runs.splice(0, 4); next.length > 0; next = runs.splice(0, 4)) {
    await Promise.all(next.map((args) => expectNothingShown(args)));
  }
  const made = readdirSync(desk.folder).filter((name) => !name.startsWith("."));
  expect(made).toEqual(["export.jsonl"]);
}

async function expectNothingShown(args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await desk.run(args);
  const told = `${args[0]}: ${stdout}${stderr}`;
  expect(told).not.toContain(SECRET);
  expect(told).not.toMatch(/went wrong inside|URIError/);
  // It serves a client before it opens anything.
  if (args[0] !== "mcp") expect(`${told} ${code}`).not.toEndWith(" 0");
}

test.each([
  `postgres:/anna:${SECRET}@127.0.0.1:1/m`,
  // One that can be used, of a server that is not there.
  `Postgres://anna:${SECRET}@127.0.0.1:1/m`,
])("no command shows %s or makes a file of that name", async (address) => {
  await expectSecret(COMMANDS, address);
});

test.each([
  `postgres://anna:wr#${SECRET}@127.0.0.1:1/m`,
  `postgres://anna:12#${SECRET}@127.0.0.1:1/m`,
  `postgres://anna:${SECRET}%@127.0.0.1:1/m`,
  `postgres://anna:${SECRET}@127.0.0.1:99999/m`,
  `mysql://anna:${SECRET}@127.0.0.1:1/m`,
  `"postgres://anna:${SECRET}@127.0.0.1:1/m"`,
  `SVC_DATABASE_URL=postgres://anna:${SECRET}@127.0.0.1:1/m`,
])("nothing is stored at %s", async (address) => {
  await expectSecret([[["store"], ["a text"]]], address);
});

test("a key is refused beside a database, which it would not encrypt", async () => {
  const address = "postgres://anna@127.0.0.1:1/m";
  const { code, stderr } = await desk.run(["list", address, "--encryption-key", SECRET]);
  expect(stderr).toContain("postgres://127.0.0.1:1/m: a key was given, and this is a database");
  expect(code).toBe(2);
  const env = { SVC_DATABASE_URL: address, SVC_ENCRYPTION_KEY: SECRET };
  const served = await desk.run(["serve", "--port", "0"], { env });
  expect(served.stderr).toContain("SVC_ENCRYPTION_KEY: is the key of a pack");
  expect(served.stderr).not.toContain(SECRET);
  expect(served.code).toBe(2);
});

test("settings for paths refuse an address", async () => {
  const address = `postgres://anna:${SECRET}@127.0.0.1:1/m`;
  for (const name of ["SVC_PACK_PATH", "SVC_DB_PATH", "SVC_VECTOR_PATH", "SVC_LEXICAL_PATH"]) {
    const { code, stderr } = await desk.run(["serve", "--port", "0"], { env: { [name]: address } });
    expect(stderr).toContain(`${name}: is an address, and a path is needed`);
    expect(stderr).not.toContain(SECRET);
    expect(code).toBe(2);
  }
});

test("a wrong command is not repeated with the password in it", async () => {
  const { stderr } = await desk.run([`postgres://anna:${SECRET}@127.0.0.1/m`]);
  expect(stderr).toContain("unknown command");
  expect(stderr).not.toContain(SECRET);
});
