import { ERASED_HASH } from "../../../domain/erasure.ts";
import { PARTS_FROM } from "../../../domain/search/turns.ts";
import { COLUMNS, declared } from "../../sql/columns.ts";
import { SQLITE } from "../../sql/dialect.ts";

// The tables of the main file of a pack.

// An owner may be renamed, or merged into another, if an operation in the log records it. The content of an event never changes: in events
// and receipts only the owner does.
const hasMoved = (before: string, after: string): string =>
  `EXISTS (SELECT 1 FROM operations WHERE target_id = 'owner:' || ${before}
    AND op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED') AND payload ->> 'after' = ${after})`;
const same = (columns: readonly string[]): string =>
  columns.map((column) => `NEW.${column} IS OLD.${column}`).join(" AND ");
const nameOf = (key: string): string => `(SELECT user_id FROM owners WHERE owner = ${key})`;

const ALL_BUT_TEXT = ["key", "id", "session_id", "scope", "role", "event_time", "timestamp"];
const IS_MOVED = `${same([...ALL_BUT_TEXT, "content", "content_hash", "metadata"])}
  AND ${hasMoved(nameOf("OLD.owner"), nameOf("NEW.owner"))}`;
const IS_ERASED = `${same([...ALL_BUT_TEXT, "owner"])} AND OLD.content <> '' AND NEW.content = ''
  AND NEW.content_hash = '${ERASED_HASH}'
  AND EXISTS (SELECT 1 FROM erasures x WHERE x.event_id = OLD.id
    AND NEW.metadata = json_object('erased', x.forget_id, 'erased_at', x.erased_at))`;
const IS_PAYLOAD_ERASED = `${same(["key", "id", "op_type", "target_id", "actor_id", "namespace_id", "created_at"])}
  AND json_remove(NEW.payload, '$.erased', '$.record', '$.sha256') = '{}'
  AND NEW.payload ->> 'record' = json_object('erased', NEW.payload ->> 'erased')
  AND OLD.payload ->> 'erased' IS NULL
  AND EXISTS (SELECT 1 FROM erasures x WHERE x.forget_id = NEW.payload ->> 'erased')`;

const columns = (kind: keyof typeof COLUMNS): string => declared(SQLITE, COLUMNS[kind]);
const KEYS = `key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE`;
const OWNED = `${KEYS},
  owner INTEGER NOT NULL REFERENCES owners (owner)`;

/**
 * Triggers by which the rows of a table never change, nor are replaced: INSERT OR REPLACE deletes the old row without firing delete triggers.
 * @param key and id: columns that are unique @param unless a change that is allowed, as SQL
 */
function immutable(table: string, key: string, id: string, unless?: string): string {
  const refuse = (name: string, event: string, condition = ""): string =>
    `CREATE TRIGGER ${table}_${name} BEFORE ${event} ON ${table}${condition && ` WHEN ${condition}`}
BEGIN SELECT RAISE(ABORT, '${table} are immutable'); END;
`;
  return [
    refuse("never_change", "UPDATE", unless && `NOT (${unless})`),
    // Receipts are kept for a limited time.
    table === "receipts" ? "" : refuse("never_vanish", "DELETE"),
    refuse(
      "are_never_replaced",
      "INSERT",
      `EXISTS (SELECT 1 FROM ${table} WHERE ${id} = NEW.${id} OR ${key} = NEW.${key})`,
    ),
  ].join("");
}

const EVENT_LOG = `
CREATE TABLE owners (
  owner INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE
) STRICT;
${immutable("owners", "owner", "user_id", `NEW.owner IS OLD.owner AND ${hasMoved("OLD.user_id", "NEW.user_id")}`)}
CREATE TABLE events (
  ${OWNED},
  ${columns("event")}
) STRICT;
-- Indexes by time have no ids, which would double them: the few rows of one instant are sorted. Packs of earlier builds keep theirs, which do as well.
CREATE INDEX events_by_owner ON events (owner, timestamp);
CREATE INDEX events_by_session ON events (owner, session_id, timestamp) WHERE session_id IS NOT NULL;

${immutable("events", "key", "id", `(${IS_MOVED}) OR (${IS_ERASED})`)}
CREATE TABLE operations (
  ${KEYS},
  ${columns("operation")}
) STRICT;
CREATE INDEX operations_by_target ON operations (target_id, created_at, id);
-- Direct stores write an operation for each memory, which is only ever asked for by its id.
CREATE INDEX operations_listed ON operations (namespace_id, op_type, target_id)
  WHERE namespace_id IS NOT NULL AND op_type <> 'DIRECT_STORE_REQUESTED';
${immutable("operations", "key", "id", IS_PAYLOAD_ERASED)}`;

