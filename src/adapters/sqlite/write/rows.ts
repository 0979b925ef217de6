import { eventForm, nodeForm } from "../../../domain/node.ts";
import { storedColumns } from "../../../domain/records/rows.ts";

const EVENT_STORED = storedColumns(eventForm);
const NODE_STORED = storedColumns(nodeForm);

/** Inserts an event. Parameters: id, owner, then `eventValues`. */
export const INSERT_EVENT = `INSERT INTO events (id, owner, ${EVENT_STORED.join(", ")})
  VALUES (?, ?, ${EVENT_STORED.map(() => "?").join(", ")})`;

/**
 * Inserts a node unless one with its id exists. Its key is above those of all that are and of all that were erased. Parameters: id,
 * owner, then `nodeValues`.
 */
export const INSERT_NODE = `INSERT INTO nodes (key, id, owner, ${NODE_STORED.join(", ")})
  SELECT max(newest, coalesce((SELECT max(key) FROM nodes), 0)) + 1, ?, ?, ${NODE_STORED.map(() => "?").join(", ")}
  FROM erased_keys WHERE true ON CONFLICT (id) DO NOTHING`;
