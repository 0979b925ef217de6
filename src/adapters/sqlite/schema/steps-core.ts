// The statements of the core steps. A released one is never edited.

export const EVENT_LOG = `
CREATE TABLE owners (
  owner INTEGER PRIMARY KEY,
  user_id TEXT NOT NULL UNIQUE
) STRICT;
-- An event names its owner by key: whoever renames the owner rewrites the event.
CREATE TRIGGER owners_never_change BEFORE UPDATE ON owners
BEGIN SELECT RAISE(ABORT, 'owners are immutable'); END;
CREATE TRIGGER owners_never_vanish BEFORE DELETE ON owners
BEGIN SELECT RAISE(ABORT, 'owners are immutable'); END;
CREATE TRIGGER owners_are_never_replaced BEFORE INSERT ON owners
WHEN EXISTS (SELECT 1 FROM owners WHERE owner = NEW.owner OR user_id = NEW.user_id)
BEGIN SELECT RAISE(ABORT, 'owners are immutable'); END;

CREATE TABLE events (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner INTEGER NOT NULL REFERENCES owners (owner),
  session_id TEXT,
  scope TEXT NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  metadata TEXT,
  event_time TEXT,
  timestamp TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_owner ON events (owner, timestamp, id);
CREATE INDEX events_by_session ON events (owner, session_id, timestamp, id) WHERE session_id IS NOT NULL;

-- The log is append-only. The insert trigger closes the back door of INSERT OR REPLACE,
-- which deletes the old row without firing delete triggers.
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;
CREATE TRIGGER events_never_vanish BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;
CREATE TRIGGER events_are_never_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE id = NEW.id OR key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

CREATE TABLE operations (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  op_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  payload TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  namespace_id TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX operations_by_target ON operations (target_id, created_at, id);
CREATE TRIGGER operations_never_change BEFORE UPDATE ON operations
BEGIN SELECT RAISE(ABORT, 'operations are immutable'); END;
CREATE TRIGGER operations_never_vanish BEFORE DELETE ON operations
BEGIN SELECT RAISE(ABORT, 'operations are immutable'); END;
CREATE TRIGGER operations_are_never_replaced BEFORE INSERT ON operations
WHEN EXISTS (SELECT 1 FROM operations WHERE id = NEW.id OR key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'operations are immutable'); END;
`;

export const GRAPH = `
CREATE TABLE nodes (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner INTEGER NOT NULL REFERENCES owners (owner),
  session_id TEXT,
  node_type TEXT NOT NULL,
  content TEXT NOT NULL,
  lifecycle_state TEXT NOT NULL,
  confidence REAL NOT NULL,
  salience REAL NOT NULL,
  confidence_base REAL NOT NULL,
  salience_base REAL NOT NULL,
  reinforcement_boost REAL NOT NULL,
  last_reinforced_at TEXT NOT NULL,
  decay_profile TEXT NOT NULL,
  epistemic_type TEXT NOT NULL,
  source_type TEXT NOT NULL,
  scope TEXT NOT NULL,
  metadata TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  event_time TEXT,
  valid_from TEXT NOT NULL,
  valid_to TEXT,
  ttl_days INTEGER,
  superseded_by TEXT,
  evidence_refs TEXT NOT NULL,
  pinned INTEGER NOT NULL
) STRICT;
CREATE INDEX nodes_by_owner ON nodes (owner, lifecycle_state, created_at, id);
CREATE INDEX nodes_by_session ON nodes (owner, session_id, scope, created_at, id) WHERE session_id IS NOT NULL;

CREATE TABLE edges (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  owner INTEGER NOT NULL REFERENCES owners (owner),
  source INTEGER NOT NULL REFERENCES nodes (key) ON DELETE CASCADE,
  target INTEGER NOT NULL REFERENCES nodes (key) ON DELETE CASCADE,
  edge_type TEXT NOT NULL,
  confidence REAL NOT NULL,
  valid_from TEXT NOT NULL,
  valid_to TEXT,
  provenance_event_id TEXT,
  metadata TEXT,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX edges_by_source ON edges (source, edge_type);
CREATE INDEX edges_by_target ON edges (target, edge_type);
`;

