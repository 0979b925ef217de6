/** Databases of earlier versions, which have what this version adds only after it was opened. A real server. */
import { expect, test } from "bun:test";
import { ownerKey } from "../../../src/adapters/postgres/owner-key.ts";
import type { ContextNode } from "../../../src/ports/store/receipt-log.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { openPostgres, stoppableDatabase } from "../../contract/postgres-place.ts";
import { anAuditRecord, at, put } from "../../contract/samples.ts";
import { write } from "../../contract/store-change.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { aReceipt } from "../../contract/store-receipts.ts";
import { leftOut } from "../../left-out.ts";
import {
  databaseUrl,
  dropDatabase,
  makeDatabase,
  NO_POSTGRES,
  onServer,
} from "../../postgres/databases.ts";

/** Takes away what later versions have added. */
const TO_VERSION_4 = [
  "DROP TABLE vector_parts",
  "DROP INDEX nodes_with_parts",
  "DROP POLICY IF EXISTS of_owners ON erasures",
  "DROP INDEX erasures_by_event",
  "ALTER TABLE erasures DROP COLUMN owner, ADD PRIMARY KEY (event_id)",
  "DROP FUNCTION svc_refuse_event_loss CASCADE",
  `CREATE TRIGGER events_never_vanish BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  "UPDATE settings SET value = '4' WHERE name = 'schema_version'",
];
const TO_VERSION_1 = [
  ...TO_VERSION_4,
  "DROP TABLE blobs, blob_uses",
  "DROP TABLE erasures",
  "DROP FUNCTION svc_refuse_operation_change CASCADE",
  "DROP TRIGGER operations_never_vanish ON operations",
  `CREATE TRIGGER operations_never_change BEFORE UPDATE OR DELETE ON operations
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  "DROP TABLE receipt_nodes",
  "DROP INDEX operations_of_changes",
  "ALTER TABLE receipts DROP COLUMN is_told",
  "UPDATE settings SET value = '1' WHERE name = 'schema_version'",
];

test.skipIf(NO_POSTGRES !== undefined)(
  `a database of version 1 keeps its receipts and its changes, and finds them by what they are about${leftOut(NO_POSTGRES)}`,
  async () => {
    const name = await makeDatabase();
    const open = () => openPostgres({ url: databaseUrl(name) });
    try {
      const former = await open();
      const [tea] = await put(former, {});
      if (tea === undefined) throw new Error("a memory was stored");
      const shown: ContextNode = { nodeId: tea.id, rank: 1, representation: "full" };
      const receipt = aReceipt();
      await former.saveReceipt(receipt, [shown]);
      const pin = anAuditRecord({ opType: "PIN", targetId: tea.id, createdAt: at(1) });
      await write(former, { nodes: [{ ...tea, pinned: true }], auditRecords: [pin] });
      await former.close();
      for (const statement of TO_VERSION_1) await onServer(statement, name);

      // Several programs open it at once.
      const [store, other] = await Promise.all([open(), open()]);
      const uses = async ({ usesOf }: Store) =>
        (await usesOf({ userId: "ada", nodeId: tea.id, limit: 9 })).items;
      expect([await uses(store), await store.hasUntoldContexts()]).toEqual([[], true]);
      await Promise.all([store, other].map((each) => each.fillContexts(9, () => [shown])));
      expect(await uses(other)).toEqual([{ receipt, rank: 1, representation: "full" }]);
      expect(await other.hasUntoldContexts()).toBe(false);
      expect((await store.changesOf({ userId: "ada", limit: 9 })).items).toEqual([pin]);
      expect(
        await onServer("SELECT value FROM settings WHERE name = 'schema_version'", name),
      ).toEqual([{ value: "6" }]);
      await Promise.all([store.close(), other.close()]);
    } finally {
      await dropDatabase(name);
    }
  },
);

test.skipIf(NO_POSTGRES !== undefined)(
  `a database of version 4 knows afterwards whose the erased was, behind row-level security, too${leftOut(NO_POSTGRES)}`,
  async () => {
    const url = await stoppableDatabase();
    const name = new URL(url).pathname.slice(1);
    const open = () => openPostgres({ url });
    try {
      const former = await openPostgres({ url }, { rowSecurity: true });
      const [tea] = await put(former, {});
      if (tea === undefined) throw new Error("a memory was stored");
      await former.erase(anErasure([tea]));
      await former.close();
      for (const statement of TO_VERSION_4) await onServer(statement, name);
      await onServer(
        "CREATE POLICY of_owners ON erasures USING ((SELECT svc_owners() IS NOT NULL))",
        name,
      );

      const store = await open();
      const erased = "SELECT DISTINCT owner FROM erasures";
      expect(await onServer(erased, name)).toEqual([{ owner: ownerKey("ada") }]);
      expect(
        await onServer(
          "SELECT relrowsecurity AS on FROM pg_class WHERE relname = 'erasures'",
          name,
        ),
      ).toEqual([{ on: true }]);
      // What is gone stays known: nobody gets its id again.
      await put(store, { id: tea.id, userId: "bob" });
      expect(await store.node(tea.id, "bob")).toBeUndefined();
      await store.close();
    } finally {
      await dropDatabase(name);
    }
  },
);
