import { eventForm, type MemoryEvent } from "../../../domain/event.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import {
  named,
  type RowOf,
  rowReader,
  rowWriter,
  storedColumns,
  type Value,
} from "../../../domain/records/rows.ts";
import { LASTING_MEMBERS } from "../../../domain/search/change.ts";

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

/** Inserts a node unless one with its id exists. Parameters: id, owner, then `nodeValues`. */
export const INSERT_NODE = `INSERT INTO nodes (id, owner, ${NODE_STORED.join(", ")})
  VALUES (?, ?, ${NODE_STORED.map(() => "?").join(", ")}) ON CONFLICT (id) DO NOTHING`;

const NODE_CHANGING = nodeForm.members
  .filter(({ key }) => !LASTING_MEMBERS.some((lasting) => lasting === key))
  .map(({ name }) => name);

/** Updates all changeable columns of a node. Parameters: `changingValues`, then its key. */
export const UPDATE_NODE = `UPDATE nodes SET ${NODE_CHANGING.map((name) => `${name} = ?`).join(", ")} WHERE key = ?`;

/**
 * Updates the columns of a node in which two records differ. An index over none of them is not touched, which is most of the cost.
 * @returns the statement, whose last parameter is the key, and its other parameters
 */
export function updateOfNode(
  before: MemoryNode,
  after: MemoryNode,
): { readonly sql: string; readonly values: readonly Value[] } {
  const old = changingValues(before);
  const values = changingValues(after);
  const places = values.flatMap((value, place) => (value === old[place] ? [] : [place]));
  // Nothing differs: the statement still has to be one.
  const written = places.length === 0 ? [0] : places;
  const set = written.map((place) => `${NODE_CHANGING[place]} = ?`).join(", ");
  return {
    sql: `UPDATE nodes SET ${set} WHERE key = ?`,
    values: written.map((place) => values[place] ?? null),
  };
}

export const changingValues = rowWriter(nodeForm, (name) => NODE_CHANGING.includes(name));

export const nodeValues = rowWriter(nodeForm, (name) => NODE_STORED.includes(name));

export const toNode = rowReader(nodeForm);
