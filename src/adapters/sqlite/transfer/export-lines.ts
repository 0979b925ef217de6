import type { Database } from "bun:sqlite";
import type { Edge } from "../../../domain/node.ts";
import type { RowOf } from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Manifest } from "../../../ports/store/store.ts";
import { fromIdBytes, type PackReceiptRow } from "../../sql/receipts.ts";
import { EVENT_COLUMNS, type EventRow, NODE_COLUMNS, type NodeRow } from "../../sql/rows.ts";
import { readManifest } from "../../sql/settings.ts";
import { countRows } from "../connection/ask.ts";
import { toSvcError } from "../connection/failures.ts";
import { mainPath, type PackLayout } from "../connection/layout.ts";
import { type Connection, openForReading } from "../connection/open-reading.ts";
import { run } from "../connection/run.ts";
import { hashOf, ownVector } from "../vectors/exact.ts";
import { ACTIVE } from "../write/turns.ts";
import {
  EXPORT_FORMAT,
  EXPORT_VERSION,
  type ExportCounts,
  type ExportHeader,
  SECTIONS,
  type Section,
} from "./export-records.ts";

export type ExportChoices = {
  readonly withVectors: boolean;
  readonly softwareVersion: string;
  readonly exportedAt: Instant;
};

type Row = Readonly<Record<string, string | number | null>>;

/**
 * A pack as lines of JSON, each ending in a line feed: header, records in key order, footer. Reads row by row, within the snapshot of the
 * caller's transaction.
 */
export function* exportLines(database: Database, choices: ExportChoices): Generator<string> {
  const manifest = run(database, readManifest());
  if (manifest === undefined) return;
  const hasher = new Bun.CryptoHasher("sha256");
  const counts = countAll(database, choices.withVectors);
  const plan = { ...choices, counts };
  for (const line of linesBeforeFooter(database, manifest, plan)) {
    hasher.update(line);
    yield line;
  }
  yield toLine({ record: "footer", counts, sha256: hasher.digest("hex") });
}

/** The content of the lines. */
type ExportPlan = ExportChoices & { readonly counts: ExportCounts };

function* linesBeforeFooter(
  database: Database,
  manifest: Manifest,
  plan: ExportPlan,
): Generator<string> {
  yield toLine(headerOf(manifest, plan));
  for (const section of SECTIONS) yield* linesOf(database, section);
  yield* receiptLines(database);
  yield* blobLines(database);
  if (plan.withVectors) yield* vectorLines(database, manifest);
}

export function headerOf(manifest: Manifest, { counts, ...choices }: ExportPlan): ExportHeader {
  return {
    record: "header",
    format: EXPORT_FORMAT,
    format_version: EXPORT_VERSION,
    software_version: choices.softwareVersion,
    exported_at: choices.exportedAt,
    manifest: {
      format_version: manifest.formatVersion,
      software_version: manifest.softwareVersion,
      embedding: { ...manifest.embedding },
      scoring_version: manifest.scoringVersion,
      created_at: manifest.createdAt,
      updated_at: manifest.updatedAt,
    },
    counts,
    vectors: choices.withVectors ? { ...manifest.embedding } : null,
  };
}

function* linesOf(database: Database, section: Section): Generator<string> {
  const columns = Object.keys(section.columns);
  const sql = `SELECT ${columns.join(", ")} FROM ${section.table} ORDER BY ${section.order.join(", ")}`;
  for (const row of rowsOf<Row>(database, sql)) {
    const record: Record<string, unknown> = { record: section.record };
    for (const column of columns) record[column] = toJson(section, column, row[column] ?? null);
    yield toLine(record);
  }
}

/** The value of a column in a record. @throws SyntaxError for damaged JSON */
export function toJson(section: Section, column: string, value: string | number | null): unknown {
  if (section.json.includes(column)) return value === null ? null : JSON.parse(String(value));
  return section.flags.includes(column) ? value === 1 : value;
}