const NODES = `
CREATE TABLE nodes (
  ${OWNED},
  ${columns("node")}
) STRICT;
CREATE INDEX nodes_by_owner ON nodes (owner, lifecycle_state, created_at);
CREATE INDEX nodes_by_session ON nodes (owner, session_id) WHERE session_id IS NOT NULL;
-- All that is asked of an entity while names are looked for, so that its row is not read.
CREATE INDEX nodes_entities ON nodes (owner, created_at, id, lifecycle_state, scope, content)
  WHERE node_type = 'entity' AND lifecycle_state IN ('tentative', 'stable', 'contested');
CREATE INDEX nodes_pinned ON nodes (owner, created_at, id)
  WHERE (pinned = 1 OR salience >= 1.0) AND lifecycle_state IN ('tentative', 'stable');
CREATE INDEX nodes_tasks ON nodes (owner, created_at, id)
  WHERE node_type = 'task' AND lifecycle_state IN ('tentative', 'stable');
CREATE INDEX nodes_by_type ON nodes (owner, node_type, id);

-- The active nodes of a conversation: who looks for the neighbours of one does not walk over all that were retired.
CREATE INDEX nodes_in_session ON nodes (owner, session_id, scope, created_at)
  WHERE session_id IS NOT NULL AND lifecycle_state IN ('tentative', 'stable', 'contested');

-- Active nodes by the second in which their retention ends. The text is cut because SQLite rounds a fraction up.
CREATE INDEX nodes_expiring ON nodes (unixepoch(substr(created_at, 1, 19)) + ttl_days * 86400, owner)
  WHERE ttl_days IS NOT NULL AND pinned = 0 AND lifecycle_state IN ('tentative', 'stable', 'contested');
CREATE INDEX nodes_by_time ON nodes (created_at);

-- All by which memories are counted, so that their rows are not read.
CREATE INDEX nodes_by_property ON nodes (owner, lifecycle_state, node_type, scope, source_type, epistemic_type);

-- Where the long texts are, whose parts have vectors.
CREATE INDEX nodes_with_parts ON nodes (key) WHERE octet_length(content) > ${PARTS_FROM};
`;

const EDGES = `
CREATE TABLE edges (
  ${OWNED},
  source INTEGER NOT NULL REFERENCES nodes (key) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES nodes (key) ON DELETE CASCADE,
  ${columns("edge")}
) STRICT;
-- The newest edges of a node, of one type and of all.
CREATE INDEX edges_by_source ON edges (source, edge_type, created_at);
CREATE INDEX edges_by_target ON edges (target, edge_type, created_at);
CREATE INDEX edges_from ON edges (source, created_at);
CREATE INDEX edges_to ON edges (target, created_at);

-- The contradictions of an owner, which are few. The sum keeps this index from statements that ask for those of a node.
CREATE INDEX edges_contradicting ON edges (owner + 0) WHERE edge_type = 'contradicts';

-- Which nodes cite which event, read off evidence_refs. An event that does not exist has no row. Triggers keep it, so that
-- it is right whoever writes a node: a call or an import.
CREATE TABLE node_evidence (
  event INTEGER NOT NULL,
  node INTEGER NOT NULL,
  PRIMARY KEY (event, node)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER node_evidence_begins AFTER INSERT ON nodes
BEGIN
  INSERT OR IGNORE INTO node_evidence
    SELECT e.key, NEW.key FROM json_each(NEW.evidence_refs) r CROSS JOIN events e ON e.id = r.value;
END;
CREATE TRIGGER node_evidence_changes AFTER UPDATE OF evidence_refs ON nodes WHEN NEW.evidence_refs <> OLD.evidence_refs
BEGIN
  DELETE FROM node_evidence WHERE node = OLD.key AND event IN
    (SELECT e.key FROM json_each(OLD.evidence_refs) r CROSS JOIN events e ON e.id = r.value);
  INSERT OR IGNORE INTO node_evidence
    SELECT e.key, NEW.key FROM json_each(NEW.evidence_refs) r CROSS JOIN events e ON e.id = r.value;
END;
CREATE TRIGGER node_evidence_ends AFTER DELETE ON nodes
BEGIN
  DELETE FROM node_evidence WHERE node = OLD.key AND event IN
    (SELECT e.key FROM json_each(OLD.evidence_refs) r CROSS JOIN events e ON e.id = r.value);
END;
`;

