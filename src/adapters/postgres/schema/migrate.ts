import { developmentPack, SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS, type NamespaceIdentity } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import {
  type ManifestInput,
  readManifest,
  readSetting,
  writeManifest,
  writeNamespace,
  writeSetting,
} from "../../sql/settings.ts";
import { codeOf } from "../connection/failures.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { INSTANT, JSON_TEXT, KEY, OWNER, TEXT } from "./columns.ts";
import { inPartitions, readPartitions } from "./partitions.ts";
import { CORE_TABLES } from "./tables-core.ts";

/** One queue for all work; see `WorkQueue`. */
const WORK = [
  `CREATE TABLE work (
    -- 0: all owners.
    owner ${OWNER},
    kind ${TEXT} NOT NULL,
    -- The key of the owner's event that it is about; 0: none, and it comes again and again.
    subject ${KEY} NOT NULL,
    event_id uuid,
    -- Work of one kind, owner and lane is done one after the other, by subject. Null: in any order.
    lane ${TEXT},
    status ${TEXT} NOT NULL CHECK (status IN ('pending', 'complete', 'failed')),
    -- Not before; null: at once.
    due ${INSTANT},
    -- Tries; where it comes again and again, those that failed since the last success.
    attempts integer NOT NULL DEFAULT 0,
    -- Counts the claims.
    generation integer NOT NULL DEFAULT 0,
    payload ${JSON_TEXT},
    last_error ${TEXT},
    lease_owner ${TEXT},
    lease_expires_at ${INSTANT},
    updated_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, kind, subject)
  )`,
  "CREATE INDEX work_pending ON work (owner, kind, attempts, subject) WHERE status = 'pending'",
  // Whose work is next.
  "CREATE INDEX work_waiting ON work (kind, attempts, updated_at) WHERE status = 'pending'",
  "CREATE INDEX work_leased ON work (owner, lease_owner) WHERE lease_owner IS NOT NULL",
  `CREATE INDEX work_in_lanes ON work (owner, kind, lane, subject) WHERE status = 'pending' AND lane IS NOT NULL`,
  "CREATE INDEX work_by_event ON work (event_id) WHERE event_id IS NOT NULL",
];

/** Records of retrievals, which are kept for a limited time. */
const RECEIPTS = [
  `CREATE TABLE receipts (
    owner ${OWNER},
    request_id uuid NOT NULL,
    -- Whoever asked, who need not own anything yet.
    user_id ${TEXT} NOT NULL,
    created_at ${INSTANT} NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (owner, request_id)
  )`,
  "CREATE INDEX receipts_by_id ON receipts (request_id)",
  "CREATE INDEX receipts_by_time ON receipts (created_at)",
  "CREATE INDEX receipts_by_owner ON receipts (owner, created_at, request_id)",
  // The memories in the context of an answer.
  `CREATE TABLE receipt_nodes (
    owner ${OWNER},
    request_id uuid NOT NULL,
    node_id uuid NOT NULL,
    rank ${KEY} NOT NULL,
    representation ${TEXT} NOT NULL,
    PRIMARY KEY (owner, request_id, node_id),
    FOREIGN KEY (owner, request_id) REFERENCES receipts (owner, request_id) ON DELETE CASCADE ON UPDATE CASCADE
  )`,
  "CREATE INDEX receipt_nodes_by_node ON receipt_nodes (owner, node_id)",
];

