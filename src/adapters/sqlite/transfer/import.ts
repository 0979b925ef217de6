import type { Database } from "bun:sqlite";
import { isSameEmbedding } from "../../../domain/embedding-models.ts";
import { REPLAN_OPERATION } from "../../../domain/extraction/plan/derivation.ts";
import { PACK_OWNER_SET } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import { nextTurn } from "../../../lib/pause.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import { missingBlobs } from "../../sql/blobs.ts";
import { PENDING } from "../../sql/inspect.ts";
import { writeNamespace } from "../../sql/settings.ts";
import { advanceIndexSequence, hasRow } from "../connection/ask.ts";
import type { PackLayout } from "../connection/layout.ts";
import { openDatabase, turnToLog } from "../connection/open-database.ts";
import type { Connection } from "../connection/open-reading.ts";
import { run } from "../connection/run.ts";
import { findStale } from "../rebuild/rebuild.ts";
import { migrate, tooNew } from "../schema/migrate.ts";
import { writePackSetting } from "../schema/pack-settings.ts";
import { LIST_CHANGES } from "../schema/tables.ts";
import { rewriteDocuments } from "../write/lexical-index.ts";
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportCounts,
  type ExportHeader,
  FOOTER,
  HEADER,
  isFormer,
  NEWEST_DEVELOPMENT,
  SECTIONS,
} from "./export-records.ts";
import { checkLine, type ImportLine, notAnExport, parseLine, readLines } from "./import-lines.ts";
import { createTakers, type FileVectors } from "./import-rows.ts";

export type ImportOptions = {
  /** Where the pack is created; nothing may exist there yet. */
  readonly layout: PackLayout;
  readonly connection: Connection;
  readonly source: AsyncIterable<Uint8Array>;
  /** Names the source in errors. */
  readonly name: string;
  /** The model of the new pack, given that of the exported one. */
  readonly modelFor: (exported: EmbeddingIdentity) => EmbeddingIdentity;
  readonly softwareVersion: string;
  readonly now: Instant;
  /** Maximum bytes of one picture. */
  readonly blobMaxBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Called periodically with the number of records imported so far. */
  readonly onProgress: (done: number, total: number) => void;
};

export type ImportResult = {
  readonly counts: ExportCounts;
  /** True if some nodes still have to be embedded. */
  readonly lacksVectors: boolean;
  /** Keys of missing pictures that events or memories of the file refer to. */
  readonly missingPictures: readonly string[];
  /** Receipts left out because a development build wrote them. */
  readonly formerReceipts: number;
};

/** A development build's unconfirmed alias proposals do not connect two entities. */
const LEAVE_PROPOSALS = `DELETE FROM edges WHERE edge_type = 'relates_to' AND metadata ->> 'relation' = 'alias'
  AND json_type(metadata, '$.identity_verified') = 'false'`;

/** Records per transaction. */
const BATCH = 1000;
/** Texts indexed before yielding. */
const TEXTS_A_STEP = 25;
/** Milliseconds of reading records before yielding. */
const STEP_MS = 25;

/**
 * Makes a pack from a file that `exportLines` wrote: the same rows under keys of its own, with a lexical index, and with the file's vectors
 * if they are of the model of the new pack. Holds one batch at a time. If it rejects, the caller must remove the files at `layout`.
 * @throws SvcError not_an_export and too_large naming the line, pack_too_new; the signal's reason when aborted; SQLiteError
 */
