/**
 * Kills a process with SIGKILL before each statement of a join of two owners, and right after its commit, each time on a fresh
 * copy of a pack, and looks whether everything changed hands or nothing.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
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
import { bundled } from "./bundled.ts";
import { DISK } from "./disk-folder.ts";

/** Turns of one conversation; every other one is bob's. */
const WORDS = ["alpha", "bravo", "charlie", "delta", "echo"];

let folder = "";
let worker = "";
beforeAll(async () => {
  folder = mkdtempSync(join(DISK, "svc-owner-"));
  worker = await bundled("owner-move-worker.ts", folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

/** @param last the step before which it is killed; 0: it finishes. @returns what it said */
async function runWorker(pack: SqlitePack, last: number): Promise<string> {
  const child = Bun.spawn([process.execPath, worker, JSON.stringify(pack), String(last)], {
    ...{ stdout: "pipe", stderr: "inherit", stdin: "ignore" },
  });
  const said = await new Response(child.stdout).text();
  await child.exited;
  expect(child.signalCode).toBe(last === 0 ? null : "SIGKILL");
  return said.trim();
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
    { name: "a pack of one file", packIn: filePack, every: 1 },
    { name: "a directory pack", packIn: directoryPack, every: 3 },
    { name: "an encrypted pack", packIn: (at: string) => encrypted(filePack(at)), every: 7 },
  ])(
    "in $name leaves it as it was or done",
    async ({ name, packIn, every }) => {
      const template = join(folder, name);
      mkdirSync(template);
      await makePack(packIn(template));
      const copied = (title: string): SqlitePack => {
        const place = join(folder, `${name} ${title}`);
        cpSync(template, place, { recursive: true });
        return packIn(place);
      };
      const before = await examine(copied("as it was"));
      expect(before.owners.map(({ userId }) => userId)).toEqual(["bob", "ada"]);
      const finished = copied("finished");
      const steps = Number(await runWorker(finished, 0));
      const after = await examine(finished);
      expect(after).toMatchObject({
        owner: { userId: "ada" },
        owners: [{ userId: "ada", memories: 5, events: 5 }],
        receipts: [{ user_id: "ada" }],
      });
      expect(after.indexes.vectors).toHaveLength(WORDS.length);

      const killedAt = Array.from({ length: steps }, (_, index) => index + 1).filter(
        (step) => step % every === 0 || step >= steps - 1,
      );
      expect(killedAt.length).toBeGreaterThan(5);
      for (const step of killedAt) {
        const pack = copied(`killed at ${step}`);
        expect(await runWorker(pack, step)).toBe("");
        const left = await examine(pack);
        expect({ step, ...left }).toEqual({ step, ...(step === steps ? after : before) });
        expect(left.indexes.orphans).toEqual([]);
      }
      console.log(`${name}: ${steps} steps, ${killedAt.length} kills`);
    },
    300_000,
  );
});
