import type { Database } from "bun:sqlite";
import type { Edge } from "../../../domain/node.ts";
import type { RowOf } from "../../../domain/records/rows.ts";
import type { Instant } from "../../../lib/instant.ts";
import { EVENT_COLUMNS, type EventRow, NODE_COLUMNS, type NodeRow } from "../../sql/rows.ts";
import { countRows } from "../connection/ask.ts";
import { toSvcError } from "../connection/failures.ts";
import { mainPath, type PackLayout } from "../connection/layout.ts";
import { type Connection, openForReading } from "../connection/open-reading.ts";
import { rowsOf } from "./export-lines.ts";

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