// One queue for work of every kind.
const WORK_QUEUE = `
CREATE TABLE work (
  -- The key of the event that it is about; 0: none, and it comes again and again.
  subject INTEGER NOT NULL,
  -- 0: all owners.
  owner INTEGER NOT NULL,
  ${columns("work")},
  of_event INTEGER REFERENCES events (key) GENERATED ALWAYS AS (nullif(subject, 0)) VIRTUAL,
  of_owner INTEGER REFERENCES owners (owner) GENERATED ALWAYS AS (nullif(owner, 0)) VIRTUAL,
  CHECK (status IN ('pending', 'complete', 'failed')),
  PRIMARY KEY (subject, kind, owner)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_pending ON work (kind, owner, attempts, subject) WHERE status = 'pending';
CREATE INDEX work_leased ON work (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX work_in_lanes ON work (kind, owner, lane, subject) WHERE status = 'pending' AND lane IS NOT NULL;
-- The work that is about an event.
CREATE VIEW jobs AS
  SELECT subject AS event_key, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at
  FROM work WHERE subject > 0;
CREATE TRIGGER jobs_begin INSTEAD OF INSERT ON jobs
BEGIN
  INSERT INTO work (subject, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at)
  VALUES (NEW.event_key, NEW.kind, NEW.owner, NEW.status, coalesce(NEW.attempts, 0), NEW.last_error, NEW.lease_owner,
    NEW.lease_expires_at, NEW.updated_at);
END;
`;

