import { ERASED_HASH } from "../../../domain/erasure.ts";
import { developmentPack, SvcError } from "../../../domain/errors.ts";
import {
  ALL_OWNERS,
  type NamespaceIdentity,
  requireIdentity,
  workspaceDamaged,
} from "../../../domain/owner.ts";
import { PARTS_FROM } from "../../../domain/search/turns.ts";
import type { Instant } from "../../../lib/instant.ts";
import { IS_TOLD } from "../../sql/audit.ts";
import { COLUMNS, declared } from "../../sql/columns.ts";
import { POSTGRES, sessionStart } from "../../sql/dialect.ts";
import {
  type ManifestInput,
  readManifest,
  readNamespace,
  readSetting,
  writeManifest,
  writeNamespace,
  writeSetting,
} from "../../sql/settings.ts";
import { codeOf } from "../connection/failures.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { DATABASE_TABLES } from "../transfer/record-tables.ts";
import { inPartitions, KEY, OWNER, readPartitions, TEXT } from "./partitions.ts";

// Every key begins with the owner, so that the tables can be partitioned or distributed by it.

const ACTIVE = "lifecycle_state IN ('tentative', 'stable', 'contested')";

const columns = (kind: keyof typeof COLUMNS): string => declared(POSTGRES, COLUMNS[kind]);

/** Metadata of the database: its manifest, the version of its tables, the owner of the pack. */
const SETTINGS = [`CREATE TABLE settings (name ${TEXT} PRIMARY KEY, value ${TEXT} NOT NULL)`];

/** An owner's row is the owner's lock: every writer changes it first. */
const OWNERS = [
  `CREATE TABLE owners (
    owner ${OWNER} PRIMARY KEY,
    user_id ${TEXT} NOT NULL,
    -- Counts the transactions that wrote something.
    version bigint NOT NULL DEFAULT 0,
    next_key ${KEY} NOT NULL DEFAULT 1,
    next_event ${KEY} NOT NULL DEFAULT 1,
    -- Documents in the word index, and the words in them.
    lexical_documents ${KEY} NOT NULL DEFAULT 0,
    lexical_words bigint NOT NULL DEFAULT 0
  )`,
];

const EVENTS = [
  `CREATE TABLE events (
    owner ${OWNER},
    id uuid NOT NULL,
    key ${KEY} NOT NULL,
    ${columns("event")},
    PRIMARY KEY (owner, id),
    UNIQUE (owner, key)
  )`,
  "CREATE INDEX events_by_id ON events (id)",
  "CREATE INDEX events_by_owner ON events (owner, timestamp, id)",
  `CREATE INDEX events_by_session ON events (owner, ${sessionStart("session_id")}, timestamp, id)
    WHERE session_id IS NOT NULL`,
];

const OPERATIONS = [
  `CREATE TABLE operations (
    -- Whose transaction wrote it; 0 for the database as a whole.
    owner ${OWNER},
    id uuid NOT NULL,
    -- Place in the log.
    key bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    ${columns("operation")},
    PRIMARY KEY (owner, id)
  )`,
  `CREATE INDEX operations_of_changes ON operations (owner, created_at, id) WHERE ${IS_TOLD}`,
  "CREATE INDEX operations_by_id ON operations (id)",
  "CREATE INDEX operations_by_target ON operations (target_id, created_at, id)",
  `CREATE INDEX operations_listed ON operations (namespace_id, op_type, target_id)
    WHERE namespace_id IS NOT NULL AND op_type <> 'DIRECT_STORE_REQUESTED'`,
];

const part = (from: number, length: number): string =>
  `substr(created_at, ${from}, ${length})::integer`;
const DAY = `(make_date(${part(1, 4)}, ${part(6, 2)}, ${part(9, 2)}) - make_date(1970, 1, 1))`;
/** Without the fraction of a second; a conversion to a timestamp would depend on settings, and so could not be stored. */
const RETENTION_SECOND = `(${DAY} + ttl_days)::bigint * 86400 + ${part(12, 2)} * 3600 + ${part(15, 2)} * 60 + ${part(18, 2)}`;

