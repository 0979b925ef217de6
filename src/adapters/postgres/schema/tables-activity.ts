import { KEY, OWNER, TEXT } from "./columns.ts";

/**
 * Whether an operation may be a change of a memory, as SQL. Stores are told by the events; a few have an id of the caller's choice as
 * their target. A partial index is used only if the statement repeats its condition.
 */
export const IS_TOLD = `op_type NOT IN ('DIRECT_STORE_REQUESTED', 'FAST_INGEST_BATCH', 'ANSWER_CITATIONS_RECORDED', 'PAIR_CHANGE_REQUESTED')`;

/** What a page asks about what has happened: the memories in the context of an answer, and changes by time. */
export const ACTIVITY_TABLES: readonly string[] = [
  // Whether `receipt_nodes` has what was in its context. A program that knows nothing of it leaves 0 there.
  "ALTER TABLE receipts ADD COLUMN is_told smallint NOT NULL DEFAULT 0",
  "CREATE INDEX receipts_untold ON receipts (created_at, request_id) WHERE is_told = 0",
  `CREATE TABLE receipt_nodes (
    owner ${OWNER},
    request_id uuid NOT NULL,
    node_id uuid NOT NULL,
    rank ${KEY} NOT NULL,
    representation ${TEXT} NOT NULL,
    PRIMARY KEY (owner, request_id, node_id),
    FOREIGN KEY (owner, request_id) REFERENCES receipts (owner, request_id) ON DELETE CASCADE ON UPDATE CASCADE
  )`,
  "CREATE INDEX receipt_nodes_by_node ON receipt_nodes (owner, node_id)",
  `CREATE INDEX operations_of_changes ON operations (owner, created_at, id) WHERE ${IS_TOLD}`,
];