export async function importPack(options: ImportOptions): Promise<ImportResult> {
  const lines = readLines(options.source, options.name);
  const first = await lines.next();
  if (first.done === true) throw notAnExport(options.name, 1, "the file is empty");
  const header = readHeader(first.value, options.name);
  const embedding = options.modelFor(header.manifest.embedding);
  const database = openDatabase({
    ...options.connection,
    layout: options.layout,
    mode: "create",
    // Durability is not needed until the pack gets its name; it is synced before that.
    synchronous: "normal",
  });
  try {
    turnToLog(database, options.layout);
    prepare(database, header, embedding, options);
    const counts = await takeAll(database, header, first.value, lines, { ...options, embedding });
    database.transaction(() => {
      database.run(LEAVE_PROPOSALS);
      database.run(LIST_CHANGES);
      restoreExtraction(database);
    })();
    for (const _ of writeTexts(database)) await nextTurn();
    database.transaction(() => adoptPackOwner(database))();
    // Work that a salvaging left is done with the vectors.
    const isPending = hasRow(database, `work WHERE ${PENDING}`);
    const lacksVectors = isPending || (await lacksAny(database, embedding));
    const missingPictures = run(database, missingBlobs());
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const formerReceipts = isFormer(header) ? counts.receipt : 0;
    return {
      counts: { ...counts, receipt: counts.receipt - formerReceipts },
      lacksVectors,
      missingPictures,
      formerReceipts,
    };
  } finally {
    database.close();
  }
}

/** Whether any memories still have to be embedded. Yields between checks. */
async function lacksAny(database: Database, embedding: EmbeddingIdentity): Promise<boolean> {
  for (let after = 0; ; ) {
    const { nodes, scannedTo, hasMore } = findStale(database, "repair", embedding, {
      after,
      limit: 1,
    });
    if (nodes.length > 0) return true;
    if (!hasMore) return false;
    after = scannedTo;
    await nextTurn();
  }
}

function readHeader(line: ImportLine, name: string): ExportHeader {
  const value = parseLine(line, name);
  if (value["format"] !== EXPORT_FORMAT) {
    throw notAnExport(name, line.number, "it is not the first line of an export");
  }
  const version = value["format_version"];
  if (typeof version === "number" && version > NEWEST_DEVELOPMENT) {
    throw tooNew(name, version, EXPORT_VERSION);
  }
  return checkLine(HEADER, value, line, name);
}

function prepare(
  database: Database,
  header: ExportHeader,
  embedding: EmbeddingIdentity,
  { layout, connection, softwareVersion, now }: ImportOptions,
): void {
  const { scoring_version: scoringVersion, created_at: createdAt } = header.manifest;
  database.transaction(() => {
    migrate(database, layout, { softwareVersion, embedding, scoringVersion }, now);
    database.query("UPDATE pack_manifest SET created_at = ?").run(createdAt);
    if (connection.namespace !== undefined) run(database, writeNamespace(connection.namespace));
  })();
}

/** Imports every record and checks the last line. @returns the checked counts */
async function takeAll(
  database: Database,
  header: ExportHeader,
  first: ImportLine,
  lines: AsyncGenerator<ImportLine>,
  options: ImportOptions & { readonly embedding: EmbeddingIdentity },
): Promise<ExportCounts> {
  const { name, signal, onProgress, embedding, blobMaxBytes } = options;
  const total = Object.values(header.counts).reduce<number>((sum, count = 0) => sum + count, 0);
  const vectors: FileVectors | undefined =
    header.vectors === null
      ? undefined
      : { identity: header.vectors, isUsable: isSameEmbedding(header.vectors, embedding) };
  const records = new Records(
    createTakers(database, name, { vectors, blobMaxBytes, isFormer: isFormer(header) }),
    name,
  );
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(first.bytes).update("\n");
  let number = first.number;
  let since = performance.now();
  database.run("BEGIN IMMEDIATE");
  try {
    for await (const line of lines) {
      number = line.number;
      const value = parseLine(line, name);
      if (value["record"] === "footer") {
        const footer = checkLine(FOOTER, value, line, name);
        requireWhole(footer, header, records.counts, {
          name,
          number,
          sha256: hasher.digest("hex"),
        });
        await requireEnd(lines, name);
        database.run("COMMIT");
        return footer.counts;
      }
      records.take(value, line);
      hasher.update(line.bytes).update("\n");
      const isFull = records.total % BATCH === 0;
      if (!isFull && performance.now() - since < STEP_MS) continue;
      if (isFull) {
        database.run("COMMIT");
        onProgress(records.total, total);
      }
      // The file is private: a transaction may stay open meanwhile.
      await nextTurn();
      signal?.throwIfAborted();
      since = performance.now();
      if (isFull) database.run("BEGIN IMMEDIATE");
    }
  } finally {
    if (database.inTransaction) database.run("ROLLBACK");
  }
  throw notAnExport(name, number, "the file ends after this line, before its last one");
}