export const WORK = `
CREATE TABLE jobs (
  event_key INTEGER NOT NULL REFERENCES events (key),
  kind TEXT NOT NULL,
  owner INTEGER NOT NULL REFERENCES owners (owner),
  status TEXT NOT NULL CHECK (status IN ('pending', 'complete')),
  attempts INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  lease_owner TEXT,
  lease_expires_at TEXT,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (event_key, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_pending ON jobs (owner, attempts, event_key) WHERE status = 'pending';
CREATE INDEX jobs_leased ON jobs (lease_owner) WHERE lease_owner IS NOT NULL;

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
`;

// The current run of a rebuild: its model, its progress, and which process holds it until when.
export const REBUILD_STATE = `
CREATE TABLE rebuild_state (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  embedding_model TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  embedding_dim INTEGER NOT NULL,
  replaces INTEGER NOT NULL,
  text_cursor INTEGER NOT NULL,
  holder TEXT,
  held_until TEXT
) STRICT;
`;

// Records of retrievals. Unlike the logs they may be deleted, since they are kept for a limited time. Ids are stored as bytes and
// bodies compressed if that is smaller, because there is one for each question.
export const RECEIPTS = `
CREATE TABLE receipts (
  key INTEGER PRIMARY KEY,
  request_id BLOB NOT NULL UNIQUE CHECK (length(request_id) = 16),
  -- Whoever asked, who need not own anything yet.
  user_id TEXT NOT NULL,
  created_at TEXT NOT NULL,
  is_compressed INTEGER NOT NULL CHECK (is_compressed IN (0, 1)),
  body BLOB NOT NULL
) STRICT;
CREATE INDEX receipts_by_time ON receipts (created_at);
CREATE TRIGGER receipts_never_change BEFORE UPDATE ON receipts
BEGIN SELECT RAISE(ABORT, 'receipts are immutable'); END;
CREATE TRIGGER receipts_are_never_replaced BEFORE INSERT ON receipts
WHEN EXISTS (SELECT 1 FROM receipts WHERE request_id = NEW.request_id OR key = NEW.key)
BEGIN SELECT RAISE(ABORT, 'receipts are immutable'); END;
`;

// What a question reads besides the two search indexes: each read costs what it finds, however much the owner has.
export const QUESTION_INDEXES = `
-- All that is asked of an entity while names are looked for, so that its row is not read.
CREATE INDEX nodes_entities ON nodes (owner, created_at, id, lifecycle_state, scope, content)
  WHERE node_type = 'entity' AND lifecycle_state IN ('tentative', 'stable', 'contested');
CREATE INDEX nodes_pinned ON nodes (owner, created_at, id)
  WHERE (pinned = 1 OR salience >= 1.0) AND lifecycle_state IN ('tentative', 'stable');
CREATE INDEX nodes_tasks ON nodes (owner, created_at, id)
  WHERE node_type = 'task' AND lifecycle_state IN ('tentative', 'stable');

-- The newest edges of a node, of one type and of all.
DROP INDEX edges_by_source;
DROP INDEX edges_by_target;
CREATE INDEX edges_by_source ON edges (source, edge_type, created_at);
CREATE INDEX edges_by_target ON edges (target, edge_type, created_at);
CREATE INDEX edges_from ON edges (source, created_at);
CREATE INDEX edges_to ON edges (target, created_at);

-- Direct stores write an operation for each memory, which is only ever asked for by its id.
CREATE INDEX operations_listed ON operations (namespace_id, op_type, id)
  WHERE namespace_id IS NOT NULL AND op_type <> 'DIRECT_STORE_REQUESTED';
`;

// Pages of an owner's nodes of one type by id, nodes by the end of their retention, the contradictions of an owner, and the
// nodes that cite an event.
export const GRAPH_READS = `
CREATE INDEX nodes_by_type ON nodes (owner, node_type, id);

-- The active nodes of a conversation: who looks for the neighbours of one does not walk over all that were retired.
CREATE INDEX nodes_in_session ON nodes (owner, session_id, scope, created_at, id)
  WHERE session_id IS NOT NULL AND lifecycle_state IN ('tentative', 'stable', 'contested');

-- Active nodes by the second in which their retention ends. The text is cut because SQLite rounds a fraction up.
CREATE INDEX nodes_expiring ON nodes (unixepoch(substr(created_at, 1, 19)) + ttl_days * 86400, owner)
  WHERE ttl_days IS NOT NULL AND pinned = 0 AND lifecycle_state IN ('tentative', 'stable', 'contested');

-- The contradictions of an owner, which are few. The sum keeps this index from statements that ask for those of a node.
CREATE INDEX edges_contradicting ON edges (owner + 0) WHERE edge_type = 'contradicts';

-- Which nodes cite which event, read off evidence_refs. An event that does not exist has no row. Triggers keep it, so that
-- it is right whoever writes a node: a call, an import, a process of an earlier version.
CREATE TABLE node_evidence (
  event INTEGER NOT NULL,
  node INTEGER NOT NULL,
  PRIMARY KEY (event, node)
) STRICT, WITHOUT ROWID;
INSERT INTO node_evidence
  SELECT DISTINCT e.key, n.key FROM nodes n CROSS JOIN json_each(n.evidence_refs) r CROSS JOIN events e ON e.id = r.value;
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

// Nodes of all owners by time, and the operations that callers list by their target.
export const LISTS = `
CREATE INDEX nodes_by_time ON nodes (created_at, id);

