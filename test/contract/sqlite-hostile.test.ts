import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/ports/store/store.ts";
import { aMaterialization, aNode, anAdmission, anEvent, at, freshId, put } from "./samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  openSqlitePack,
  type SqlitePack,
} from "./sqlite-pack.ts";
import { onPack } from "./sqlite-seed.ts";

/** Every way in which SQL can change or remove the row of an event; `?1` is the event's id. */
const TAMPERING = [
  "UPDATE events SET content = 'forged' WHERE id = ?1",
  "UPDATE OR REPLACE events SET id = '00000000-0000-0000-0000-000000000000' WHERE id = ?1",
  "DELETE FROM events WHERE id = ?1",
  "DELETE FROM events WHERE id = ?1 OR 1",
  `INSERT OR REPLACE INTO events (id, owner, scope, role, content, content_hash, timestamp)
   SELECT id, owner, scope, role, 'forged', content_hash, timestamp FROM events WHERE id = ?1`,
  `INSERT OR REPLACE INTO events (key, id, owner, scope, role, content, content_hash, timestamp)
   SELECT key, 'another id', owner, scope, role, 'forged', content_hash, timestamp FROM events WHERE id = ?1`,
  `REPLACE INTO events SELECT key, id, owner, session_id, scope, role, 'forged', content_hash, metadata,
   event_time, timestamp FROM events WHERE id = ?1`,
  `INSERT INTO events (id, owner, scope, role, content, content_hash, timestamp)
   SELECT id, owner, scope, role, 'forged', content_hash, timestamp FROM events WHERE id = ?1
   ON CONFLICT (id) DO UPDATE SET content = excluded.content`,
  "WITH forged AS (SELECT 'forged' AS text) UPDATE events SET content = text FROM forged WHERE id = ?1",
  "UPDATE owners SET user_id = 'mallory' WHERE owner = (SELECT owner FROM events WHERE id = ?1)",
  "UPDATE owners SET owner = owner + 1 WHERE owner = (SELECT owner FROM events WHERE id = ?1)",
  "DELETE FROM owners WHERE owner = (SELECT owner FROM events WHERE id = ?1)",
  `INSERT OR REPLACE INTO owners SELECT owner, 'mallory' FROM owners
   WHERE owner = (SELECT owner FROM events WHERE id = ?1)`,
];

const LAYOUTS: readonly { name: string; packIn: (folder: string) => SqlitePack }[] = [
  { name: "a pack of one file", packIn: filePack },
  { name: "a directory pack", packIn: directoryPack },
  { name: "an encrypted pack of one file", packIn: (folder) => encrypted(filePack(folder)) },
  { name: "an encrypted directory pack", packIn: (folder) => encrypted(directoryPack(folder)) },
];

describe.each(LAYOUTS)("SQL of somebody else on $name", ({ packIn }) => {
  const opened: Store[] = [];
  const folders: string[] = [];

  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  async function fresh() {
    const folder = mkdtempSync(join(tmpdir(), "svc-hostile-"));
    folders.push(folder);
    const pack = packIn(folder);
    const store = await openSqlitePack(pack, { shareEncrypted: true });
    opened.push(store);
    const run = (sql: string, ...parameters: readonly string[]) =>
      onPack(pack, (database) => database.query(sql).run(...parameters));
    return { store, run };
  }

  test("changes no event", async () => {
    const { store, run } = await fresh();
    const event = anEvent({ sessionId: "s", metadata: { a: 1 } });
    await store.admit(anAdmission([event, anEvent()]));

    const failures = TAMPERING.map((sql) => {
      try {
        run(sql, event.id);
        return `went through: ${sql}`;
      } catch {
        return "refused";
      }
    });

    expect(failures).toEqual(TAMPERING.map(() => "refused"));
    expect(await store.event(event.id, "ada")).toEqual(event);
    expect(await store.countEvents("ada")).toBe(2);
  });

  test("changes no owner, and no event along with its owner", async () => {
    const { store, run } = await fresh();
    await put(store, { userId: "ada" }, { userId: "bob" });
    const statements = [
      "UPDATE owners SET user_id = 'eve' WHERE user_id = 'bob'",
      "UPDATE events SET owner = (SELECT owner FROM owners WHERE user_id = 'ada')",
    ];
    for (const sql of statements) expect(() => run(sql)).toThrow("immutable");
    await store.owners.move({
      ...{ from: "bob", into: "ada", isJoin: true },
      ...{ id: freshId(), settingId: freshId(), actorId: "test" },
    });
    expect(() => run("UPDATE events SET content = 'other'")).toThrow("immutable");
  });

  test.each([
    { name: "changes", sql: "UPDATE receipts SET body = x'00'" },
    { name: "gives away", sql: "UPDATE receipts SET user_id = 'x'" },
    {
      name: "replaces",
      sql: `INSERT OR REPLACE INTO receipts SELECT key, request_id, user_id, created_at, x'00' FROM receipts`,
    },
    {
      name: "replaces under another key",
      sql: `REPLACE INTO receipts SELECT key + 1, request_id, user_id, created_at, x'00' FROM receipts`,
    },
  ])("$name no receipt", async ({ sql }) => {
    const { store, run } = await fresh();
    const body = Uint8Array.of(1, 2, 3);
    const kept = { requestId: freshId(), userId: "ada", createdAt: at(1), body };
    await store.saveReceipt(kept);

    expect(() => run(sql)).toThrow("receipts are immutable");
    expect(await store.receipt(kept.requestId, "ada")).toEqual(kept);
  });

  test("that changes what a node cites, or removes it, is followed by the list of what cites an event", async () => {
    const { store, run } = await fresh();
    const [old, kept, added] = [anEvent(), anEvent(), anEvent()];
    await store.admit(anAdmission([old, kept, added]));
    const node = aNode(old, { content: "node", evidenceRefs: [old.id, kept.id] });
    await store.materialize([aMaterialization(old, node)]);
    const cited = async () =>
      Promise.all(
        [old, kept, added].map(async ({ id }) => (await store.nodesCiting(id, "ada")).length),
      );

    const refs = JSON.stringify([kept.id, added.id, kept.id, freshId()]);
    run("UPDATE nodes SET evidence_refs = ? WHERE id = ?", refs, node.id);
    expect(await cited()).toEqual([0, 1, 1]);
    run("UPDATE nodes SET confidence = 0.1, evidence_refs = evidence_refs");
    expect(await cited()).toEqual([0, 1, 1]);
    run("DELETE FROM nodes WHERE id = ?", node.id);
    expect(await cited()).toEqual([0, 0, 0]);
  });
});
