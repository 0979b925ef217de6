/**
 * Kills a process with SIGKILL before statements of a change of memories, and right after its commit, each time on a
 * fresh copy of a pack, and looks whether the change is there as a whole or not at all.
 */
import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { openChecksummed } from "../../src/domain/checksummed.ts";
import { edgeRecord, type MemoryNode, nodeRecord } from "../../src/domain/node.ts";
import type { ChangeSnapshot } from "../../src/ports/store/graph.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { indexed } from "../adapters/sqlite/indexed.ts";
import { put, unit } from "../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { idOf } from "./lifecycle-ids.ts";
import { killedAt, useKilling } from "./statement-kills.ts";

/** Turns of one conversation, in its order. The worker retires the third; the sixth replaces it. */
const WORDS = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];

/** Processes at a time. */
const WORKERS = 3;

const killing = useKilling("lifecycle-worker.ts");

type Scenario = {
  readonly name: string;
  readonly change: "archive" | "supersede" | "store";
  readonly packIn: (folder: string) => SqlitePack;
  /** Kills; see `killedAt`. */
  readonly most: number;
};

const SCENARIOS: readonly Scenario[] = [
  { name: "an archive in a pack of one file", change: "archive", packIn: filePack, most: 25 },
  {
    name: "a replacement in a directory pack",
    change: "supersede",
    packIn: directoryPack,
    most: 25,
  },
  {
    name: "a replacement in an encrypted pack",
    change: "supersede",
    packIn: (place) => encrypted(filePack(place)),
    most: 8,
  },
  {
    name: "a store that replaces in a pack of one file",
    change: "store",
    packIn: filePack,
    most: 25,
  },
  {
    name: "a store that replaces in a directory pack",
    change: "store",
    packIn: directoryPack,
    most: 25,
  },
];

async function makePack(pack: SqlitePack): Promise<readonly MemoryNode[]> {
  const store = await openSqlitePack(pack);
  const nodes = await put(
    store,
    ...WORDS.map((content, second) => ({
      content,
      second,
      sessionId: "s",
      vector: unit(...WORDS.map((word) => (word === content ? 1 : 0))),
    })),
  );
  await store.close();
  return nodes;
}

/** Does some work for each item, a few at a time. */
async function inFlight<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const workers = Array.from({ length: WORKERS }, async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  });
  await Promise.all(workers);
}

/** What is in the pack once it was opened again. */
async function examine(pack: SqlitePack, nodes: readonly MemoryNode[]) {
  const store = await openSqlitePack(pack);
  const ids = nodes.map(({ id }) => id);
  const snapshot = await store.change(
    { nodeIds: [...ids, ...ids.map(idOf)], auditRecordIds: ids.map(idOf), eventIds: [] },
    // The moment is that of the look.
    ({ at: _at, ...found }) => ({ change: undefined, result: found }),
  );
  await store.close();
  const database = openDatabase({ layout: pack.layout, mode: "read-write", ...connectionOf(pack) });
  const indexes = indexed(database);
  const events = database.query("SELECT count(*) AS n FROM events").get();
  database.close();
  return { snapshot, indexes, events };
}

/** What the record of the change says is there, against what is there. */
function expectAgreement({ nodes, edges, auditRecords }: Omit<ChangeSnapshot, "at">): void {
  const written = [...nodes.values()].filter(({ createdAt, updatedAt }) => createdAt < updatedAt);
  const records = [...auditRecords.values()].map(({ payload }) => openChecksummed(payload));
  const said = records.flatMap(({ after, replacement = [] }) => [after ?? [], replacement].flat());
  expect<unknown>(written.map(nodeRecord.to)).toEqual(said);
  expect<unknown>(edges.map(edgeRecord.to)).toEqual(records.flatMap(({ edge = [] }) => edge));
}

describe("a crash at each step", () => {
  test.each([...SCENARIOS])(
    "of $name leaves all of it or nothing",
    async ({ name, change, packIn, most }) => {
      const nodes = await makePack(packIn(killing.place(name)));
      const copied = (title: string): SqlitePack => packIn(killing.copy(name, `${name} ${title}`));
      const before = await examine(copied("as it was"), nodes);
      const finished = copied("finished");
      const steps = await killing.finish(finished, change);
      const after = await examine(finished, nodes);
      expect(after.snapshot.auditRecords.size).toBe(1);
      expect(after.indexes.vectors).toHaveLength(before.indexes.vectors.length - 1);

      await inFlight(killedAt(steps, most), async (step) => {
        const pack = copied(`killed at ${step}`);
        await killing.killAt(step, pack, change);
        const left = await examine(pack, nodes);
        expect({ step, ...left }).toEqual({ step, ...(step === steps.count ? after : before) });
        expectAgreement(left.snapshot);
        expect(left.indexes.orphans).toEqual([]);
      });
    },
    180_000,
  );
});
