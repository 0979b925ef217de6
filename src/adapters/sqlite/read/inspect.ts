import type { Database } from "bun:sqlite";
import type { Uuid } from "../../../lib/uuid.ts";
import type { StoreInspection } from "../../../ports/store/store.ts";
import type { Upkeep } from "../../../ports/store/work.ts";
import { inspectContents, PENDING } from "../../sql/inspect.ts";
import { begunModel } from "../../sql/rebuild.ts";
import { fromIdBytes } from "../../sql/receipts.ts";
import { readManifest } from "../../sql/settings.ts";
import { countRetained, readAging, readLastSteps, readLastUses } from "../../sql/upkeep.ts";
import { countRows } from "../connection/ask.ts";
import { notAPack, toSvcError } from "../connection/failures.ts";
import { mainPath, type PackLayout, schemasOf } from "../connection/layout.ts";
import type { DatabaseOptions } from "../connection/open-database.ts";
import { openForReading, type Reading } from "../connection/open-reading.ts";
import type { Cipher } from "../connection/pack-files.ts";
import { run } from "../connection/run.ts";
import { type KeyBackup, readKeyBackup } from "../schema/key-backup.ts";
import { appliedVersion } from "../schema/migrate.ts";
import { documentNumber } from "../write/lexical-index.ts";
import { ACTIVE, HAS_TEXT, HAS_WORDS } from "../write/turns.ts";

/** The properties of a pack. */
export type PackInspection = StoreInspection & {
  readonly keyBackup: KeyBackup | undefined;
  /** Errors reported by SQLite; empty if the files are intact; undefined if they were not checked. */
  readonly damage: readonly string[] | undefined;
  /** Requests with unreadable receipts; undefined if not checked. */
  readonly damagedReceipts: readonly Uuid[] | undefined;
};

export type InspectOptions = Pick<DatabaseOptions, "namespace"> & {
  readonly layout: PackLayout;
  /** Reads every page, which takes time proportional to the size of the pack. */
  readonly checkIntegrity: boolean;
  /** Whether a receipt's body is intact; used by the integrity check. Default: always. */
  readonly isReceiptWhole?: ((body: Uint8Array) => boolean) | undefined;
  /** Of an encrypted pack. */
  readonly cipher?: Cipher | undefined;
};

const BUSY_TIMEOUT_MS = 5000;

/**
 * Examines a pack without changing it, even while other processes use it.
 * @throws SvcError not_a_pack, pack_too_new, encryption_failed, pack_damaged, storage_failed
 */
export function inspectPack(options: InspectOptions): PackInspection {
  const { layout } = options;
  const path = mainPath(layout);
  try {
    const reading = openToInspect(options);
    try {
      return readAll(reading.database, options);
    } finally {
      reading.close();
    }
  } catch (error) {
    throw toSvcError(error, path);
  }
}

/**
 * The connection for examining a pack. While it is open, no closing process checkpoints the log.
 * @throws SvcError as `inspectPack`; SQLiteError from SQLite itself
 */
export function openToInspect(
  options: Pick<InspectOptions, "layout" | "cipher" | "namespace">,
): Reading {
  return openForReading(options.layout, {
    synchronous: "full",
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    cipher: options.cipher,
    namespace: options.namespace,
  });
}

/** Reads about fading, on an examining connection. */
export function fadingReads(
  database: Database,
): Pick<Upkeep, "walkAging" | "lastSteps" | "lastUses" | "countRetained"> {
  return {
    walkAging: async (walk) => run(database, readAging(walk)),
    lastSteps: async (nodeIds) => run(database, readLastSteps(nodeIds)),
    lastUses: async (nodeIds) => run(database, readLastUses(nodeIds)),
    countRetained: async (owner, until) => run(database, countRetained(owner, until)),
  };
}

function readAll(database: Database, options: InspectOptions): PackInspection {
  const { layout, checkIntegrity, isReceiptWhole = () => true } = options;
  const tableCount = countRows(database, "sqlite_schema WHERE type = 'table'");
  const manifest = tableCount === 0 ? undefined : run(database, readManifest());
  if (manifest === undefined) throw notAPack(mainPath(layout), "it has no manifest");
  return {
    manifest,
    ...run(database, inspectContents()),
    begunModel: run(database, begunModel()),
    tableCount,
    tablesVersion: appliedVersion(database, "core"),
    keyBackup: readKeyBackup(database),
    vectorCount: countRows(database, "vectors WHERE revision IS NOT NULL"),
    lexicalCount: countRows(database, "lexical_documents_docsize"),
    withoutVector: countMissing(database, HAS_TEXT, WHOLE_VECTORS),
    withoutLexical: countMissing(database, HAS_WORDS, WHOLE_DOCUMENTS),
    damage: checkIntegrity ? findDamage(database, layout) : undefined,
    damagedReceipts: checkIntegrity ? damagedReceipts(database, isReceiptWhole) : undefined,
  };
}

/** Keys of the nodes with a complete vector. */
const WHOLE_VECTORS = `SELECT v.node_key FROM vectors v CROSS JOIN nodes n ON n.key = v.node_key AND n.owner = v.owner
  WHERE v.revision IS NOT NULL`;

/** Keys of the nodes whose document has the right number. */
const WHOLE_DOCUMENTS = `SELECT key FROM nodes
  WHERE ${documentNumber("owner", "key")} IN (SELECT id FROM lexical_documents_docsize)`;

function countMissing(database: Database, belongs: string, indexed: string): number {
  return countRows(
    database,
    `nodes WHERE lifecycle_state IN ${ACTIVE} AND ${belongs}
       AND key NOT IN (${indexed})
       AND coalesce(evidence_refs ->> 0, '') NOT IN
         (SELECT e.id FROM jobs CROSS JOIN events e ON e.key = event_key WHERE ${PENDING})`,
  );
}

function findDamage(database: Database, layout: PackLayout): readonly string[] {
  return schemasOf(layout).flatMap((schema) =>
    database
      .query<{ integrity_check: string }, []>(`PRAGMA ${schema}.integrity_check(10)`)
      .all()
      .map((row) => row.integrity_check)
      .filter((line) => line !== "ok"),
  );
}

/** The requests with unreadable receipts, oldest first. @param isWhole whether a body is intact */
function damagedReceipts(
  database: Database,
  isWhole: (body: Uint8Array) => boolean,
): readonly Uuid[] {
  const rows = database.prepare<{ request_id: Uint8Array; body: Uint8Array }, []>(
    "SELECT request_id, body FROM receipts ORDER BY key",
  );
  const damaged: Uuid[] = [];
  try {
    for (const row of rows.iterate()) {
      if (!isWhole(row.body)) damaged.push(fromIdBytes(row.request_id));
    }
  } finally {
    rows.finalize();
  }
  return damaged;
}
