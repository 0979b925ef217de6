import type { Database } from "bun:sqlite";
import { z } from "zod";
import { DEFAULT_MODEL } from "../../../domain/embedding-models.ts";
import { DEFAULT_SCORING } from "../../../domain/scoring.ts";
import { scoringVersionId } from "../../../domain/scoring-version.ts";
import type { Manifest } from "../../../ports/store/store.ts";
import { readManifest } from "../../sql/settings.ts";
import { ask, mainFileOf } from "../connection/ask.ts";
import { notAPack } from "../connection/failures.ts";
import { isDamage } from "../connection/open-reading.ts";
import { run } from "../connection/run.ts";
import { type ExportChoices, headerOf, toJson, toLine } from "./export-lines.ts";
import { type ExportCounts, SECTIONS, type Section } from "./export-records.ts";
import { hasOwnHash, OWNED, REFERENCES } from "./import-rows.ts";

/** What came out of a damaged pack: rows by kind of record. */
export type Salvaged = {
  readonly record: string;
  readonly kept: number;
  /** At most; keys that no row ever had count as well. */
  readonly lost: number;
};

/** Keys read by one statement. */
const SPAN = 256;

type Row = Readonly<Record<string, string | number | null>>;

/**
 * What can be read of a damaged pack, as `exportLines` writes it: an import takes it. Rows on damaged pages, those that no longer have
 * their form, and those that refer to lost ones are left out, as are receipts, pictures and vectors. An owner whose name is lost is called
 * `recovered-<n>`. Of a lost memory whose message is there the work is to be done again, which makes it anew.
 * @param tell called once, before the last line
 */
export function* salvageLines(
  database: Database,
  choices: Pick<ExportChoices, "softwareVersion" | "exportedAt">,
  tell: (found: readonly Salvaged[]) => void,
): Generator<string> {
  const manifest = manifestOf(database, choices);
  const { kept, found, orphaned } = survey(database);
  const counts: ExportCounts = {
    ...{ owner: 0, event: 0, operation: 0, node: 0, edge: 0, job: 0, erasure: 0 },
    ...{ receipt: 0, blob: 0, vector: 0 },
    ...Object.fromEntries(found.map(({ record, kept: count }) => [record, count])),
  };
  const hasher = new Bun.CryptoHasher("sha256");
  const written = (record: object): string => {
    const line = toLine(record);
    hasher.update(line);
    return line;
  };
  yield written(headerOf(manifest, { ...choices, counts, withVectors: false }));
  for (const section of SECTIONS) {
    const keys = kept.get(section.record) ?? new Set();
    const rows = readable(database, section);
    for (const { key, record } of section.record === "owner" ? named(rows, keys) : rows) {
      if (keys.has(key)) yield written(orphaned.has(key) ? again(record) : record);
    }
  }
  tell(found);
  yield toLine({ record: "footer", counts, sha256: hasher.digest("hex") });
}

/** The manifest, else that of a new pack. */
function manifestOf(
  database: Database,
  { softwareVersion, exportedAt: at }: Pick<ExportChoices, "softwareVersion" | "exportedAt">,
): Manifest {
  let found: Manifest | undefined;
  try {
    found = run(database, readManifest());
  } catch (error) {
    if (!isDamage(error)) throw error;
    const { name: model, recipe: version, dimension } = DEFAULT_MODEL;
    const embedding = { model, version, dimension };
    const scoringVersion = scoringVersionId(DEFAULT_SCORING);
    return {
      formatVersion: 1,
      softwareVersion,
      embedding,
      scoringVersion,
      createdAt: at,
      updatedAt: at,
    };
  }
  if (found === undefined) throw notAPack(mainFileOf(database), "it has no manifest");
  return found;
}

/** The owners in order, with names for those whose row is lost. */
function named(rows: Iterable<Read>, owners: ReadonlySet<number>): readonly Read[] {
  const read = new Map(Array.from(rows, (row) => [row.key, row]));
  return [...owners]
    .toSorted((a, b) => a - b)
    .map(
      (key) =>
        read.get(key) ?? {
          key,
          record: { record: "owner", owner: key, user_id: `recovered-${key}` },
        },
    );
}

/** Work on an event whose memory is lost, to be done again. */
function again(record: Read["record"]): Read["record"] {
  if (record["record"] !== "job" || record["kind"] !== "materialization") return record;
  return { ...record, status: "pending", attempts: 0, last_error: null };
}

