/** The database of a workspace: what its schemas hold, and what is refused. */

import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from "bun:test";
import { MemoryEngine } from "../../src/app/memory-engine.ts";
import { MemoryWorkspace, type WorkspaceOptions } from "../../src/app/workspace/workspace.ts";
import { leftOut } from "../left-out.ts";
import {
  databaseUrl,
  dropDatabase,
  makeDatabase,
  NO_POSTGRES,
  onServer,
} from "../postgres/databases.ts";
import { behindPooler, closePoolers } from "../postgres/pooler.ts";
import { schemaOf } from "./workspace-grounds.ts";

setDefaultTimeout(120_000);

/** A user whom row-level security stops. */
const STOPPED = `walled_workspace_${process.pid}`;
let name: string;
const opened: MemoryWorkspace[] = [];

async function open(options: WorkspaceOptions = {}, url = databaseUrl(name)) {
  const workspace = await MemoryWorkspace.open(url, options);
  opened.push(workspace);
  return workspace;
}

/** A namespace with a memory, in a workspace that is closed. */
async function closedWith(namespace: string): Promise<string> {
  const workspace = await open();
  const lease = await workspace.namespace(namespace);
  await lease.ingestFast({ content: "tea", userId: "anna" });
  await lease.release();
  await workspace.close();
  return schemaOf(lease.namespace.id);
}

const rows = (statement: string) => onServer(statement, name);
const tablesIn = async (schema: string): Promise<number> =>
  (await rows(`SELECT 1 FROM pg_tables WHERE schemaname = '${schema}'`)).length;

