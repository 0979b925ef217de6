import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import type { Instant } from "../../../lib/instant.ts";
import { ask } from "../connection/ask.ts";
import { mainPath, type PackLayout } from "../connection/layout.ts";
import { hasTable } from "./has-table.ts";
import {
  type ManifestInput,
  readManifest,
  requireFormat,
  tooNew,
  writeManifest,
} from "./manifest.ts";
import { writePackFusion } from "./pack-fusion.ts";
import { migrations, type PackPart, type SchemaStep } from "./schema.ts";
import { SILENT, type UpgradeProgress } from "./upgrade-progress.ts";

/** Which of SQLite's files contains which part of a pack. */
const PARTS: readonly {
  readonly part: PackPart;
  readonly directorySchema: string;
}[] = [
  { part: "core", directorySchema: "main" },
  { part: "vectors", directorySchema: "vector_file" },
  { part: "lexical", directorySchema: "lexical_file" },
];

/**
 * Refuses a pack of a newer program before anything is written.
 * @throws SvcError pack_too_new
 */
export function requireReadable(database: Database, layout: PackLayout): void {
  const path = mainPath(layout);
  if (!hasTable(database, "pack_manifest")) return;
  requireFormat(database, path);
  for (const { part } of PARTS) {
    const applied = appliedVersion(database, part);
    const newest = migrations(part, 1).at(-1)?.version ?? 0;
    if (applied > newest) throw tooNew(path, applied, newest);
  }
}

/**
 * Refuses a pack of an earlier program, which cannot be upgraded if nothing may be written.
 * @throws SvcError pack_read_only
 */
export function requireUpToDate(database: Database, layout: PackLayout, dimension: number): void {
  const isCurrent = PARTS.every(
    ({ part }) =>
      appliedVersion(database, part) === (migrations(part, dimension).at(-1)?.version ?? 0),
  );
  if (isCurrent) return;
  const path = mainPath(layout);
  const message = `${path}: was made by an earlier version of svc and must be upgraded, which writes to it. Copy it to a folder of your own and open the copy; svc info and svc export can read it as it is.`;
  throw new SvcError("pack_read_only", message, { path });
}

/** Names of steps whose work cannot be checked. */
export type Unreadable = ReadonlySet<string>;

/**
 * The steps whose work is in a damaged or missing index. A pack with such an index is still opened and answers from what is left,
 * but reading the damage inside the opening transaction would spoil that transaction. Runs outside of a transaction.
 */
export function unreadableSteps(database: Database): Unreadable {
  const names = new Set<string>();
  for (const { name, isFilled } of PARTS.flatMap(({ part }) => migrations(part, 1))) {
    try {
      isFilled?.(database);
    } catch {
      names.add(name);
    }
  }
  return names;
}

export type MigrateOptions = {
  /** Steps whose work is not checked again. Default: none. */
  readonly unreadable?: Unreadable;
  /** Receives the progress of the work. */
  readonly progress?: UpgradeProgress;
};

/**
 * Creates missing tables, runs outstanding steps in order and writes the manifest. Runs inside one write transaction, so that
 * processes that open a new pack together see it either empty or complete.
 */
export function migrate(
  database: Database,
  layout: PackLayout,
  manifest: ManifestInput,
  now: Instant,
  { unreadable = new Set(), progress = SILENT }: MigrateOptions = {},
): void {
  const dimension = storedDimension(database) ?? manifest.embedding.dimension;
  runSteps(database, layout, { dimension, now, unreadable, progress });
  if (readManifest(database) === undefined) writePackFusion(database);
  writeManifest(database, manifest, now);
}

/** Runs the outstanding steps of a pack that has a manifest, which does not change. Runs inside a write transaction. */
export function upgrade(database: Database, layout: PackLayout, now: Instant): void {
  const dimension = storedDimension(database);
  if (dimension !== undefined) {
    runSteps(database, layout, { dimension, now, unreadable: new Set(), progress: SILENT });
  }
}

type Run = Required<MigrateOptions> & { readonly dimension: number; readonly now: Instant };

function runSteps(
  database: Database,
  layout: PackLayout,
  { dimension, now, unreadable, progress }: Run,
): void {
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
    for (const given of migrations(part, dimension)) {
      const step = unreadable.has(given.name) ? { ...given, isFilled: undefined } : given;
      const hasRun = runStep(database, step, { schema, applied, progress });
      if (hasRun || step.version > applied) record.run(part, step.version, step.name, now);
    }
  }
  progress.end();
}

/** A step, without its check if that must not run. */
type Step = Omit<SchemaStep, "isFilled"> & {
  readonly isFilled?: SchemaStep["isFilled"] | undefined;
};

/** Runs the unfinished parts of a step. @returns whether there were any */
function runStep(
  database: Database,
  { version, name, sql, table, fill, isFilled }: Step,
  {
    schema,
    applied,
    progress,
  }: Pick<Run, "progress"> & {
    readonly schema: string;
    readonly applied: number;
  },
): boolean {
  const isMade = table === undefined ? version <= applied : hasTable(database, table, schema);
  if (isMade && isFilled?.(database) !== false) return false;
  const told = progress.begin(name);
  if (!isMade && sql !== "") database.run(inSchema(sql, schema));
  fill?.(database, told);
  return true;
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

/** Whether a step has run on a pack, according to the record in its main file. */
export function isUpTo(database: Database, part: PackPart, version: number): boolean {
  return appliedVersion(database, part) >= version;
}

function storedDimension(database: Database): number | undefined {
  if (!hasTable(database, "pack_manifest")) return undefined;
  return readManifest(database)?.embedding.dimension;
}
