import { eventForm, type MemoryEvent, type MemoryNode, nodeForm } from "../../../domain/node.ts";
import {
  CHANGING_COLUMNS,
  changedColumns,
  named,
  type RowOf,
  rowReader,
  rowWriter,
  storedColumns,
  type Value,
} from "../../../domain/records/rows.ts";

/** A row of `events` joined with its owner's name. */
export type EventRow = { readonly key: number } & RowOf<MemoryEvent>;
/** A row of `nodes` joined with its owner's name. */
export type NodeRow = { readonly key: number } & RowOf<MemoryNode>;

/** Columns of an EventRow; `e` is `events`, `o` is `owners`. */
export const EVENT_COLUMNS = `e.key, e.id, o.user_id, ${named("e", storedColumns(eventForm))}`;

export const toEvent = rowReader(eventForm);

const EVENT_STORED = storedColumns(eventForm);

/** Inserts an event. Parameters: id, owner, then `eventValues`. */
export const INSERT_EVENT = `INSERT INTO events (id, owner, ${EVENT_STORED.join(", ")})
  VALUES (?, ?, ${EVENT_STORED.map(() => "?").join(", ")})`;
export const eventValues = rowWriter(eventForm, (name) => EVENT_STORED.includes(name));

const NODE_STORED = storedColumns(nodeForm);

/** Columns of a NodeRow; `n` is `nodes`, `o` is `owners`. */
export const NODE_COLUMNS = `n.key, n.id, o.user_id, ${named("n", NODE_STORED)}`;

/**
 * Inserts a node unless one with its id exists. Its key is above those of all that are and of all that were erased. Parameters: id,
 * owner, then `nodeValues`.
 */
export const INSERT_NODE = `INSERT INTO nodes (key, id, owner, ${NODE_STORED.join(", ")})
  SELECT max(newest, coalesce((SELECT max(key) FROM nodes), 0)) + 1, ?, ?, ${NODE_STORED.map(() => "?").join(", ")}
  FROM erased_keys WHERE true ON CONFLICT (id) DO NOTHING`;

/** Updates all changeable columns of a node. Parameters: `changingValues`, then its key. */
export const UPDATE_NODE = `UPDATE nodes SET ${CHANGING_COLUMNS.map((name) => `${name} = ?`).join(", ")} WHERE key = ?`;

/**
 * Updates the columns of a node in which two records differ.
 * @returns the statement, whose last parameter is the key, and its other parameters; undefined when nothing differs
 */
export function updateOfNode(
  before: MemoryNode,
  after: MemoryNode,
): { readonly sql: string; readonly values: readonly Value[] } | undefined {
  const changed = changedColumns(before, after);
  if (changed.length === 0) return undefined;
  const set = changed.map(({ name }) => `${name} = ?`).join(", ");
  return {
    sql: `UPDATE nodes SET ${set} WHERE key = ?`,
    values: changed.map(({ value }) => value),
  };
}

export const nodeValues = rowWriter(nodeForm, (name) => NODE_STORED.includes(name));

export const toNode = rowReader(nodeForm);