type ExportedReceipt = PackReceiptRow & { readonly context: string };

function* receiptLines(database: Database): Generator<string> {
  const sql = `SELECT key, request_id, user_id, created_at, body, (SELECT json_group_array(
      json_object('node', c.node, 'rank', c.rank, 'representation', c.representation) ORDER BY c.rank, c.node)
      FROM receipt_nodes c CROSS JOIN nodes n ON n.key = c.node WHERE c.receipt = r.key) AS context
    FROM receipts r ORDER BY key`;
  for (const row of rowsOf<ExportedReceipt>(database, sql)) {
    yield toLine({
      record: "receipt",
      key: row.key,
      request_id: fromIdBytes(row.request_id),
      user_id: row.user_id,
      created_at: row.created_at,
      body: row.body.toBase64(),
      context: JSON.parse(row.context),
    });
  }
}

type BlobRow = {
  readonly owner: number;
  readonly key: string;
  readonly media_type: string;
  readonly created_at: string;
  readonly events: string;
  readonly data: Uint8Array;
};

function* blobLines(database: Database): Generator<string> {
  const sql = `SELECT owner, key, media_type, created_at, data, (SELECT json_group_array(u.event) FROM (
      SELECT u.event FROM blob_uses u CROSS JOIN events e ON e.key = u.event
      WHERE u.blob = b.key AND e.owner = b.owner ORDER BY u.event) u) AS events
    FROM blobs b ORDER BY owner, key`;
  for (const { events, data, ...row } of rowsOf<BlobRow>(database, sql)) {
    yield toLine({ record: "blob", ...row, events: JSON.parse(events), data: data.toBase64() });
  }
}

/** Vectors of searched nodes, and those kept by retired ones. */
const VECTORS = `vectors v CROSS JOIN nodes n ON n.key = v.node_key
  WHERE (v.revision IS NOT NULL) = (n.lifecycle_state IN ${ACTIVE})`;

type VectorRow = {
  readonly node_key: number;
  readonly content: string;
  readonly hash: string;
  readonly created_at: string;
  readonly own: Uint8Array;
};

/** The vectors of the texts themselves, not the mixed ones, which an import recomputes. */
function* vectorLines(database: Database, { embedding: model }: Manifest): Generator<string> {
  const sql = `SELECT v.node_key, n.content, lower(hex(v.content_hash)) AS hash, n.updated_at AS created_at, v.embedding AS own
    FROM ${VECTORS} ORDER BY v.node_key`;
  for (const { node_key, content, hash, created_at, own } of rowsOf<VectorRow>(database, sql)) {
    const content_hash = hashOf(content, hash);
    const embedding = new Uint8Array(ownVector(own, model.dimension).buffer).toBase64();
    yield toLine({ record: "vector", node_key, content_hash, created_at, embedding });
  }
}

function countAll(database: Database, withVectors: boolean): ExportCounts {
  const count = (from: string): number => countRows(database, from);
  return {
    owner: count("owners"),
    event: count("events"),
    operation: count("operations"),
    node: count("nodes"),
    edge: count("edges"),
    job: count("jobs"),
    erasure: count("erasures"),
    receipt: count("receipts"),
    blob: count("blobs"),
    vector: withVectors ? countRows(database, VECTORS) : 0,
  };
}

/** Rows one at a time, with an uncached statement: a cached one would stay open if the reader stops early. */
export function* rowsOf<T>(
  database: Database,
  sql: string,
  ...parameters: readonly string[]
): Generator<T> {
  const statement = database.prepare<T, string[]>(sql);
  try {
    yield* statement.iterate(...parameters);
  } finally {
    statement.finalize();
  }
}