/** Passes records to their importers, kind by kind. */
class Records {
  readonly counts: Record<string, number> = Object.fromEntries(
    [...SECTIONS.map(({ record }) => record), "receipt", "blob", "vector"].map((record) => [
      record,
      0,
    ]),
  );
  total = 0;
  readonly #takers: ReturnType<typeof createTakers>;
  readonly #name: string;
  #at = 0;

  constructor(takers: ReturnType<typeof createTakers>, name: string) {
    this.#takers = takers;
    this.#name = name;
  }

  take(value: Readonly<Record<string, unknown>>, line: ImportLine): void {
    const at = this.#takers.findIndex(({ record }) => record === value["record"]);
    const taker = this.#takers[at];
    if (taker === undefined) throw notAnExport(this.#name, line.number, "record: unknown kind");
    if (at < this.#at) {
      throw notAnExport(this.#name, line.number, `record: a ${taker.record} is not allowed here`);
    }
    this.#at = at;
    taker.take(value, line);
    this.counts[taker.record] = (this.counts[taker.record] ?? 0) + 1;
    this.total += 1;
  }
}

function requireWhole(
  footer: { readonly counts: ExportCounts; readonly sha256: string },
  header: ExportHeader,
  counts: Readonly<Record<string, number>>,
  found: { readonly name: string; readonly number: number; readonly sha256: string },
): void {
  for (const [record, count] of Object.entries(counts)) {
    const promised = [footer.counts, header.counts].map((all) => Object.entries(all));
    const isRight = promised.every((all) => (new Map(all).get(record) ?? 0) === count);
    if (isRight) continue;
    const reason = `counts: ${record} does not match the ${count} lines found`;
    throw notAnExport(found.name, found.number, reason);
  }
  if (footer.sha256 !== found.sha256) {
    throw notAnExport(found.name, found.number, "sha256: the lines before it were changed");
  }
}

async function requireEnd(lines: AsyncGenerator<ImportLine>, name: string): Promise<void> {
  const next = await lines.next();
  if (next.done !== true)
    throw notAnExport(name, next.value.number, "it comes after the last line");
}

/** Indexes the words of all memories, step by step. @yields the number of nodes examined */
export function* writeTexts(database: Database): Generator<number> {
  for (let after = 0, hasMore = true; hasMore; yield after) {
    database.transaction(() => {
      ({ cursor: after, hasMore } = rewriteDocuments(database, after, TEXTS_A_STEP));
    })();
  }
  database.transaction(() => advanceIndexSequence(database))();
}

/** Applies the newest owner operation, in a pack made from an export. Runs inside a write transaction. */
function adoptPackOwner(database: Database): void {
  const row = database
    .query<{ owner: string | null }, [string]>(
      "SELECT payload ->> 'after' AS owner FROM operations WHERE op_type = ? ORDER BY key DESC LIMIT 1",
    )
    .get(PACK_OWNER_SET);
  if (typeof row?.owner === "string") writePackSetting(database, "owner", row.owner);
}

/**
 * Completes imported extraction work with what the log contains instead of the export: its lane, its generation, and the revision of its
 * plan. Runs inside a write transaction.
 */
function restoreExtraction(database: Database): void {
  database
    .query(
      `UPDATE work SET lane = past.scope, generation = attempts + past.replans,
         payload = CASE past.replans WHEN 0 THEN NULL ELSE json_object('revision', 1 + past.replans) END
       FROM (SELECT e.key, e.scope, (SELECT count(*) FROM operations o WHERE o.target_id = e.id AND o.op_type = ?) AS replans
         FROM events e) past
       WHERE work.kind = 'extraction' AND past.key = work.subject`,
    )
    .run(REPLAN_OPERATION);
}