const NODES = [
  `CREATE TABLE nodes (
    owner ${OWNER},
    id uuid NOT NULL,
    key ${KEY} NOT NULL,
    ${columns("node")},
    -- The second, since 1970, in which the retention of the memory ends.
    retention_second bigint GENERATED ALWAYS AS (${RETENTION_SECOND}) STORED,
    -- Of its own text, of the model that the manifest names.
    embedding vector,
    -- For people with psql: nothing is ranked by it. A longer text would not fit into a tsvector.
    words tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, left(content, 200000))) STORED,
    PRIMARY KEY (owner, id),
    UNIQUE (owner, key)
  )`,
  "CREATE INDEX nodes_by_id ON nodes (id)",
  "CREATE INDEX nodes_by_owner ON nodes (owner, lifecycle_state, created_at, id)",
  "CREATE INDEX nodes_by_time ON nodes (owner, created_at, id)",
  "CREATE INDEX nodes_by_type ON nodes (owner, node_type, id)",
  `CREATE INDEX nodes_in_session ON nodes (owner, ${sessionStart("session_id")}, scope, created_at, id)
    WHERE session_id IS NOT NULL AND ${ACTIVE}`,
  `CREATE INDEX nodes_entities ON nodes (owner, created_at, id) WHERE node_type = 'entity' AND ${ACTIVE}`,
  `CREATE INDEX nodes_pinned ON nodes (owner, created_at, id)
    WHERE (pinned = 1 OR salience >= 1.0) AND lifecycle_state IN ('tentative', 'stable')`,
  `CREATE INDEX nodes_tasks ON nodes (owner, created_at, id)
    WHERE node_type = 'task' AND lifecycle_state IN ('tentative', 'stable')`,
  // Marks long texts, whose parts have vectors.
  `CREATE INDEX nodes_with_parts ON nodes (owner, key) WHERE octet_length(content) > ${PARTS_FROM}`,
  `CREATE INDEX nodes_expiring ON nodes (retention_second, owner)
    WHERE ttl_days IS NOT NULL AND pinned = 0 AND ${ACTIVE}`,
];

/** Deferrable, so that a transaction may move an owner's nodes and edges to another. */
const EDGES = [
  `CREATE TABLE edges (
    owner ${OWNER},
    id uuid NOT NULL,
    source uuid NOT NULL,
    target uuid NOT NULL,
    ${columns("edge")},
    PRIMARY KEY (owner, id),
    FOREIGN KEY (owner, source) REFERENCES nodes (owner, id) ON DELETE CASCADE DEFERRABLE,
    FOREIGN KEY (owner, target) REFERENCES nodes (owner, id) ON DELETE CASCADE DEFERRABLE
  )`,
  "CREATE INDEX edges_by_source ON edges (owner, source, edge_type, created_at)",
  "CREATE INDEX edges_by_target ON edges (owner, target, edge_type, created_at)",
  "CREATE INDEX edges_from ON edges (owner, source, created_at)",
  "CREATE INDEX edges_to ON edges (owner, target, created_at)",
  "CREATE INDEX edges_contradicting ON edges (owner, created_at, id) WHERE edge_type = 'contradicts'",
];

/** Which memories cite which events, derived from `evidence_refs` by a trigger. */
const EVIDENCE = [
  `CREATE TABLE node_evidence (
    owner ${OWNER},
    event_id uuid NOT NULL,
    node_key ${KEY} NOT NULL,
    PRIMARY KEY (owner, event_id, node_key)
  )`,
  "CREATE INDEX node_evidence_by_node ON node_evidence (owner, node_key)",
  `CREATE FUNCTION svc_note_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP <> 'INSERT' THEN
      DELETE FROM node_evidence WHERE owner = OLD.owner AND node_key = OLD.key;
    END IF;
    IF TG_OP <> 'DELETE' THEN
      INSERT INTO node_evidence (owner, event_id, node_key)
        SELECT DISTINCT NEW.owner, cited::uuid, NEW.key FROM json_array_elements_text(NEW.evidence_refs::json) cited;
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER node_evidence_begins AFTER INSERT OR DELETE ON nodes
    FOR EACH ROW EXECUTE FUNCTION svc_note_evidence()`,
  `CREATE TRIGGER node_evidence_changes AFTER UPDATE OF owner, key, evidence_refs ON nodes FOR EACH ROW
    WHEN ((OLD.owner, OLD.key, OLD.evidence_refs) IS DISTINCT FROM (NEW.owner, NEW.key, NEW.evidence_refs))
    EXECUTE FUNCTION svc_note_evidence()`,
];

