import { INSTANT, JSON_TEXT, KEY, OWNER, TEXT } from "./columns.ts";

/** One queue for all work; see `WorkQueue`. */
const WORK = [
  `CREATE TABLE work (
    -- 0: all owners.
    owner ${OWNER},
    kind ${TEXT} NOT NULL,
    -- The key of the owner's event that it is about; 0: none, and it comes again and again.
    subject ${KEY} NOT NULL,
    event_id uuid,
    -- Work of one kind, owner and lane is done one after the other, by subject. Null: in any order.
    lane ${TEXT},
    status ${TEXT} NOT NULL CHECK (status IN ('pending', 'complete', 'failed')),
    -- Not before; null: at once.
    due ${INSTANT},
    -- Tries; where it comes again and again, those that failed since the last success.
    attempts integer NOT NULL DEFAULT 0,
    -- Counts the claims.
    generation integer NOT NULL DEFAULT 0,
    payload ${JSON_TEXT},
    last_error ${TEXT},
    lease_owner ${TEXT},
    lease_expires_at ${INSTANT},
    updated_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, kind, subject)
  )`,
  "CREATE INDEX work_pending ON work (owner, kind, attempts, subject) WHERE status = 'pending'",
  // Whose work is next.
  "CREATE INDEX work_waiting ON work (kind, attempts, updated_at) WHERE status = 'pending'",
  "CREATE INDEX work_leased ON work (owner, lease_owner) WHERE lease_owner IS NOT NULL",
  `CREATE INDEX work_in_lanes ON work (owner, kind, lane, subject) WHERE status = 'pending' AND lane IS NOT NULL`,
  "CREATE INDEX work_by_event ON work (event_id) WHERE event_id IS NOT NULL",
];

/** Records of retrievals, which are kept for a limited time. */
const RECEIPTS = [
  `CREATE TABLE receipts (
    owner ${OWNER},
    request_id uuid NOT NULL,
    -- Whoever asked, who need not own anything yet.
    user_id ${TEXT} NOT NULL,
    created_at ${INSTANT} NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (owner, request_id)
  )`,
  "CREATE INDEX receipts_by_id ON receipts (request_id)",
  "CREATE INDEX receipts_by_time ON receipts (created_at)",
  "CREATE INDEX receipts_by_owner ON receipts (owner, created_at, request_id)",
  // The memories in the context of an answer.
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
];

/** Vectors of another model, which wait beside the others until all memories have one. */
const STAGING = [
  `CREATE TABLE vector_staging (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    content_hash ${TEXT} NOT NULL,
    model ${TEXT} NOT NULL,
    version ${TEXT} NOT NULL,
    dimension integer NOT NULL,
    embedding vector NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
];

export const WORK_TABLES: readonly string[] = [...WORK, ...RECEIPTS, ...STAGING];
