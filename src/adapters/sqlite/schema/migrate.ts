import type { Database } from "bun:sqlite";
import { developmentPack, SvcError } from "../../../domain/errors.ts";
import type { Instant } from "../../../lib/instant.ts";
import {
  FORMAT_VERSION,
  type ManifestInput,
  readManifest,
  writeManifest,
} from "../../sql/settings.ts";
import { ask, hasTable } from "../connection/ask.ts";
import { mainPath, type PackLayout } from "../connection/layout.ts";
import { run } from "../connection/run.ts";
import { FIRST_STEP, migrations, type PackPart } from "./schema.ts";

/** Which of SQLite's files contains which part of a pack. */
const PARTS: readonly { readonly part: PackPart; readonly directorySchema: string }[] = [
  { part: "core", directorySchema: "main" },
  { part: "vectors", directorySchema: "vector_file" },
  { part: "lexical", directorySchema: "lexical_file" },
];

/** Rejects a pack of a newer program, or of a development build, before anything is written. @throws SvcError pack_too_new, pack_too_old */
export function requireReadable(database: Database, layout: PackLayout): void {
  const path = mainPath(layout);
  if (!hasTable(database, "pack_manifest")) return;
  requireFormat(database, path);
  const first = ask<string>(
    database,
    "SELECT name FROM schema_migrations WHERE part = 'core' AND version = 1",
  );
  if (first !== undefined && first !== FIRST_STEP) throw developmentPack(path);
  for (const { part } of PARTS) {
    const applied = appliedVersion(database, part);
    const newest = migrations(part).at(-1)?.version ?? 0;
    if (applied > newest) throw tooNew(path, applied, newest);
  }
}

/** Rejects a pack with a newer program's format. @throws SvcError pack_too_new */
export function requireFormat(database: Database, path: string): void {
  const format = run(database, readManifest())?.formatVersion ?? 0;
  if (format > FORMAT_VERSION) throw tooNew(path, format, FORMAT_VERSION);
}

/** @throws SvcError pack_too_new */
export function tooNew(path: string, found: number, supported: number): SvcError {
  return new SvcError(
    "pack_too_new",
    `${path}: has format version ${found}, this program reads up to ${supported}. Nothing was changed; open it with a newer svc.`,
    { path, found, supported },
  );
}

/**
 * Creates missing tables, runs outstanding steps in order and writes the manifest, in one write transaction, so that concurrent processes
 * see a new pack either empty or complete.
 */
export function migrate(
  database: Database,
  layout: PackLayout,
  manifest: ManifestInput,
  now: Instant,
): void {
  const stored = hasTable(database, "pack_manifest") && run(database, readManifest());
  runSteps(database, layout, now);
  const { model, version, dimension } = (stored || manifest).embedding;
  database
    .query("INSERT OR IGNORE INTO vector_model VALUES (1, ?, ?, ?)")
    .run(model, version, dimension);
  run(database, writeManifest(manifest, now));
}

function runSteps(database: Database, layout: PackLayout, now: Instant): void {
  database.run(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       part TEXT NOT NULL, version INTEGER NOT NULL, name TEXT NOT NULL, applied_at TEXT NOT NULL,
       PRIMARY KEY (part, version)) STRICT, WITHOUT ROWID`,
  );
  const record = database.query(
    "INSERT OR REPLACE INTO schema_migrations (part, version, name, applied_at) VALUES (?, ?, ?, ?)",
  );
  for (const { part, directorySchema } of PARTS) {
    const schema = layout.kind === "file" ? "main" : directorySchema;
    const applied = appliedVersion(database, part);
    for (const { version, name, sql, table } of migrations(part)) {
      const isMade = hasTable(database, table, schema);
      if (!isMade) database.run(inSchema(sql, schema));
      if (!isMade || version > applied) record.run(part, version, name, now);
    }
  }
}

/** Names the file in which a table is created; by default SQLite creates everything in the main one. */
function inSchema(sql: string, schema: string): string {
  if (schema === "main") return sql;
  return sql
    .replaceAll("CREATE TABLE ", `CREATE TABLE ${schema}.`)
    .replaceAll("CREATE VIRTUAL TABLE ", `CREATE VIRTUAL TABLE ${schema}.`)
    .replaceAll("CREATE INDEX ", `CREATE INDEX ${schema}.`);
}

/** The last step that has run on a part of a pack; 0 without any. */
export function appliedVersion(database: Database, part: PackPart): number {
  if (!hasTable(database, "schema_migrations")) return 0;
  return ask(database, "SELECT max(version) FROM schema_migrations WHERE part = ?", part) ?? 0;
}