const ERASURES = [
  `CREATE TABLE erasures (
    -- Who had it when it was erased; 0 where that was not written down.
    owner ${OWNER} DEFAULT 0,
    ${columns("erasure")},
    PRIMARY KEY (owner, event_id)
  )`,
  "CREATE INDEX erasures_by_event ON erasures (event_id)",
  "CREATE INDEX erasures_by_forgetting ON erasures (forget_id)",
];

/** Blobs of events, stored once per owner, and the events that use them. */
const BLOBS = [
  `CREATE TABLE blobs (
    owner ${OWNER},
    ${columns("blob")},
    CHECK (key <> '' AND size = octet_length(data)),
    PRIMARY KEY (owner, key)
  )`,
  "CREATE INDEX blobs_by_key ON blobs (key)",
  `CREATE TABLE blob_uses (
    owner ${OWNER},
    event_id uuid NOT NULL,
    blob ${TEXT} NOT NULL,
    PRIMARY KEY (owner, event_id, blob)
  )`,
  "CREATE INDEX blob_uses_by_blob ON blob_uses (owner, blob)",
];

/** Whether the log records that the first owner's data moved to another. */
const HAS_MOVED = `EXISTS (SELECT 1 FROM operations p JOIN owners before ON before.owner = OLD.owner
      WHERE p.target_id = 'owner:' || before.user_id AND p.op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED')`;

/**
 * The logs are append-only. An event may move to another owner, with all data of its owner, if an operation in the log records that; it may
 * then move between partitions, which is allowed although the server deletes it from the first. The content of an event or an operation can
 * only be erased as a whole, once, if the table of erasures lists it.
 */
const APPEND_ONLY = [
  `CREATE FUNCTION svc_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '% are immutable', TG_TABLE_NAME USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'owner' - 'key') = (to_jsonb(OLD) - 'owner' - 'key') AND ${HAS_MOVED}
        AND p.payload::json ->> 'after' = (SELECT after.user_id FROM owners after WHERE after.owner = NEW.owner)) THEN
      PERFORM set_config('svc.moves', OLD.owner || ' ' || OLD.id, true);
      RETURN NEW;
    END IF;
    IF (to_jsonb(NEW) - 'content' - 'content_hash' - 'metadata') = (to_jsonb(OLD) - 'content' - 'content_hash' - 'metadata')
      AND OLD.content <> '' AND NEW.content = '' AND NEW.content_hash = '${ERASED_HASH}' AND EXISTS (
        SELECT 1 FROM erasures x WHERE x.owner IN (OLD.owner, 0) AND x.event_id = OLD.id AND NEW.metadata::jsonb =
          jsonb_build_object('erased', x.forget_id::text, 'erased_at', x.erased_at)) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_event_loss() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_setting('svc.moves', true) = OLD.owner || ' ' || OLD.id AND ${HAS_MOVED}) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE FUNCTION svc_refuse_operation_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF (to_jsonb(NEW) - 'payload') = (to_jsonb(OLD) - 'payload') AND OLD.payload::json ->> 'erased' IS NULL
      AND NEW.payload::jsonb - 'erased' - 'record' - 'sha256' = '{}'::jsonb
      AND NEW.payload::json ->> 'record' = '{"erased":"' || (NEW.payload::json ->> 'erased') || '"}'
      AND EXISTS (SELECT 1 FROM erasures x WHERE x.forget_id = (NEW.payload::json ->> 'erased')::uuid) THEN
      RETURN NEW;
    END IF;
    RAISE EXCEPTION 'operations are immutable' USING ERRCODE = '23001';
  END $$`,
  `CREATE TRIGGER events_never_change BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_event_change()`,
  `CREATE TRIGGER events_never_vanish BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION svc_refuse_event_loss()`,
  `CREATE TRIGGER events_are_never_emptied BEFORE TRUNCATE ON events EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_operation_change()`,
  `CREATE TRIGGER operations_never_vanish BEFORE DELETE ON operations FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER operations_are_never_emptied BEFORE TRUNCATE ON operations EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER erasures_never_change BEFORE UPDATE OR DELETE ON erasures
    FOR EACH ROW EXECUTE FUNCTION svc_refuse_change()`,
  `CREATE TRIGGER erasures_are_never_emptied BEFORE TRUNCATE ON erasures EXECUTE FUNCTION svc_refuse_change()`,
];