DROP INDEX operations_listed;
CREATE INDEX operations_listed ON operations (namespace_id, op_type, target_id)
  WHERE namespace_id IS NOT NULL AND op_type <> 'DIRECT_STORE_REQUESTED';
`;

// Facts that a pack stores about itself besides its manifest, one value per name: its owner, when its key was backed up, and the
// like.
export const SETTINGS = `
CREATE TABLE pack_settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

// An owner may be renamed, and everything of one owner may be given to another, if an operation in the log says so. The content
// of an event never changes: in events and receipts only the owner does.
export const MOVE = (before: string, after: string): string =>
  `EXISTS (SELECT 1 FROM operations WHERE target_id = 'owner:' || ${before}
    AND op_type IN ('OWNER_RENAMED', 'OWNERS_JOINED') AND payload ->> 'after' = ${after})`;
export const SAME = (columns: readonly string[]): string =>
  columns.map((column) => `NEW.${column} IS OLD.${column}`).join(" AND ");
export const NAME = (key: string): string => `(SELECT user_id FROM owners WHERE owner = ${key})`;

export const OWNER_MOVES = `
DROP TRIGGER owners_never_change;
CREATE TRIGGER owners_never_change BEFORE UPDATE ON owners
WHEN NOT (NEW.owner IS OLD.owner AND ${MOVE("OLD.user_id", "NEW.user_id")})
BEGIN SELECT RAISE(ABORT, 'owners are immutable'); END;

DROP TRIGGER events_never_change;
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
WHEN NOT (${SAME([
  "key",
  "id",
  "session_id",
  "scope",
  "role",
  "content",
  "content_hash",
  "metadata",
  "event_time",
  "timestamp",
])} AND ${MOVE(NAME("OLD.owner"), NAME("NEW.owner"))})
BEGIN SELECT RAISE(ABORT, 'events are immutable'); END;

DROP TRIGGER receipts_never_change;
CREATE TRIGGER receipts_never_change BEFORE UPDATE ON receipts
WHEN NOT (${SAME(["key", "request_id", "created_at", "is_compressed", "body"])}
  AND ${MOVE("OLD.user_id", "NEW.user_id")})
BEGIN SELECT RAISE(ABORT, 'receipts are immutable'); END;
`;

