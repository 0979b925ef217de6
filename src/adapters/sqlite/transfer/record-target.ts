import type { Instant } from "../../../lib/instant.ts";
import type { Manifest, TransferTarget } from "../../../ports/store/store.ts";
import { writeNamespace } from "../../sql/settings.ts";
import { type PutVectors, writeRecords } from "../../sql/transfer.ts";
import type { PackLayout } from "../connection/layout.ts";
import { openDatabase, turnToLog } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { native, run } from "../connection/run.ts";
import { migrate } from "../schema/migrate.ts";
import { putVectors } from "../vectors/write-vectors.ts";
import { writeTexts } from "./import.ts";

export type RecordTargetOptions = {
  /** Where the pack is created; only its key may exist there yet. */
  readonly layout: PackLayout;
  readonly connection: Connection;
  readonly manifest: Manifest;
  readonly now: Instant;
};

/**
 * Makes a pack that receives records; call `close` when it has all. If anything fails, the files at `layout` are worthless.
 * @throws SvcError, SQLiteError
 */
export function createRecordTarget(
  options: RecordTargetOptions,
): TransferTarget & { close(): void } {
  const { layout, connection, manifest, now } = options;
  const database = openDatabase({
    ...connection,
    layout,
    mode: "create",
    // Durability is not needed until the pack gets its name; it is synced before that.
    synchronous: "normal",
  });
  try {
    turnToLog(database, layout);
    database.transaction(() => {
      migrate(database, layout, manifest, now);
      database
        .query("UPDATE pack_manifest SET created_at = ?, updated_at = ?")
        .run(manifest.createdAt, manifest.updatedAt);
      if (connection.namespace !== undefined) run(database, writeNamespace(connection.namespace));
    })();
  } catch (error) {
    database.close();
    throw error;
  }
  const put: PutVectors = (_owner, entries) =>
    native((pack) =>
      putVectors(
        pack,
        entries.map((entry) => ({ ...entry, at: now })),
        manifest.embedding,
      ),
    );
  return {
    taken: () => 0,
    take: async (kind, records) => {
      database.transaction(() => run(database, writeRecords(kind, records, put)))();
    },
    index: async (onProgress, signal) => {
      for (const done of writeTexts(database)) {
        onProgress(done);
        await Bun.sleep(0);
        signal.throwIfAborted();
      }
      database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    },
    // No other process knows its name yet.
    open: async () => {},
    close: () => database.close(),
  };
}