/** Vectors of another model, staged until all memories have one. */
const STAGING = [
  `CREATE TABLE vector_staging (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    content_hash ${TEXT} NOT NULL,
    model ${TEXT} NOT NULL,
    version ${TEXT} NOT NULL,
    dimension integer NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
];

const WORK_TABLES: readonly string[] = [...WORK, ...RECEIPTS, ...STAGING];

/**
 * Vectors in a narrow table, so that a scan reads nothing else. Active memories only. The columns have no dimension, so that a rebuild may
 * store vectors of another model. There is no nearest-neighbour index: writing to it would take ten times as long as everything else.
 */
const VECTORS: readonly string[] = [
  `CREATE TABLE vectors (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    -- The vector of a turn of a conversation leans towards those of its neighbours.
    embedding vector NOT NULL,
    scope ${TEXT} NOT NULL,
    node_type ${TEXT} NOT NULL,
    content_hash ${TEXT} NOT NULL,
    -- The version of the owner of which it is.
    revision bigint NOT NULL,
    PRIMARY KEY (owner, key)
  ) WITH (toast_tuple_target = 128)`,
  "ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE main",
  "ALTER TABLE vectors ALTER COLUMN content_hash SET STORAGE plain",
  "CREATE INDEX vectors_by_revision ON vectors (owner, revision)",
];

/** The word index: a block covers 256 keys. */
const WORDS: readonly string[] = [
  `CREATE TABLE lexical_documents (
    owner ${OWNER},
    block ${KEY} NOT NULL,
    -- For each key two bytes: one more than the words in its document; 0 without one.
    lengths bytea NOT NULL,
    PRIMARY KEY (owner, block)
  )`,
  `CREATE TABLE lexical_postings (
    owner ${OWNER},
    term ${TEXT} NOT NULL,
    block ${KEY} NOT NULL,
    -- For each document with the term two bytes: its key in the block, and twice how often it has it. The last entry of a key counts.
    postings bytea NOT NULL,
    PRIMARY KEY (owner, term, block)
  ) WITH (fillfactor = 80)`,
];

/** The vectors of parts of long texts, in a byte for each number. */
const PARTS: readonly string[] = [
  `CREATE TABLE vector_parts (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    parts bytea NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
];

const SEARCH_TABLES: readonly string[] = [...VECTORS, ...PARTS, ...WORDS];

/** The steps from each version of the tables to the next. A released version is never edited. */
const STEPS: readonly (readonly string[])[] = [[...CORE_TABLES, ...SEARCH_TABLES, ...WORK_TABLES]];
/** The functions that triggers of the tables call. */
export const FUNCTIONS: ReadonlySet<string> = new Set(
  STEPS.flat().flatMap(
    (statement) => /^CREATE (?:OR REPLACE )?FUNCTION (\w+)/.exec(statement)?.[1] ?? [],
  ),
);
/** The version of the tables that this program creates and understands. */
const SCHEMA_VERSION = STEPS.length;
const VERSION = "tables_version";
/** Where development builds stored theirs. */
const FORMER_VERSION = "schema_version";
/** Advisory lock for concurrent set-ups of one database. */
const MIGRATION_LOCK = 0x53564331;

/** Waits until no one else sets up the database, or begins to fill it. Runs inside a transaction, until whose end others wait. */
export async function lockSetUp(sql: Sql): Promise<void> {
  await sql.run("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK);
}

export type SetUp = ManifestInput & {
  /** False: a database without tables is an error, and none are created. */
  readonly createIfMissing: boolean;
  /** The owner of new tables. */
  readonly namespace?: NamespaceIdentity | undefined;
  /** Partitions of new tables, by hash of the owner; existing ones must match. Default: none, or as they are. */
  readonly partitions?: number | undefined;
  readonly now: Instant;
};

/**
 * Creates the tables of an empty database, or upgrades those of an earlier version, and writes the manifest, in one transaction. Several
 * processes may do so at once.
 * @param place names the database in errors
 * @throws SvcError pack_too_new, pack_too_old, not_found; unsupported without pgvector, or for tables with a different number of partitions
 */
export async function migrate(database: Database, place: string, input: SetUp): Promise<void> {
  const isDone = await database.read(ALL_OWNERS, async (sql) => {
    const version = await requireKnown(sql, place);
    if (version !== 0) await requirePartitions(sql, place, input.partitions);
    if (version !== SCHEMA_VERSION) return false;
    return (await run(sql, readManifest()))?.softwareVersion === input.softwareVersion;
  });
  if (isDone) return;
  await database.writeAny(async (sql) => {
    await lockSetUp(sql);
    const version = await requireKnown(sql, place);
    if (version === 0) {
      if (!input.createIfMissing) throw noTables(place);
      await requireVectors(sql, place);
    }
    if (version !== 0) await requirePartitions(sql, place, input.partitions);
    const partitions = version === 0 ? input.partitions : await readPartitions(sql);
    if (version < SCHEMA_VERSION) await ofUs(place, () => makeTables(sql, version, partitions));
    if (version === 0 && input.namespace) await run(sql, writeNamespace(input.namespace));
    await run(sql, writeManifest(input, input.now));
  });
}

/** The version of tables that this program knows. */
export async function readTablesVersion(sql: Sql): Promise<number> {
  return Number(await run(sql, readSetting(VERSION)));
}

/** The version of the tables; 0 without any. @throws SvcError pack_too_new, pack_too_old */
async function requireKnown(sql: Sql, place: string): Promise<number> {
  // Read from the catalogue: resolved names are cached, possibly from before the lock.
  const found = await sql.get(
    "SELECT 1 FROM pg_class WHERE relname = 'settings' AND relkind IN ('r', 'p') AND pg_table_is_visible(oid)",
  );
  if (found === undefined) return 0;
  const text = await ofUs(place, () => run(sql, readSetting(VERSION)));
  if (text === undefined) {
    if ((await run(sql, readSetting(FORMER_VERSION))) !== undefined) throw developmentPack(place);
    return 0;
  }
  const version = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
  if (version === undefined) {
    const message = `${place}: its tables have the version ${JSON.stringify(text)}, which no svc has given them. Nothing was changed; restore the row tables_version of the table settings.`;
    throw new SvcError("storage_failed", message, { path: place, reason: "tables_version" });
  }
  if (version <= SCHEMA_VERSION) return version;
  throw new SvcError(
    "pack_too_new",
    `${place}: has tables of version ${version}, this program knows those up to ${SCHEMA_VERSION}. Nothing was changed; use a newer svc.`,
    { path: place, found: version, supported: SCHEMA_VERSION },
  );
}

/** @throws SvcError unsupported unless existing tables have the required number of partitions */
async function requirePartitions(sql: Sql, place: string, wanted?: number): Promise<void> {
  if (wanted === undefined) return;
  const found = await readPartitions(sql);
  if (found === wanted) return;
  const has = found === undefined ? "no partitions" : `${found} partitions`;
  const message = `${place}: its tables have ${has}, and database_partitions asks for ${wanted}. Nothing was changed; copy the memories into an empty database with svc migrate, or unset database_partitions.`;
  throw new SvcError("unsupported", message, { path: place });
}

/** Signs that a table of another program has the name of one of ours. */
const FOREIGN: ReadonlySet<string> = new Set(["42P07", "42710", "42703", "42P16"]);

/** Runs work on our tables. @throws SvcError storage_failed if they belong to another program; and what the work throws */
async function ofUs<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const reason = codeOf(error) ?? "";
    if (!FOREIGN.has(reason)) throw error;
    const message = `${place}: has tables of another program with names that svc uses. Nothing was changed; give svc a database of its own.`;
    throw new SvcError("storage_failed", message, { path: place, reason }, { cause: error });
  }
}