// One queue for work of every kind. What stands in for the former table is a view: a process of an earlier version that has
// the pack open goes on as before, and exports read it. A claim by such a process counts like any other.
export const WORK_QUEUE = `
CREATE TABLE work (
  -- The key of the event that it is about; 0: none, and it comes again and again.
  subject INTEGER NOT NULL,
  kind TEXT NOT NULL,
  -- 0: all owners.
  owner INTEGER NOT NULL,
  -- Work of one kind, owner and lane is done one after the other, by subject. Null: in any order.
  lane TEXT,
  status TEXT NOT NULL CHECK (status IN ('pending', 'complete', 'failed')),
  -- Not before; null: at once.
  due TEXT,
  -- Tries; where it comes again and again, those that failed since the last success.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Counts the claims.
  generation INTEGER NOT NULL DEFAULT 0,
  payload TEXT,
  last_error TEXT,
  lease_owner TEXT,
  lease_expires_at TEXT,
  updated_at TEXT NOT NULL,
  of_event INTEGER REFERENCES events (key) GENERATED ALWAYS AS (nullif(subject, 0)) VIRTUAL,
  of_owner INTEGER REFERENCES owners (owner) GENERATED ALWAYS AS (nullif(owner, 0)) VIRTUAL,
  PRIMARY KEY (subject, kind, owner)
) STRICT, WITHOUT ROWID;
INSERT INTO work (subject, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at)
  SELECT event_key, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at FROM jobs;
DROP TABLE jobs;
CREATE INDEX work_pending ON work (kind, owner, attempts, subject) WHERE status = 'pending';
CREATE INDEX work_leased ON work (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX work_in_lanes ON work (kind, owner, lane, subject) WHERE status = 'pending' AND lane IS NOT NULL;
CREATE VIEW jobs AS
  SELECT subject AS event_key, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at
  FROM work WHERE subject > 0;
CREATE TRIGGER jobs_begin INSTEAD OF INSERT ON jobs
BEGIN
  INSERT INTO work (subject, kind, owner, status, attempts, last_error, lease_owner, lease_expires_at, updated_at)
  VALUES (NEW.event_key, NEW.kind, NEW.owner, NEW.status, coalesce(NEW.attempts, 0), NEW.last_error, NEW.lease_owner,
    NEW.lease_expires_at, NEW.updated_at);
END;
CREATE TRIGGER jobs_change INSTEAD OF UPDATE ON jobs
BEGIN
  UPDATE work SET owner = NEW.owner, status = NEW.status, attempts = NEW.attempts, last_error = NEW.last_error,
    generation = generation + (NEW.lease_owner IS NOT NULL AND NEW.lease_owner IS NOT OLD.lease_owner),
    lease_owner = NEW.lease_owner, lease_expires_at = NEW.lease_expires_at, updated_at = NEW.updated_at
  WHERE subject = OLD.event_key AND kind = OLD.kind AND owner = OLD.owner;
END;
`;

/** Operations that are not listed as changes of a memory. */
const UNTOLD =
  "('DIRECT_STORE_REQUESTED', 'FAST_INGEST_BATCH', 'ANSWER_CITATIONS_RECORDED', 'PAIR_CHANGE_REQUESTED')";

/** Lists all changes of memories, none of which is listed: operations that were written before their memories. */
export const LIST_CHANGES = `INSERT INTO memory_operations SELECT n.owner, o.created_at, o.key
  FROM operations o CROSS JOIN nodes n ON n.id = o.target_id WHERE o.op_type NOT IN ${UNTOLD};`;

// What a page asks about what has happened: receipts by owner, the memories in a context, changes by owner, memories by property.
export const ACTIVITY = `
CREATE INDEX receipts_by_owner ON receipts (user_id, created_at, request_id);

-- Which memories were in the context of which answer. Those of receipts that an earlier version wrote are added step by step.
CREATE TABLE receipt_nodes (
  node INTEGER NOT NULL,
  receipt INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  representation TEXT NOT NULL,
  PRIMARY KEY (node, receipt)
) STRICT, WITHOUT ROWID;
CREATE INDEX receipt_nodes_by_receipt ON receipt_nodes (receipt);
CREATE TRIGGER receipt_nodes_end AFTER DELETE ON receipts
BEGIN
  DELETE FROM receipt_nodes WHERE receipt = OLD.key;
END;

-- The changes of an owner's memories by time. An operation names its memory, not the owner. Stores are left out: the events
-- tell them; and so is what has an id of the caller's choice as its target. Triggers keep it, whoever writes.
CREATE TABLE memory_operations (
  owner INTEGER NOT NULL,
  at TEXT NOT NULL,
  operation INTEGER NOT NULL,
  PRIMARY KEY (owner, at, operation)
) STRICT, WITHOUT ROWID;
${LIST_CHANGES}
CREATE TRIGGER memory_operations_begin AFTER INSERT ON operations WHEN NEW.op_type NOT IN ${UNTOLD}
BEGIN
  INSERT INTO memory_operations SELECT n.owner, NEW.created_at, NEW.key FROM nodes n WHERE n.id = NEW.target_id;
END;
CREATE TRIGGER memory_operations_move AFTER UPDATE OF owner ON nodes WHEN NEW.owner <> OLD.owner
BEGIN
  UPDATE memory_operations SET owner = NEW.owner WHERE (owner, at, operation) IN
    (SELECT OLD.owner, o.created_at, o.key FROM operations o WHERE o.target_id = NEW.id);
END;

-- All by which memories are counted, so that their rows are not read.
CREATE INDEX nodes_by_property ON nodes (owner, lifecycle_state, node_type, scope, source_type, epistemic_type);
`;