export function toLine(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * The text that `produce` makes of a pack, in chunks from one snapshot, while other processes continue to write. The connection is closed
 * when the reader stops, even early.
 * @throws SvcError not_a_pack, pack_too_new, storage_failed
 */
export function* readSnapshot(
  layout: PackLayout,
  connection: Connection,
  produce: (database: Database) => Iterable<string>,
  isDamaged = false,
): Generator<string> {
  try {
    const reading = openForReading(layout, connection, isDamaged);
    try {
      reading.database.run("BEGIN");
      yield* joined(produce(reading.database));
    } finally {
      if (reading.database.inTransaction) reading.database.run("ROLLBACK");
      reading.close();
    }
  } catch (error) {
    throw toSvcError(error, mainPath(layout));
  }
}

/** Characters per piece; a line is often short. */
const PIECE_CHARS = 65_536;

function* joined(pieces: Iterable<string>): Generator<string> {
  let waiting: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    length += piece.length;
    if (length < PIECE_CHARS) continue;
    yield waiting.join("");
    waiting = [];
    length = 0;
  }
  if (length > 0) yield waiting.join("");
}

type JsonExportChoices = {
  readonly exportedAt: Instant;
  /** Absolute path of the file that holds the log. */
  readonly path: string;
};

type EdgeRow = RowOf<Edge>;

const EDGES = `SELECT e.id, s.id AS source_id, t.id AS target_id, e.edge_type, o.user_id, e.confidence, e.valid_from,
    e.valid_to, e.provenance_event_id, e.metadata, e.created_at
  FROM edges e JOIN owners o ON o.owner = e.owner JOIN nodes s ON s.key = e.source JOIN nodes t ON t.key = e.target
  ORDER BY e.key`;
const NODES = `SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner = n.owner ORDER BY n.key`;
const EVENTS = `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner ORDER BY e.timestamp, e.id`;

/**
 * A pack as one JSON object for other programs, in chunks of text: nodes, edges and events of all owners with commonly used members. It
 * leaves out internal data, so it cannot be imported.
 */
export function* exportJson(database: Database, choices: JsonExportChoices): Generator<string> {
  const head = {
    exported_at: choices.exportedAt,
    db_path: choices.path,
    node_count: countRows(database, "nodes"),
    edge_count: countRows(database, "edges"),
    event_count: countRows(database, "events"),
  };
  yield JSON.stringify(head, null, 2).replace(/\n\}$/, "");
  yield* list("nodes", rowsOf<NodeRow>(database, NODES), toNode);
  yield* list("edges", rowsOf<EdgeRow>(database, EDGES), toEdge);
  yield* list("events", rowsOf<EventRow>(database, EVENTS), toEvent);
  yield "\n}\n";
}

function* list<T>(name: string, rows: Iterable<T>, toJson: (row: T) => object): Generator<string> {
  yield `,\n  ${JSON.stringify(name)}: [`;
  let separator = "\n    ";
  for (const row of rows) {
    yield `${separator}${JSON.stringify(toJson(row))}`;
    separator = ",\n    ";
  }
  yield separator.startsWith(",") ? "\n  ]" : "]";
}

function toNode(row: NodeRow): object {
  return {
    id: row.id,
    node_type: row.node_type,
    content: row.content,
    confidence: rounded(row.confidence),
    salience: rounded(row.salience),
    lifecycle_state: row.lifecycle_state,
    epistemic_type: row.epistemic_type,
    source_type: row.source_type,
    scope: row.scope,
    user_id: row.user_id,
    session_id: row.session_id,
    valid_from: row.valid_from,
    valid_to: row.valid_to,
    superseded_by: row.superseded_by,
    evidence_refs: parsed(row.evidence_refs),
    decay_profile: row.decay_profile,
    pinned: row.pinned === 1,
    metadata: parsed(row.metadata),
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

function toEdge(row: EdgeRow): object {
  return { ...row, confidence: rounded(row.confidence), metadata: parsed(row.metadata) };
}

function toEvent({ id, user_id, role, content, timestamp, scope }: EventRow): object {
  return { id, user_id, role, content, timestamp, scope };
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

function rounded(value: number): number {
  return Number(value.toFixed(4));
}
