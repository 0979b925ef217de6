import {
  type Edge,
  edgeForm,
  eventForm,
  type MemoryEvent,
  type MemoryNode,
  nodeForm,
} from "../../domain/node.ts";
import { auditRecordForm } from "../../domain/records/audit.ts";
import {
  changedColumns,
  named,
  type RowOf,
  rowReader,
  rowWriter,
  storedColumns,
  type Value,
} from "../../domain/records/rows.ts";
import {
  charsOfEdge,
  charsOfEvent,
  charsOfNode,
  type PageForm,
} from "../../domain/search/pages.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { KeyedNode } from "../../ports/store/search-index.ts";
import { COLUMNS, type Column } from "./columns.ts";
import type { Dialect } from "./dialect.ts";
import type * as sql from "./statement.ts";

/** A row of `events` joined with its owner's name. */
export type EventRow = { readonly key: number; readonly owner: sql.OwnerKey } & RowOf<MemoryEvent>;
/** A row of `nodes` joined with its owner's name. */
export type NodeRow = { readonly key: number; readonly owner: sql.OwnerKey } & RowOf<MemoryNode>;
/** A row of `edges` joined with its owner's name and the ids of its ends. */
export type EdgeRow = RowOf<Edge>;
export type OperationRow = RowOf<AuditRecord>;

const EVENT_STORED = storedColumns(eventForm);
const NODE_STORED = storedColumns(nodeForm);

/** Columns of an EventRow; `e` is `events`, `o` its `owners`. */
export const EVENT_COLUMNS = `e.owner, e.key, e.id, o.user_id, ${named("e", EVENT_STORED)}`;
export const FROM_EVENTS = `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner`;
export const toEvent = rowReader(eventForm);
export const EVENT_PAGE: PageForm<EventRow, MemoryEvent> = {
  toItem: toEvent,
  charsOf: charsOfEvent,
};

/** Columns of a NodeRow; `n` is `nodes`, `o` its `owners`. */
export const NODE_COLUMNS = `n.owner, n.key, n.id, o.user_id, ${named("n", NODE_STORED)}`;
export const FROM_NODES = `SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner = n.owner`;
export const fromNodes = ({ join }: Dialect): string =>
  `SELECT ${NODE_COLUMNS} FROM nodes n ${join} owners o ON o.owner = n.owner`;
export const toNode = rowReader(nodeForm);
export const NODE_PAGE: PageForm<NodeRow, MemoryNode> = { toItem: toNode, charsOf: charsOfNode };
export function toKeyedNode(row: NodeRow): KeyedNode<number> {
  return { key: row.key, node: toNode(row) };
}

/** Columns of an EdgeRow; `e` is `edges`, and the others are those of `joinedEdge`. */
export const EDGE_COLUMNS = `e.id, o.user_id, s.id AS source_id, t.id AS target_id, e.edge_type, e.confidence,
  e.valid_from, e.valid_to, e.provenance_event_id, e.metadata, e.created_at`;
/** Joins `edges e` with its owner `o` and the nodes `s` and `t` at its source and target. Edges never connect owners. */
export function joinedEdge({ end }: Dialect): string {
  return `JOIN owners o ON o.owner = e.owner JOIN nodes s ON s.owner = e.owner AND s.${end} = e.source
    JOIN nodes t ON t.owner = e.owner AND t.${end} = e.target`;
}
export const toEdge = rowReader(edgeForm);
export const EDGE_PAGE: PageForm<EdgeRow, Edge> = { toItem: toEdge, charsOf: charsOfEdge };

export const FROM_OPERATIONS =
  "SELECT id, op_type, target_id, payload, actor_id, namespace_id, created_at FROM operations";
export const toAuditRecord = rowReader(auditRecordForm);

const ID: Column = ["id", "uuid"];
export const EVENT_TABLE: sql.Table["columns"] = [ID, ...COLUMNS.event];
/** Values of an event after its id. */
export const eventValues = rowWriter(eventForm, (name) => EVENT_STORED.includes(name));

export const NODE_TABLE: sql.Table["columns"] = [ID, ...COLUMNS.node];
/** Values of a node after its id. */
export const nodeValues = rowWriter(nodeForm, (name) => NODE_STORED.includes(name));

/**
 * Updates the columns of a node in which two records differ.
 * @returns the statement, whose first parameters are owner and id; undefined if nothing differs
 */
export function updateOfNode(
  before: MemoryNode,
  after: MemoryNode,
): { readonly sql: string; readonly values: readonly Value[] } | undefined {
  const changed = changedColumns(before, after);
  if (changed.length === 0) return undefined;
  const set = changed.map(({ name }, place) => `${name} = $${place + 3}`).join(", ");
  return {
    sql: `UPDATE nodes SET ${set} WHERE owner = $1::bigint AND id = $2::uuid`,
    values: changed.map(({ value }) => value),
  };
}
