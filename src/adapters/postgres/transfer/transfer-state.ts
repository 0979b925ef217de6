import { invalid, SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { RecordKind } from "../../../domain/records/rows.ts";
import type { Manifest } from "../../../ports/store/store.ts";
import { sqlList } from "../../sql/dialect.ts";
import { readSetting, writeSetting } from "../../sql/settings.ts";
import { IN_USE } from "../connection/failures.ts";
import { quoted } from "../connection/open-connection.ts";
import { run as steps } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import type { OwnerKey } from "../owner-key.ts";
import { FUNCTIONS, lockSetUp } from "../schema/migrate.ts";
import { DATABASE_TABLES } from "./record-tables.ts";

/** Application name of transfer connections. */
export const TRANSFER = "svc migrate";
/** The setting of a database that is or was being filled. */
const NAME = "transfer";

export type TransferState = {
  /** Creation time of the source, which identifies it. */
  readonly source: string;
  /** State of the source; see `TransferSource.state`. */
  readonly state: string;
  /** The process that fills it; another one can take over. */
  readonly run: string;
  readonly taken: Partial<Readonly<Record<RecordKind, number>>>;
  /** Statements that recreate the indexes dropped during the transfer. Absent: none are. */
  readonly indexes?: readonly string[];
  /** The owner whose texts were indexed last, and the last key if some remain. Absent before the first. */
  readonly indexed?: { readonly owner: OwnerKey; readonly key?: number };
  readonly isDone: boolean;
};

async function readState(sql: Sql): Promise<TransferState | undefined> {
  const text = await steps(sql, readSetting(NAME));
  // SAFETY: only `writeState` writes this text.
  return text === undefined ? undefined : (JSON.parse(text) as TransferState);
}

async function writeState(sql: Sql, state: TransferState): Promise<void> {
  await steps(sql, writeSetting(NAME, JSON.stringify(state)));
}

/** @throws SvcError storage_busy while a database is only partly filled */
export async function requireWhole(database: Database, place: string): Promise<void> {
  const state = await database.read(ALL_OWNERS, readState);
  if (state === undefined || state.isDone) return;
  const message = `${place}: svc migrate has not filled this database to the end. Wait for it, or run it again: it goes on where it stopped`;
  throw new SvcError("storage_busy", message, { path: place });
}

export type Begin = { readonly manifest: Manifest; readonly state: string; readonly run: string };

/**
 * Claims a database with tables for a transfer: an empty one, or one filled by a transfer from the same source, which continues. Runs
 * inside a transaction.
 * @returns undefined if the source has changed since; then `emptyDatabase` must clear it
 * @throws SvcError invalid_argument for a database that holds something else
 */
export async function beginTransfer(
  sql: Sql,
  place: string,
  { manifest, state, run }: Begin,
): Promise<TransferState | undefined> {
  await lockSetUp(sql);
  const found = await readState(sql);
  const source = manifest.createdAt;
  if (found === undefined) {
    await fence(sql);
    await requireEmpty(sql, place);
    await sql.run("DELETE FROM work");
    await sql.run("DELETE FROM settings WHERE name NOT IN ('tables_version')");
    await steps(sql, writeSetting("manifest", JSON.stringify(manifest)));
    const indexes = await dropIndexes(sql);
    return await saved(sql, { source, state, run, taken: {}, indexes, isDone: false });
  }
  if (found.source !== source) throw holdsSomethingElse(place);
  if (found.state === state) return await saved(sql, { ...found, run });
  if (found.isDone) throw holdsSomethingElse(place);
  return undefined;
}

async function saved(sql: Sql, state: TransferState): Promise<TransferState> {
  await writeState(sql, state);
  return state;
}

/** Tables of memories and their data. */
const CONTENT = ["owners", "events", "nodes", "operations", "receipts"];

async function requireEmpty(sql: Sql, place: string): Promise<void> {
  const any = CONTENT.map((table) => `EXISTS (SELECT 1 FROM ${table})`).join(" OR ");
  const row = await sql.get<{ found: boolean }>(`SELECT ${any} AS found`);
  if (row?.found !== false) throw holdsSomethingElse(place);
}

function holdsSomethingElse(place: string): SvcError {
  return invalid(
    "database",
    `${place} holds something else already, and nothing of it was changed; give the address of an empty database`,
  );
}

/** Drops all tables of a partly filled database. Runs inside a transaction. */
export async function emptyDatabase(sql: Sql): Promise<void> {
  // First the row that identifies the filler: others wait for it, which avoids deadlocks.
  await sql.run("LOCK TABLE settings IN ACCESS EXCLUSIVE MODE");
  await sql.run(`DROP TABLE IF EXISTS ${Object.keys(DATABASE_TABLES).join(", ")} CASCADE`);
  for (const name of [...FUNCTIONS, FENCE]) await sql.run(`DROP FUNCTION IF EXISTS ${name}()`);
}

/** Rejects other writers meanwhile: each of their writes begins with an owner's row. */
const FENCE = "svc_refuse_while_filled";

/** Only transfers may write: a server that opened the database while it was empty would lose what it stores. Runs inside a transaction. */
async function fence(sql: Sql): Promise<void> {
  await sql.run(`CREATE OR REPLACE FUNCTION ${FENCE}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF current_setting('application_name') <> '${TRANSFER}' THEN
        RAISE EXCEPTION 'svc migrate fills this database' USING ERRCODE = '${IN_USE}';
      END IF;
      RETURN NULL;
    END $$`);
  await sql.run(
    `CREATE OR REPLACE TRIGGER is_filled BEFORE INSERT OR UPDATE ON owners FOR EACH STATEMENT EXECUTE FUNCTION ${FENCE}()`,
  );
}

/** Lets others write again. Runs inside a transaction. */
export async function unfence(sql: Sql): Promise<void> {
  await sql.run(`DROP FUNCTION IF EXISTS ${FENCE}() CASCADE`);
}

/**
 * Records progress. Runs inside the transaction that writes the records.
 * @throws SvcError storage_busy if another process has taken over
 */
export async function noteTaken(sql: Sql, state: TransferState): Promise<void> {
  const row = await sql.get<{ value: string }>(
    "SELECT value FROM settings WHERE name = $1 FOR UPDATE",
    NAME,
  );
  // SAFETY: only `writeState` writes this text.
  const found = row === undefined ? undefined : (JSON.parse(row.value) as TransferState);
  if (found?.run !== state.run) throw takenOver();
  await writeState(sql, state);
}

function takenOver(cause?: unknown): SvcError {
  const message =
    "another svc migrate has taken this database over, from the same pack or from a copy of it that has changed since; nothing is lost. Let one of the two run alone, or give this one another database";
  return new SvcError("storage_busy", message, {}, { cause });
}

/**
 * The error of a failed attempt to fill a database: a takeover by another process, if there was one, explains any other failure.
 * @param run `TransferState.run` of the attempt
 */
export async function failureOf(database: Database, run: string, error: unknown): Promise<unknown> {
  if (!(error instanceof SvcError) || !error.code.startsWith("storage_")) return error;
  const isOurs = await database.read(ALL_OWNERS, readState).then(
    (state) => state?.run === run,
    // While it is recreated by the other process, the database has no tables.
    (cause) => !(cause instanceof SvcError && cause.data["reason"] === UNDEFINED_TABLE),
  );
  return isOurs ? error : takenOver(error);
}

/** SQLSTATE for a missing table. */
const UNDEFINED_TABLE = "42P01";

/** Indexes by which records that are taken find others. */
const NEEDED = ["nodes_by_id", "events_by_id", "nodes_in_session", "work_by_event"];

/**
 * Removes the indexes that nothing asks while a database is filled: made at once, when all rows are there, they take a part of the
 * time. Runs inside a transaction.
 * @returns the statements that make them again
 */
async function dropIndexes(sql: Sql): Promise<readonly string[]> {
  const found = await sql.all<{ name: string; made: string }>(
    `SELECT c.relname::text AS name, pg_get_indexdef(c.oid) AS made
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind = 'r' AND NOT t.relispartition
       AND NOT i.indisunique AND c.relname NOT IN ${sqlList(NEEDED)} ORDER BY name`,
  );
  for (const { name } of found) await sql.run(`DROP INDEX ${quoted(name)}`);
  return found.map(({ made }) => made);
}