/** The keys of the rows that can be kept, by kind of record. */
function survey(database: Database) {
  const kept = new Map<string, Set<number>>();
  const found: Salvaged[] = [];
  /** Keys of events, by id, until a memory cites them first. */
  const uncited = new Map<unknown, number>();
  for (const section of SECTIONS) {
    const keys = new Set<number>();
    kept.set(section.record, keys);
    const count = { kept: 0, lost: 0 };
    for (const { key, record } of readable(database, section, count)) {
      const isHeld = holds(section, record, kept);
      if (isHeld) keys.add(key);
      cite(record, key, uncited);
      count[isHeld ? "kept" : "lost"] += 1;
    }
    found.push({ record: section.record, ...count });
  }
  const owners = kept.get("owner")?.size ?? 0;
  return {
    kept,
    orphaned: new Set(uncited.values()),
    found: found.map((one) => (one.record === "owner" ? { ...one, kept: owners } : one)),
  };
}

/** Notes an event with a text as uncited, and as cited once a memory names it first. */
function cite(record: Read["record"], key: number, uncited: Map<unknown, number>): void {
  const { record: kind, id, content, evidence_refs: refs } = record;
  if (kind === "event" && typeof content === "string") uncited.set(id, key);
  if (kind === "node" && Array.isArray(refs)) uncited.delete(refs[0]);
}

/** Whether what a row refers to was kept. Its owner always is, if need be under another name. */
function holds(
  section: Section,
  record: Readonly<Record<string, unknown>>,
  kept: ReadonlyMap<string, Set<number>>,
): boolean {
  return Object.entries(REFERENCES[section.record] ?? OWNED).every(([column, kind]) => {
    const key = record[column];
    if (typeof key !== "number") return true;
    if (kind === "owner") kept.get(kind)?.add(key);
    return kept.get(kind)?.has(key) === true;
  });
}

type Read = { readonly key: number; readonly record: Readonly<Record<string, unknown>> };

/** The rows that can be read and have their form, by ascending key. @param count gets the keys that cannot */
function* readable(
  database: Database,
  section: Section,
  count: { lost: number } = { lost: 0 },
): Generator<Read> {
  const columns = Object.keys(section.columns);
  const [by = "key"] = section.order;
  const rows = database.query<Row, [number, number]>(
    `SELECT ${columns.join(", ")} FROM ${section.table} WHERE ${by} BETWEEN ? AND ? ORDER BY ${section.order.join(", ")}`,
  );
  const formed = formOf(section, columns);
  const last = lastKey(database, section.table, by);
  for (let from = 1; from <= last; from += SPAN) {
    for (const row of pieces(rows, from, Math.min(last, from + SPAN - 1))) {
      const record = row && formed(row);
      if (record !== undefined) yield { key: Number(row?.[by]), record };
      else count.lost += 1;
    }
  }
}

/** Makes records of rows; undefined for a row that no longer has its form. */
function formOf(section: Section, columns: readonly string[]) {
  const schema = z.strictObject({ record: z.literal(section.record), ...section.columns });
  return (row: Row): Read["record"] | undefined => {
    try {
      const members = columns.map((name) => [name, toJson(section, name, row[name] ?? null)]);
      const record = { record: section.record, ...Object.fromEntries(members) };
      return schema.safeParse(record).success && hasOwnHash(record) ? record : undefined;
    } catch {
      // Damaged JSON.
      return undefined;
    }
  };
}

/** The rows of a range of keys; undefined for each key that cannot be read. */
function* pieces(
  rows: { all(from: number, to: number): readonly Row[] },
  from: number,
  to: number,
): Generator<Row | undefined> {
  let found: readonly Row[];
  try {
    found = rows.all(from, to);
  } catch (error) {
    if (!isDamage(error)) throw error;
    if (from === to) return yield undefined;
    const middle = Math.floor((from + to) / 2);
    yield* pieces(rows, from, middle);
    return yield* pieces(rows, middle + 1, to);
  }
  yield* found;
}

/** The last key of a table, else that of another one: each memory has an event and an operation. */
function lastKey(database: Database, table: string, by: string): number {
  const own = highest(database, table, by);
  if (own !== undefined) return own;
  const others = ["nodes", "events", "operations"].map((name) => highest(database, name, "key"));
  return Math.max(0, ...others.map((key) => key ?? 0));
}

function highest(database: Database, table: string, by: string): number | undefined {
  try {
    return ask<number>(database, `SELECT max(${by}) FROM ${table}`) ?? 0;
  } catch (error) {
    if (!isDamage(error)) throw error;
    return undefined;
  }
}