const CORE_TABLES: readonly string[] = [
  ...SETTINGS,
  ...OWNERS,
  ...EVENTS,
  ...OPERATIONS,
  ...NODES,
  ...EDGES,
  ...EVIDENCE,
  ...ERASURES,
  ...BLOBS,
  ...APPEND_ONLY,
];

/** One queue for all work; see `WorkQueue`. */
const WORK = [
  `CREATE TABLE work (
    -- 0: all owners.
    owner ${OWNER},
    -- The key of the owner's event that it is about; 0: none, and it comes again and again.
    subject ${KEY} NOT NULL,
    event_id uuid,
    ${columns("work")},
    CHECK (status IN ('pending', 'complete', 'failed')),
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
    ${columns("receipt")},
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
    ${columns("receipt_node")},
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
    ${columns("staging")},
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

/** An owner's memories as their states became what they are, in the order of the commits: a writer holds the owner's lock until then. */
const CHANGE_LOG: readonly string[] = [
  `CREATE TABLE changes (
    ${columns("change")},
    PRIMARY KEY (owner, key)
  )`,
  `INSERT INTO changes SELECT owner, row_number() OVER (PARTITION BY owner ORDER BY key), id, NULL, lifecycle_state, updated_at FROM nodes`,
  `CREATE FUNCTION svc_note_change() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    erased text := (SELECT erased_at FROM erasures x WHERE x.owner = OLD.owner AND x.event_id = OLD.id);
  BEGIN
    -- A memory that moves to another partition with its owner is deleted here and inserted there.
    IF current_setting('svc.owner_moves', true) = 'on' THEN RETURN NULL; END IF;
    IF TG_OP = 'DELETE' THEN
      NEW := OLD;
      NEW.lifecycle_state := NULL;
      NEW.updated_at := coalesce(erased, OLD.updated_at);
    ELSIF erased IS NOT NULL THEN
      RETURN NULL;
    END IF;
    PERFORM 1 FROM owners WHERE owner = NEW.owner FOR UPDATE;
    INSERT INTO changes SELECT NEW.owner, coalesce(max(key), 0) + 1, NEW.id, CASE TG_OP WHEN 'UPDATE' THEN OLD.lifecycle_state END,
      NEW.lifecycle_state, NEW.updated_at FROM changes WHERE owner = NEW.owner;
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER changes_begin_or_end AFTER INSERT OR DELETE ON nodes FOR EACH ROW EXECUTE FUNCTION svc_note_change()`,
  `CREATE TRIGGER changes_continue AFTER UPDATE OF lifecycle_state ON nodes FOR EACH ROW
    WHEN (NEW.lifecycle_state <> OLD.lifecycle_state) EXECUTE FUNCTION svc_note_change()`,
];

/** The steps from each version of the tables to the next. A released version is never edited. */
const STEPS: readonly (readonly string[])[] = [
  [...CORE_TABLES, ...SEARCH_TABLES, ...WORK_TABLES],
  CHANGE_LOG,
];
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

/** Advice for a workspace whose tables or registry are missing. */
export const RESTORE = "restore the database from a backup";

/** Checks that a schema has all tables, and belongs to the expected namespace. @throws SvcError namespace_mismatch, workspace_damaged */
export async function requireNamespace(
  sql: Sql,
  place: string,
  expected: NamespaceIdentity,
): Promise<void> {
  const rows = await sql.all<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')`,
  );
  const there = new Set(rows.map(({ name }) => name));
  // Missing tables would be looked up in other schemas.
  const lost = Object.keys(DATABASE_TABLES).find((name) => !there.has(name));
  if (lost !== undefined)
    throw workspaceDamaged(place, `lacks the table ${lost}`, { advice: RESTORE });
  requireIdentity(await run(sql, readNamespace()), expected, {
    place,
    advice: "check that schemas or names were not exchanged",
  });
}
