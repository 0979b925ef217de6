import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import { codeOf } from "../connection/failures.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type ManifestInput, readManifest, writeManifest } from "./manifest.ts";
import { readSetting, writeSetting } from "./settings.ts";
import { CORE_TABLES } from "./tables-core.ts";
import { SEARCH_TABLES } from "./tables-search.ts";
import { WORK_TABLES } from "./tables-work.ts";

/** Version of the tables that this program makes and understands. */
const SCHEMA_VERSION = 1;
const VERSION = "schema_version";
/** Names the lock of those who set up one database at the same time. */
const MIGRATION_LOCK = 0x53564331;

export type SetUp = ManifestInput & {
  /** False: a database without tables is an error, and none are made. */
  readonly createIfMissing: boolean;
  readonly now: Instant;
};

/**
 * Makes the tables of an empty database and writes its manifest, in one transaction. Several processes may do so at the same time.
 * @param place names the database in errors
 * @throws SvcError pack_too_new, not_found, unsupported without pgvector
 */
export async function migrate(database: Database, place: string, input: SetUp): Promise<void> {
  const isDone = await database.read(ALL_OWNERS, async (sql) => {
    if ((await requireKnown(sql, place)) === 0) return false;
    return (await readManifest(sql))?.softwareVersion === input.softwareVersion;
  });
  if (isDone) return;
  await database.writeAny(async (sql) => {
    await sql.run("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK);
    if ((await requireKnown(sql, place)) === 0) {
      if (!input.createIfMissing) throw noTables(place);
      await requireVectors(sql, place);
      await makeTables(sql);
    }
    await writeManifest(sql, input, input.now);
  });
}

/** The version of the tables; 0 without any. @throws SvcError pack_too_new */
async function requireKnown(sql: Sql, place: string): Promise<number> {
  // Read from the catalogue: what a name stands for is remembered, and so may be what it was before the lock was there.
  const found = await sql.get(
    "SELECT 1 FROM pg_class WHERE relname = 'settings' AND relkind IN ('r', 'p') AND pg_table_is_visible(oid)",
  );
  const version = found === undefined ? 0 : Number((await readSetting(sql, VERSION)) ?? 0);
  if (version <= SCHEMA_VERSION) return version;
  throw new SvcError(
    "pack_too_new",
    `${place}: has tables of version ${version}, this program knows those up to ${SCHEMA_VERSION}. Nothing was changed; use a newer svc.`,
    { path: place, found: version, supported: SCHEMA_VERSION },
  );
}

async function makeTables(sql: Sql): Promise<void> {
  for (const statement of [...CORE_TABLES, ...SEARCH_TABLES, ...WORK_TABLES]) {
    await sql.run(statement);
  }
  await writeSetting(sql, VERSION, String(SCHEMA_VERSION));
}

/** @throws SvcError unsupported unless pgvector 0.8 or newer is there, or can be added by this user */
async function requireVectors(sql: Sql, place: string): Promise<void> {
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
