/**
 * Kills a process with SIGKILL before statements of a join of two owners, and right after its commit, each time on a fresh
 * copy of a pack, and looks whether everything changed hands or nothing.
 */
import { describe, expect, test } from "bun:test";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { connectionOf } from "../adapters/sqlite/exported.ts";
import { indexed } from "../adapters/sqlite/indexed.ts";
import { freshId, put, unit } from "../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "../contract/sqlite-pack.ts";
import { aReceipt } from "../contract/store-receipts.ts";
import { killedAt, useKilling } from "./statement-kills.ts";

/** Turns of one conversation; every other one is bob's. */
const WORDS = ["alpha", "bravo", "charlie", "delta", "echo"];

const killing = useKilling("owner-move-worker.ts");

async function makePack(pack: SqlitePack): Promise<void> {
  const store = await openSqlitePack(pack);
  await put(
    store,
    ...WORDS.map((content, second) => ({
      ...{ content, second, sessionId: "s", userId: second % 2 === 0 ? "bob" : "ada" },
      vector: unit(...WORDS.map((word) => (word === content ? 1 : 0))),
    })),
  );
  await store.saveReceipt(aReceipt({ userId: "bob" }));
  await store.owners.usePack("bob", {
    ...{ id: freshId(), actorId: "test", createdAt: aReceipt().createdAt },
  });
  await store.close();
}

/** Whose everything is once the pack was opened again, and what is in its indexes. */
async function examine(pack: SqlitePack) {
  const store = await openSqlitePack(pack);
  const [owner, owners] = [await store.owners.packOwner(), await store.owners.list()];
  await store.close();
  const database = openDatabase({ layout: pack.layout, mode: "read-write", ...connectionOf(pack) });
  const rows = (sql: string): unknown => database.query(sql).all();
  const found = {
    ...{ owner, owners, indexes: indexed(database) },
    receipts: rows("SELECT user_id FROM receipts"),
    metadata: rows("SELECT node_key, owner FROM vector_metadata ORDER BY 1"),
    operations: rows("SELECT op_type FROM operations ORDER BY key"),
  };
  database.close();
  return found;
}

describe("a crash at each step of a join of two owners", () => {
  test.each([
    { name: "a pack of one file", packIn: filePack, most: 25 },
    { name: "a directory pack", packIn: directoryPack, most: 12 },
    { name: "an encrypted pack", packIn: (at: string) => encrypted(filePack(at)), most: 8 },
  ])(
    "in $name leaves it as it was or done",
    async ({ name, packIn, most }) => {
      await makePack(packIn(killing.place(name)));
      const copied = (title: string): SqlitePack => packIn(killing.copy(name, `${name} ${title}`));
      const before = await examine(copied("as it was"));
      expect(before.owners.map(({ userId }) => userId)).toEqual(["bob", "ada"]);
      const finished = copied("finished");
      const steps = await killing.finish(finished);
      const after = await examine(finished);
      expect(after).toMatchObject({
        owner: { userId: "ada" },
        owners: [{ userId: "ada", memories: 5, events: 5 }],
        receipts: [{ user_id: "ada" }],
      });
      expect(after.indexes.vectors).toHaveLength(WORDS.length);

      for (const step of killedAt(steps, most)) {
        const pack = copied(`killed at ${step}`);
        await killing.killAt(step, pack);
        const left = await examine(pack);
        expect({ step, ...left }).toEqual({ step, ...(step === steps.count ? after : before) });
        expect(left.indexes.orphans).toEqual([]);
      }
    },
    300_000,
  );
});