const PACK = `
CREATE TABLE pack_manifest (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  format_version INTEGER NOT NULL,
  software_version TEXT NOT NULL,
  embedding_model TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  embedding_dim INTEGER NOT NULL,
  scoring_version TEXT NOT NULL,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;

-- Counts the transactions that changed an index. A derived file that shows another number than this one
-- missed a commit and is reconciled on open.
CREATE TABLE index_sequence (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO index_sequence VALUES (1, 0);

-- Facts that a pack stores about itself besides its manifest, one value per name: its owner, how far a rebuild has come, and the like.
CREATE TABLE pack_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

// Records of retrievals. Unlike the logs they may be deleted, since their retention is limited. Ids are stored as bytes, because there is
// one for each question.
const RECEIPTS = `
CREATE TABLE receipts (
  key INTEGER PRIMARY KEY,
  request_id BLOB NOT NULL UNIQUE CHECK (length(request_id) = 16),
  ${columns("receipt")}
) STRICT;
CREATE INDEX receipts_by_time ON receipts (created_at);
CREATE INDEX receipts_by_owner ON receipts (user_id, created_at, request_id);
${immutable("receipts", "key", "request_id", `${same(["key", "request_id", "created_at", "body"])} AND ${hasMoved("OLD.user_id", "NEW.user_id")}`)}
-- Which memories were in the context of which answer.
CREATE TABLE receipt_nodes (
  node INTEGER NOT NULL,
  receipt INTEGER NOT NULL,
  ${columns("receipt_node")},
  PRIMARY KEY (node, receipt)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_nodes_by_receipt ON receipt_nodes (receipt);
CREATE TRIGGER receipt_nodes_end AFTER DELETE ON receipts
BEGIN
  DELETE FROM receipt_nodes WHERE receipt = OLD.key;
END;
`;

/** Operations not listed as changes of a memory. */
const UNTOLD =
  "('DIRECT_STORE_REQUESTED', 'FAST_INGEST_BATCH', 'ANSWER_CITATIONS_RECORDED', 'PAIR_CHANGE_REQUESTED')";

/** Lists all changes of memories, none of which is listed: operations that were written before their memories. */
export const LIST_CHANGES = `INSERT INTO memory_operations SELECT n.owner, o.created_at, o.key
  FROM operations o CROSS JOIN nodes n ON n.id = o.target_id WHERE o.op_type NOT IN ${UNTOLD};`;

const CHANGES = `
-- The changes of an owner's memories by time. An operation names its memory, not the owner. Stores are left out: the events
-- tell them; and so is what has an id of the caller's choice as its target. Triggers keep it, whoever writes.
CREATE TABLE memory_operations (
  owner INTEGER NOT NULL,
  at TEXT NOT NULL,
  operation INTEGER NOT NULL,
  PRIMARY KEY (owner, at, operation)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER memory_operations_begin AFTER INSERT ON operations WHEN NEW.op_type NOT IN ${UNTOLD}
BEGIN
  INSERT INTO memory_operations SELECT n.owner, NEW.created_at, NEW.key FROM nodes n WHERE n.id = NEW.target_id;
END;
CREATE TRIGGER memory_operations_move AFTER UPDATE OF owner ON nodes WHEN NEW.owner <> OLD.owner
BEGIN
  UPDATE memory_operations SET owner = NEW.owner WHERE (owner, at, operation) IN
    (SELECT OLD.owner, o.created_at, o.key FROM operations o WHERE o.target_id = NEW.id);
END;
`;

// The content of an event or an operation never changes. It can only be erased as a whole, once, if this table lists it.
const ERASURES = `
CREATE TABLE erasures (
  key INTEGER PRIMARY KEY,
  ${columns("erasure")},
  UNIQUE (event_id)
) STRICT;
CREATE INDEX erasures_by_forgetting ON erasures (forget_id);
${immutable("erasures", "key", "event_id")}
-- The highest key of a memory that is gone: a key is never given to another one, since other processes may know it.
CREATE TABLE erased_keys (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), newest INTEGER NOT NULL) STRICT;
INSERT INTO erased_keys VALUES (1, 0);
`;

// Blobs of events, stored once per owner. A row of `blob_uses` says which event uses one; its owner is that of the event.
const BLOBS = `
CREATE TABLE blobs (
  owner INTEGER NOT NULL REFERENCES owners (owner),
  ${columns("blob")},
  CHECK (key <> '' AND size = length(data)),
  PRIMARY KEY (owner, key)
) STRICT;
-- Sums of sizes are asked for every few seconds, and read nothing else.
CREATE INDEX blobs_by_size ON blobs (owner, size);
CREATE TABLE blob_uses (
  event INTEGER NOT NULL REFERENCES events (key),
  blob TEXT NOT NULL,
  PRIMARY KEY (event, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_by_blob ON blob_uses (blob, event);
`;

export const CORE_TABLES: string = [
  EVENT_LOG,
  NODES,
  EDGES,
  WORK_QUEUE,
  PACK,
  RECEIPTS,
  CHANGES,
  ERASURES,
  BLOBS,
].join("");

/** An owner's memories as their states became what they are, in the order of the commits. Triggers keep it, whoever writes. */
export const CHANGE_LOG: string = (() => {
  const note = (row: string, values: string): string =>
    `INSERT INTO changes SELECT ${row}.owner, coalesce(max(key), 0) + 1, ${row}.id, ${values} FROM changes WHERE owner = ${row}.owner;`;
  return `
CREATE TABLE changes (
  ${columns("change")},
  PRIMARY KEY (owner, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER changes_begin AFTER INSERT ON nodes
BEGIN ${note("NEW", "NULL, NEW.lifecycle_state, NEW.updated_at")} END;
CREATE TRIGGER changes_continue AFTER UPDATE OF lifecycle_state ON nodes
WHEN NEW.lifecycle_state <> OLD.lifecycle_state AND NOT EXISTS (SELECT 1 FROM erasures WHERE event_id = NEW.id)
BEGIN ${note("NEW", "OLD.lifecycle_state, NEW.lifecycle_state, NEW.updated_at")} END;
CREATE TRIGGER changes_end AFTER DELETE ON nodes
BEGIN ${note("OLD", "NULL, NULL, coalesce((SELECT erased_at FROM erasures WHERE event_id = OLD.id), OLD.updated_at)")} END;
`;
})();
