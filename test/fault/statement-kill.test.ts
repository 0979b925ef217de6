/**
 * Kills a process with SIGKILL before statements of a change of a pack, and right after each commit, each time on a fresh copy: all of
 * the change is there, or nothing of it.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { openChecksummed } from "../../src/domain/checksummed.ts";
import { nodeRecord } from "../../src/domain/node.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { asUuid } from "../../src/lib/uuid.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { indexed } from "../adapters/sqlite/indexed.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { MARK, OPERATIONS } from "./kill-operations.ts";
import { killedAt, useKilling } from "./statement-kills.ts";

const killing = useKilling("kill-worker.ts");

const encryptedPack = (at: string): SqlitePack => encrypted(filePack(at));

type Row = Readonly<Record<string, unknown>>;
type Found = Awaited<ReturnType<typeof examine>>;
type Scenario = {
  readonly operation: keyof typeof OPERATIONS;
  readonly name: string;
  readonly packIn: (folder: string) => SqlitePack;
  /** What is there before it, and once it was done. */
  readonly had?: object;
  readonly done: object;
};

const ARCHIVED = { counts: { operations: 1, edges: 0 } };
const REPLACED = { counts: { operations: 1, edges: 1 } };
const PICTURES = { counts: { events: 2, nodes: 2, blobs: 4, blob_uses: 4 } };
const JOINED = {
  owners: [{ userId: "ada", memories: 6, events: 6 }],
  owner: { userId: "ada" },
  rows: { receipts: [{ user_id: "ada" }] },
};
const KNOWN = {
  marks: [0],
  counts: { receipts: 1, erasures: 0, nodes: 6, blobs: 1, blob_uses: 1 },
};
const FORGOTTEN = {
  ...{ marks: [], isInFiles: false },
  counts: { receipts: 0, erasures: 2, nodes: 5, blobs: 0, blob_uses: 0 },
};

const SCENARIOS: readonly Scenario[] = [
  { operation: "an archive", name: "a pack of one file", packIn: filePack, done: ARCHIVED },
  { operation: "a replacement", name: "a directory pack", packIn: directoryPack, done: REPLACED },
  { operation: "a replacement", name: "an encrypted pack", packIn: encryptedPack, done: REPLACED },
  { operation: "a store that replaces", name: "one file", packIn: filePack, done: REPLACED },
  {
    operation: "a store that replaces",
    name: "a directory",
    packIn: directoryPack,
    done: REPLACED,
  },
  {
    operation: "an admission of pictures",
    name: "an encrypted pack",
    packIn: encryptedPack,
    done: PICTURES,
  },
  { operation: "a join of two owners", name: "one file", packIn: filePack, done: JOINED },
  { operation: "a join of two owners", name: "a directory", packIn: directoryPack, done: JOINED },
  {
    operation: "a join of two owners",
    name: "an encrypted pack",
    packIn: encryptedPack,
    done: JOINED,
  },
  { operation: "a forgetting", name: "one file", packIn: filePack, had: KNOWN, done: FORGOTTEN },
  {
    operation: "a forgetting",
    name: "a directory",
    packIn: directoryPack,
    had: KNOWN,
    done: FORGOTTEN,
  },
  {
    operation: "a forgetting",
    name: "an encrypted pack",
    packIn: encryptedPack,
    had: KNOWN,
    done: FORGOTTEN,
  },
];

const TABLES = [
  ...["owners", "events", "operations", "nodes", "edges", "node_evidence", "work", "receipts"],
  ...["receipt_nodes", "memory_operations", "erasures", "blobs", "blob_uses", "vectors"],
  "changes",
];
/** Moments of the process and its name; all else is equal in each run. */
const OF_THE_RUN = [
  "created_at",
  "updated_at",
  "timestamp",
  "at",
  "lease_owner",
  "lease_expires_at",
];

/** Everything in a pack, after an opening has settled what was not. */
async function examine(pack: SqlitePack, place: string) {
  const store = await openSqlitePack(pack);
  await store.settleErasures(5000);
  const scan = await store.scan([MARK], "ada");
  const [owner, owners] = [await store.owners.packOwner(), await store.owners.list()];
  await store.close();
  const database = openDatabase({ layout: pack.layout, mode: "read-write", ...connectionOf(pack) });
  const rowsOf = (table: string) =>
    database
      .query<Row, []>(`SELECT * FROM ${table}`)
      .all()
      .map((row) => Object.entries(row).filter(([name]) => !OF_THE_RUN.includes(name)))
      .map((entries) => Object.fromEntries(entries));
  const rows = Object.fromEntries(TABLES.map((table) => [table, rowsOf(table)]));
  const found = {
    ...{ owner, owners, marks: scan?.pages?.found, indexes: indexed(database), rows },
    counts: Object.fromEntries(TABLES.map((table) => [table, rows[table]?.length])),
  };
  database.close();
  const isInFiles = readdirSync(place, { recursive: true, encoding: "utf8" })
    .map((name) => join(place, name))
    .some((name) => statSync(name).isFile() && readFileSync(name).includes(MARK));
  return { ...found, isInFiles };
}

/** What the record of a change says is there, against what is there. */
async function expectAgreement(pack: SqlitePack, { rows }: Found): Promise<void> {
  const store = await openSqlitePack(pack);
  const [{ payload } = {}] = rows["operations"] ?? [];
  const { after, replacement, edge } = openChecksummed(JSON.parse(String(payload)));
  for (const said of [after, replacement].filter((one) => one !== undefined)) {
    const node = await store.node(asUuid(String(Object(said).id)), ALL_OWNERS);
    expect<unknown>(node && nodeRecord.to(node)).toEqual(said);
  }
  expect(rows["edges"]?.map(({ id }) => id)).toEqual(edge === undefined ? [] : [Object(edge).id]);
  await store.close();
}

test.each(SCENARIOS)(
  "$operation in $name is there as a whole or not at all, wherever it was killed",
  async ({ operation, name, packIn, had = {}, done }) => {
    const template = `${operation} in ${name}`;
    const made = await openSqlitePack(packIn(killing.place(template)));
    await OPERATIONS[operation].make(made);
    await made.close();
    const copied = (title: string): readonly [SqlitePack, string] => {
      const place = killing.copy(template, `${template}, ${title}`);
      return [packIn(place), place];
    };
    const before = await examine(...copied("as it was"));
    expect(before).toMatchObject(had);
    const [finished, place] = copied("finished");
    const steps = await killing.finish(finished, operation);
    const after = await examine(finished, place);
    expect(after).toMatchObject(done);
    expect(after.indexes.orphans).toEqual([]);
    if (done === ARCHIVED || done === REPLACED) await expectAgreement(finished, after);

    for (const step of killedAt(steps, packIn === filePack ? 4 : 2)) {
      const [pack, at] = copied(`killed at ${step}`);
      await killing.killAt(step, pack, operation);
      const isDone = step > (steps.commits[0] ?? 0);
      expect({ step, ...(await examine(pack, at)) }).toEqual({
        step,
        ...(isDone ? after : before),
      });
    }
  },
  300_000,
);