/** @throws SvcError not_found without tables; pack_too_new, pack_too_old */
export async function requireTables(sql: Sql, place: string): Promise<void> {
  if ((await requireKnown(sql, place)) === 0) throw noTables(place);
}

async function makeTables(sql: Sql, from: number, partitions = 0): Promise<void> {
  const whole = STEPS.slice(from).flat();
  const statements = partitions === 0 ? whole : inPartitions(whole, partitions);
  for (const statement of statements) await sql.run(statement);
  await run(sql, writeSetting(VERSION, String(SCHEMA_VERSION)));
}

/** @throws SvcError unsupported unless pgvector 0.8 or newer exists, or can be added by this user */
export async function requireVectors(sql: Sql, place: string): Promise<void> {
  const refuse = (reason: string, cause?: unknown): SvcError =>
    new SvcError("unsupported", `${place}: ${reason}`, { path: place }, { cause });
  const isOffered = await sql.get("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'");
  if (isOffered === undefined) {
    throw refuse("the server has no pgvector. Install pgvector 0.8 or newer on it.");
  }
  try {
    await sql.run("CREATE EXTENSION IF NOT EXISTS vector");
  } catch (error) {
    if (codeOf(error) !== "42501") throw error;
    throw refuse(
      "the user may not add pgvector to the database. Run as an administrator: CREATE EXTENSION vector",
      error,
    );
  }
  const row = await sql.get<{ version: string }>(
    "SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'",
  );
  const [major = 0, minor = 0] = (row?.version ?? "").split(".").map(Number);
  if (major === 0 && minor < 8) {
    throw refuse(
      `has pgvector ${row?.version}, and 0.8 or newer is needed. Install it, then run: ALTER EXTENSION vector UPDATE`,
    );
  }
}

function noTables(place: string): SvcError {
  const message = `${place}: has no tables yet; they are made when svc serve is started on it`;
  return new SvcError("not_found", message, { kind: "pack", id: place });
}
