import type { Database } from "../adapters/postgres/connection/sql.ts";
import { requirePack } from "../adapters/sqlite/connection/failures.ts";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { writeEncryptionManifest } from "../adapters/sqlite/copy/encryption-manifest.ts";
import { createRecordTarget, openRecordSource } from "../adapters/sqlite/transfer/record-source.ts";
import { createIdSource, createSystemClock } from "../adapters/system/system.ts";
import type { Keyed, NewKey } from "../app/new-key.ts";
import { opening, withConnection, withDatabase } from "../app/pack-connection.ts";
import { keyTextOf, withCipher } from "../app/pack-key.ts";
import { databaseOf, layoutOf } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import { ALL_OWNERS } from "../domain/owner.ts";
import {
  type Cell,
  RECORD_KINDS,
  RECORDS,
  type RecordKind,
  type TransferRecord,
} from "../domain/records/rows.ts";
import type { TransferSource, TransferTarget } from "../ports/store/store.ts";
import { makeKeyedPack } from "./hidden-pack.ts";

/** The source and target of a copy. */
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
 * Copies the configured pack into an empty database and compares the two; the pack is not changed, and nobody else may have it open. After
 * an interruption the same call goes on where it stopped.
 * @param target names the database
 * @param goesOn false: a pack that is made for this alone, so that no other call can have begun with it
 * @throws SvcError invalid_argument for a database that holds something else; pack_in_use, encryption_failed, storage_failed,
 * storage_unavailable and others; the signal's reason
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
 * Copies a snapshot of a database into an empty one, and compares the two; the source may stay in use, and is unchanged. After an
 * interruption the same call starts over.
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

/** @param goesOn whether an interrupted call may have copied some of the records */
async function fillDatabase(
  source: TransferSource,
  target: Config,
  run: TransferRun,
  goesOn: boolean,
): Promise<Omit<DatabaseMigration, "source">> {
  const place = databaseOf(target) ?? "";
  const { openRecordTarget } = await import("../adapters/postgres/transfer/record-source.ts");
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
 * Creates the configured pack, which must not exist yet, from a snapshot of a database, with a key as `createPack` does. It appears once it
 * is complete and was compared with the database, or not at all.
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

export type TransferRun = {
  readonly signal: AbortSignal;
  /** Called periodically. @param stage the current step */
  readonly onProgress: (stage: string, done: number, total: number) => void;
};

type TransferCounts = Readonly<Record<RecordKind, number>>;

/** Copies all records that the target lacks, a page at a time, and has it index them. */
async function copyRecords(
  source: TransferSource,
  target: TransferTarget,
  { signal, onProgress }: TransferRun,
): Promise<void> {
  const counts = await countsOf(source);
  const total = sum(counts);
  let done = 0;
  for (const kind of RECORD_KINDS) {
    const taken = target.taken(kind);
    if (taken < counts[kind]) {
      let copied = taken;
      for await (const page of source.read(kind, taken)) {
        await target.take(kind, page);
        copied += page.length;
        onProgress("copying", done + copied, total);
        signal.throwIfAborted();
      }
    }
    done += counts[kind];
  }
  await target.index((indexed) => onProgress("indexing", indexed, counts.node), signal);
}

/**
 * Compares the contents of two stores: for each kind and owner, the number of records and their checksum.
 * @param place names the copy in errors
 * @returns the number of records in both
 * @throws SvcError storage_failed naming the first difference
 */
async function requireSameRecords(
  original: TransferSource,
  copy: TransferSource,
  place: string,
  { signal, onProgress }: TransferRun,
): Promise<TransferCounts> {
  const total = 2 * sum(await countsOf(original));
  let done = 0;
  const onRead = (records: number): void => {
    done += records;
    onProgress("comparing", done, total);
    signal.throwIfAborted();
  };
  const counts: [RecordKind, number][] = [];
  for (const kind of RECORD_KINDS) {
    const wanted = await checksumsOf(original, kind, onRead);
    const found = await checksumsOf(copy, kind, onRead);
    for (const owner of new Set([...wanted.keys(), ...found.keys()])) {
      requireSame(wanted.get(owner) ?? NOTHING, found.get(owner) ?? NOTHING, {
        kind,
        owner,
        place,
      });
    }
    counts.push([kind, wanted.values().reduce((all, { count }) => all + count, 0)]);
  }
  // SAFETY: every kind was counted.
  return Object.fromEntries(counts) as TransferCounts;
}

async function countsOf(source: TransferSource): Promise<TransferCounts> {
  const counts: [RecordKind, number][] = [];
  for (const kind of RECORD_KINDS) counts.push([kind, await source.count(kind)]);
  // SAFETY: every kind was counted.
  return Object.fromEntries(counts) as TransferCounts;
}

function sum(counts: TransferCounts): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

/** The records of an owner: their number, and the XOR of their SHA-256 hashes, which does not depend on their order. */
type Checksum = { readonly count: number; readonly sha256: Uint8Array };

const SHA256_BYTES = 32;
const NOTHING: Checksum = { count: 0, sha256: new Uint8Array(SHA256_BYTES) };

async function checksumsOf(
  source: TransferSource,
  kind: RecordKind,
  onRead: (records: number) => void,
): Promise<ReadonlyMap<string, Checksum>> {
  const byOwner = new Map<string, Checksum>();
  for await (const page of source.read(kind, 0)) {
    for (const record of page) {
      const owner = String(record["user_id"] ?? "");
      const { count, sha256 } = byOwner.get(owner) ?? {
        ...NOTHING,
        sha256: new Uint8Array(SHA256_BYTES),
      };
      const hash = new Bun.CryptoHasher("sha256").update(textOf(kind, record)).digest();
      hash.forEach((byte, place) => {
        sha256[place] = (sha256[place] ?? 0) ^ byte;
      });
      byOwner.set(owner, { count: count + 1, sha256 });
    }
    onRead(page.length);
  }
  return byOwner;
}

function textOf(kind: RecordKind, record: TransferRecord): string {
  return JSON.stringify(RECORDS[kind].map((name) => shown(record[name] ?? null)));
}

/** Different for different cells. */
function shown(cell: Cell): unknown {
  return cell instanceof Uint8Array ? { bytes: cell.toBase64() } : cell;
}

function requireSame(
  wanted: Checksum,
  found: Checksum,
  { kind, owner, place }: { readonly kind: string; readonly owner: string; readonly place: string },
): void {
  const isSame = wanted.count === found.count && wanted.sha256.toHex() === found.sha256.toHex();
  if (isSame) return;
  const whose = owner === "" ? "" : ` of ${JSON.stringify(owner)}`;
  const what =
    wanted.count === found.count
      ? `the content of a ${kind} record${whose} differs`
      : `it has ${found.count} of ${wanted.count} ${kind} records${whose}`;
  throw new SvcError(
    "storage_failed",
    `${place}: the copy differs from the original (${what}); the original stays as it is. If the copy was made before and has been used since, the destination is not empty: give the address of an empty one`,
    { path: place },
  );
}
