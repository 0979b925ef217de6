import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  MASTER_KEY,
  openSqlitePack,
  type SqlitePack,
  storeOptions,
} from "./sqlite-pack.ts";
import { ACROSS_PARTS, runStoreContract, type StorePlace } from "./store-contract.ts";

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

function openPlace(packIn: (folder: string) => SqlitePack): StorePlace {
  const folder = mkdtempSync(join(tmpdir(), "svc-contract-"));
  const pack = packIn(folder);
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  return {
    open: (options = {}) => openSqlitePack(pack, { ...options, shareEncrypted: true }),
    worker: (...args) => [
      process.execPath,
      join(import.meta.dir, "worker.ts"),
      JSON.stringify(pack),
      ...args,
    ],
    tampering: TAMPERING,
    runRaw: (sql, ...parameters) => {
      const database = openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
      try {
        database.query(sql).run(...parameters);
      } finally {
        database.close();
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

// One file and three, with and without encryption: two layouts keep all promises, the other two those that depend on both.
runStoreContract("a pack of one file", () => openPlace(filePack));
runStoreContract("an encrypted directory pack", () =>
  openPlace((folder) => encrypted(directoryPack(folder))),
);
runStoreContract("a directory pack", () => openPlace(directoryPack), ACROSS_PARTS);
runStoreContract(
  "an encrypted pack of one file",
  () => openPlace((folder) => encrypted(filePack(folder))),
  ACROSS_PARTS,
);
