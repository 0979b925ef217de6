import type { Database } from "../adapters/postgres/connection/sql.ts";
import { requirePack } from "../adapters/sqlite/connection/failures.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { writeEncryptionManifest } from "../adapters/sqlite/copy/encryption-manifest.ts";
import { openRecordSource } from "../adapters/sqlite/transfer/record-source.ts";
import { createRecordTarget } from "../adapters/sqlite/transfer/record-target.ts";
import { createSystemClock } from "../adapters/system/clock.ts";
import { createIdSource } from "../adapters/system/ids.ts";
import { withDatabase } from "../app/database-connection.ts";
import { opening, withConnection } from "../app/pack-connection.ts";
import { keyTextOf, withCipher } from "../app/pack-key.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { ALL_OWNERS } from "../domain/owner.ts";
import type { TransferSource } from "../ports/store/store.ts";
import type { Keyed, NewKey } from "./create-pack.ts";
import { makeKeyedPack } from "./keyed-pack.ts";
import {
  copyRecords,
  requireSameRecords,
  type TransferCounts,
  type TransferRun,
} from "./transfer.ts";

/** What was copied from where to where. */
export type DatabaseMigration = {
  readonly source: string;
  readonly destination: string;
  readonly counts: TransferCounts;
};

/** Sorting all records of a large store may take the server this long. */
const STATEMENT_LIMIT_MS = 600_000;

async function withCopying<T>(config: Config, use: (database: Database) => Promise<T>): Promise<T> {
  const { TRANSFER } = await import("../adapters/postgres/transfer/transfer-state.ts");
  const given = { name: TRANSFER, poolSize: 2, statementTimeoutMs: STATEMENT_LIMIT_MS };
  return await withDatabase(config, given, use);
}

/**
 * Copies the configured pack into an empty database and compares the two; the pack is not changed, and nobody else may have it open.
 * After an interruption the same call goes on where it stopped.
 * @param target names the database
 * @param goesOn false: a pack that is made for this alone, so that no other call can have begun with it
 * @throws SvcError invalid_argument for a database that holds something else; pack_in_use, encryption_failed, storage_failed,
 *   storage_unavailable and others; the signal's reason
 */
export async function migrateToDatabase(
  config: Config,
  target: Config,
  run: TransferRun,
  goesOn = true,
): Promise<DatabaseMigration> {
  const layout = layoutOf(config);
  const path = mainPath(layout);
  requirePack(path, "nothing was changed");
  return await withPack(config, layout, async (source) => {
    return { source: path, ...(await fillDatabase(source, target, run, goesOn)) };
  });
}

/**
 * Copies what a database holds at one moment into an empty one, and compares the two; others may go on using the source, which is not
 * changed. After an interruption the same call begins again.
 * @throws SvcError as `migrateToDatabase`
 */
export async function migrateDatabase(
  source: Config,
  target: Config,
  run: TransferRun,
): Promise<DatabaseMigration> {
  const place = databaseOf(source) ?? "";
  return await withCopying(source, async (database) => {
    await requireFilled(database, place);
    return await withSource(database, place, async (records) => {
      return { source: place, ...(await fillDatabase(records, target, run, false)) };
    });
  });
}

/** @param goesOn whether a call that was interrupted may have taken the same records */
async function fillDatabase(
  source: TransferSource,
  target: Config,
  run: TransferRun,
  goesOn: boolean,
): Promise<Omit<DatabaseMigration, "source">> {
  const place = databaseOf(target) ?? "";
  const { openRecordTarget } = await import("../adapters/postgres/transfer/record-target.ts");
  const { failureOf } = await import("../adapters/postgres/transfer/transfer-state.ts");
  return await withCopying(target, async (database) => {
    const { manifest } = source;
    const attempt = createIdSource().next();
    const state = goesOn ? source.state : `${source.state} ${attempt}`;
    const partitions = target.database_partitions;
    const options = { manifest, state, run: attempt, place, partitions };
    const now = createSystemClock().now();
    const copied = await openRecordTarget({ database, ...options, now });
    try {
      await copyRecords(source, copied, run);
      const counts = await withSource(database, place, (copy) =>
        requireSameRecords(source, copy, place, run),
      );
      await copied.open();
      return { destination: place, counts };
    } catch (error) {
      throw await failureOf(database, attempt, error);
    }
  });
}

/** @throws SvcError not_found for a database without tables; storage_busy for one that is being filled */
async function requireFilled(database: Database, place: string): Promise<void> {
  const { requireWhole } = await import("../adapters/postgres/transfer/transfer-state.ts");
  const { requireTables } = await import("../adapters/postgres/schema/migrate.ts");
  await database.read(ALL_OWNERS, (sql) => requireTables(sql, place));
  await requireWhole(database, place);
}

async function withSource<T>(
  database: Database,
  place: string,
  use: (source: TransferSource) => Promise<T>,
): Promise<T> {
  const { withRecordSource } = await import("../adapters/postgres/transfer/record-source.ts");
  return await withRecordSource(database, place, use);
}

async function withPack<T>(
  config: Config,
  layout: PackLayout,
  use: (source: TransferSource) => Promise<T>,
): Promise<T> {
  return await withCipher(layout, keyTextOf(config), async (cipher) => {
    const source = openRecordSource({ layout, cipher, ...opening(config) });
    try {
      return await use(source);
    } finally {
      source.close();
    }
  });
}

/**
 * Makes the configured pack, which must not exist yet, from what a database holds at one moment, with a key as `createPack` does. It
 * appears under its name once it is complete and was compared with the database; until then, and if anything fails, there is none.
 * @param source names the database, which is not changed
 * @throws SvcError not_found, invalid_argument, encryption_failed, disk_full, storage_unavailable and others; the signal's reason
 */
export async function migrateFromDatabase(
  source: Config,
  config: Config,
  newKey: NewKey,
  run: TransferRun,
): Promise<DatabaseMigration & Keyed> {
  const layout = layoutOf(config);
  const place = databaseOf(source) ?? "";
  return await withCopying(source, async (database) => {
    await requireFilled(database, place);
    const named = { layout, purpose: "migrate" } as const;
    const { keyed, path, made } = await makeKeyedPack(config, newKey, named, (own, hidden) =>
      withSource(database, place, (records) => fill(own, hidden, records, run)),
    );
    return { ...keyed, source: place, destination: path, counts: made };
  });
}

async function fill(
  config: Config,
  layout: PackLayout,
  source: TransferSource,
  run: TransferRun,
): Promise<TransferCounts> {
  const now = createSystemClock().now();
  const path = mainPath(layout);
  await withConnection(config, layout, async (connection) => {
    const { manifest } = source;
    const target = createRecordTarget({ layout, connection, manifest, now });
    try {
      await copyRecords(source, target, run);
    } finally {
      target.close();
    }
    if (connection.cipher !== undefined && layout.kind === "directory") {
      writeEncryptionManifest(layout, now);
    }
  });
  return await withPack(config, layout, (copy) => requireSameRecords(source, copy, path, run));
}