describe.skipIf(NO_POSTGRES !== undefined)(`a database${leftOut(NO_POSTGRES)}`, () => {
  beforeEach(async () => {
    name = await makeDatabase();
  });
  afterEach(async () => {
    for (const workspace of opened.splice(0)) await workspace.close().catch(() => undefined);
    await dropDatabase(name);
  });
  afterAll(closePoolers);

  test("has a schema for each namespace, named by its id whatever the name is, and nothing beside them", async () => {
    const workspace = await open();
    const names = ["a'; DROP SCHEMA public; --", "müller/北京", 'x"y', "pg_temp", "$1"];
    for (const each of names) {
      await using lease = await workspace.namespace(each);
      await lease.ingestFast({ content: `of ${each}`, userId: "anna" });
      const [event] = await rows(`SELECT content FROM ${schemaOf(lease.namespace.id)}.events`);
      expect(event).toEqual({ content: `of ${each}` });
    }
    const listed = await workspace.listNamespaces();
    expect(listed.map((namespace) => namespace.name)).toEqual([...names].sort());
    expect(await tablesIn("public")).toBe(0);
  });

  test("is shared by workspaces, which give a new namespace one memory when they make it at the same time", async () => {
    const workspaces = [await open(), await open(), await open()];
    const leases = await Promise.all(workspaces.map((each) => each.namespace("work")));
    for (const [place, lease] of leases.entries()) {
      await lease.ingestFast({ content: `tea ${place}`, userId: "anna" });
    }
    expect(new Set(leases.map(({ namespace }) => namespace.id)).size).toBe(1);
    for (const lease of leases) expect((await lease.stats()).eventCount).toBe(3);
    for (const lease of leases) await lease.release();
  });

  test("whose namespace has lost a table is refused, and no other table takes its place", async () => {
    const schema = await closedWith("work");
    await rows(`DROP TABLE ${schema}.receipts CASCADE`);
    await expect((await open()).namespace("work")).rejects.toMatchObject({
      code: "workspace_damaged",
      message: expect.stringContaining("lacks the table receipts"),
    });
    await rows(`DROP TABLE ${schema}.settings`);
    await expect((await open()).namespace("work")).rejects.toMatchObject({
      code: "workspace_damaged",
      message: expect.stringContaining("has lost its tables"),
    });
    expect(await tablesIn("public")).toBe(0);
  });

  test("whose schema is gone before its tables are made gets none elsewhere", async () => {
    const schema = await closedWith("work");
    await rows(`DROP SCHEMA ${schema} CASCADE`);
    await rows("UPDATE svc_workspace.namespaces SET initialized = false");
    await expect((await open()).namespace("work")).rejects.toMatchObject({
      code: "workspace_damaged",
    });
    expect(await tablesIn("public")).toBe(0);
  });

  test.each([
    ["is gone", "DROP SCHEMA svc_workspace CASCADE", "does not name the schema"],
    ["lost a name", "DELETE FROM svc_workspace.namespaces", "does not name the schema"],
    ["lost a table", "DROP TABLE svc_workspace.metadata", "has lost its tables"],
    ["is newer", "UPDATE svc_workspace.metadata SET version = 2", "another version"],
  ])("whose registry %s is refused", async (_, statement, message) => {
    await closedWith("work");
    await rows(statement);
    await expect(open()).rejects.toMatchObject({
      code: "workspace_damaged",
      message: expect.stringContaining(message),
    });
  });

  test("whose names were exchanged gives nobody the memory of another", async () => {
    const [a, b] = [await closedWith("a"), await closedWith("b")];
    expect(a).not.toBe(b);
    await rows("ALTER TABLE svc_workspace.namespaces DROP CONSTRAINT namespaces_pkey");
    await rows(
      "UPDATE svc_workspace.namespaces SET name = CASE name WHEN 'a' THEN 'b' ELSE 'a' END",
    );
    await expect((await open()).namespace("a")).rejects.toMatchObject({
      code: "namespace_mismatch",
      data: { expected: "a", found: "b" },
    });
  });

  test("that has memories of no namespace is refused, and stays as it is", async () => {
    await (await MemoryEngine.create({ database_url: databaseUrl(name) })).close();
    await expect(open()).rejects.toMatchObject({ code: "unsupported" });
    expect(await rows("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'svc%'")).toEqual([]);
  });

  test("behind a pooler that drops the settings of connections is refused by name", async () => {
    const url = await behindPooler(databaseUrl(name));
    await expect(open({}, url)).rejects.toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("pooler"),
    });
    expect(await rows("SELECT 1 FROM pg_namespace WHERE nspname LIKE 'svc%'")).toEqual([]);
  });

  test("has row-level security in every namespace if that is asked for", async () => {
    await onServer(`CREATE ROLE ${STOPPED} LOGIN`);
    try {
      await rows("CREATE EXTENSION vector");
      // A table of another program, which is nobody's but its own.
      await rows("CREATE TABLE invoices (owner bigint)");
      await onServer(`ALTER DATABASE ${name} OWNER TO ${STOPPED}`);
      const url = new URL(databaseUrl(name));
      url.username = STOPPED;
      const workspace = await open({ config: { database_row_security: true } }, url.href);
      for (const namespace of ["work", "home"]) {
        await using lease = await workspace.namespace(namespace);
        await lease.store({ content: `Anna drinks tea at ${namespace}`, userId: "anna" });
        const found = await lease.retrieve({ query: "Anna drinks", userId: "anna" });
        expect(found.results.map(({ node }) => node.content)).toEqual([
          `Anna drinks tea at ${namespace}`,
        ]);
        const schema = schemaOf(lease.namespace.id);
        const sql = new Bun.SQL({ url: url.href, max: 1 });
        const seen = await sql.unsafe(`SELECT count(*)::int AS count FROM ${schema}.nodes`);
        await sql.close();
        expect([...seen]).toEqual([{ count: 0 }]);
        expect(await rows(`SELECT content FROM ${schema}.nodes`)).toHaveLength(1);
      }
      const others = "SELECT relrowsecurity FROM pg_class WHERE relname = 'invoices'";
      expect(await rows(others)).toEqual([{ relrowsecurity: false }]);
    } finally {
      for (const workspace of opened.splice(0)) await workspace.close();
      await dropDatabase(name);
      await onServer(`DROP ROLE ${STOPPED}`);
    }
  });

  test("is chosen by its address alone", async () => {
    for (const config of [{ database_url: databaseUrl(name) }, { pack_path: "x.pack" }]) {
      await expect(open({ config })).rejects.toThrow(/database_url|pack_path/);
    }
    await expect(open({ singleFilePacks: true })).rejects.toMatchObject({
      code: "invalid_argument",
      field: "singleFilePacks",
    });
  });
});

test("an address that is none of PostgreSQL makes no folder of that name, and is not shown", async () => {
  const refused = MemoryWorkspace.open("mysql://root:geheim@127.0.0.1/x").catch(String);
  expect(await refused).toContain("does not begin with postgres://");
  expect(await refused).not.toContain("geheim");
});
