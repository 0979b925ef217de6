import { eventForm, type MemoryEvent, type MemoryNode, nodeForm } from "../../domain/node.ts";
import { auditRecordForm } from "../../domain/records/audit.ts";
import { named, type RowOf, rowReader, storedColumns } from "../../domain/records/rows.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { KeyedNode } from "../../ports/store/search-index.ts";
import type { Dialect } from "./dialect.ts";
import type { OwnerKey } from "./statement.ts";

export type OperationRow = RowOf<AuditRecord>;
export const FROM_OPERATIONS =
  "SELECT id, op_type, target_id, payload, actor_id, namespace_id, created_at FROM operations";
export const toAuditRecord = rowReader(auditRecordForm);

/** A row of `events` joined with its owner's name. */
export type EventRow = { readonly key: number; readonly owner: OwnerKey } & RowOf<MemoryEvent>;
/** Columns of an EventRow; `e` is `events`, `o` its `owners`. */
export const EVENT_COLUMNS = `e.owner, e.key, e.id, o.user_id, ${named("e", storedColumns(eventForm))}`;
export const FROM_EVENTS = `SELECT ${EVENT_COLUMNS} FROM events e JOIN owners o ON o.owner = e.owner`;
export const toEvent = rowReader(eventForm);

/** A row of `nodes` joined with its owner's name. */
export type NodeRow = { readonly key: number; readonly owner: OwnerKey } & RowOf<MemoryNode>;
/** Columns of a NodeRow; `n` is `nodes`, `o` its `owners`. */
export const NODE_COLUMNS = `n.owner, n.key, n.id, o.user_id, ${named("n", storedColumns(nodeForm))}`;
export const fromNodes = ({ join }: Dialect): string =>
  `SELECT ${NODE_COLUMNS} FROM nodes n ${join} owners o ON o.owner = n.owner`;
export const toNode = rowReader(nodeForm);
export function toKeyedNode(row: NodeRow): KeyedNode<number> {
  return { key: row.key, node: toNode(row) };
}
