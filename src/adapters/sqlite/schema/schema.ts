import type { Database } from "bun:sqlite";
import { adoptVectors, hasForeignVectors } from "../vectors/write-vectors.ts";
import { hasForeignDocuments, renumberDocuments } from "../write/lexical-index.ts";

/**
 * The tables of a pack, as ordered steps. A step that has been released is never edited: a change is a new step.
 * `core` steps run in the main file; `vectors` and `lexical` steps run in the file that holds that index, which is the
 * main file in a single-file pack.
 */
export type Part = "core" | "vectors" | "lexical";
export type Migration = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /**
   * A table that the statements make. Where it is missing they are run, whatever the record in the main file says, and
   * where it is there they are not: a crash may leave one file of a pack before and another after a commit.
   */
  readonly table?: string;
  /** Fills from the graph what the statements made. Runs after them, in the same transaction. */
  readonly fill?: (database: Database) => void;
  /** Whether everything is as `fill` leaves it; asked at every opening. A process of an earlier version may have written since. */
  readonly isFilled?: (database: Database) => boolean;
};

/** Written to the header of each file, so that a pack can be told from any other SQLite file: "SVC1". */
export const APPLICATION_ID = 0x53564331;
/** Version of the pack format as a whole; a pack with a higher one is refused. */
export const FORMAT_VERSION = 1;
/** Bytes of a page, fixed when a file is created. */
export const PAGE_SIZE = 8192;

const EVENT_LOG = `
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

const GRAPH = `
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

const WORK = `
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

// The run of a rebuild, while there is one: for which model, how far it came, and which process is at it until when.
const REBUILD_STATE = `
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

// Vectors that wait until those of all nodes are there.
const VECTOR_STAGING = `
CREATE TABLE vector_staging (
  node_key INTEGER PRIMARY KEY,
  content_hash TEXT NOT NULL,
  model TEXT NOT NULL,
  version TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  embedding BLOB NOT NULL
) STRICT;
`;

// Records of retrievals. Unlike the logs they may be deleted, since they are kept for a time only. Their ids are bytes, and
// their bodies are compressed where that makes them smaller, because there is one for each question.
const RECEIPTS = `
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

// What a question reads beside the two search indexes: each look costs what it finds, however much the owner has.
const QUESTION_INDEXES = `
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

// An owner's changes are listed by ever higher numbers, so that who holds vectors in memory reads just what is new.
// A turn's own vector is kept beside the one that leans towards its neighbours, of which it names those that have one.
const VECTOR_CHANGES = `
ALTER TABLE vector_metadata ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
ALTER TABLE vector_metadata ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
UPDATE vector_metadata SET owner = coalesce((SELECT n.owner FROM nodes n WHERE n.key = node_key), 0);
CREATE INDEX vector_metadata_by_owner ON vector_metadata (owner, revision);
CREATE TABLE vector_revision (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO vector_revision VALUES (1, 0);
CREATE TABLE vector_payloads (
  node_key INTEGER PRIMARY KEY,
  previous INTEGER,
  next INTEGER,
  embedding BLOB NOT NULL
) STRICT;
`;

/** Steps of each part; `vectors` needs the dimension of the pack's embedding. */
export function migrations(part: Part, dimension: number): readonly Migration[] {
  switch (part) {
    case "core":
      return [
        {
          version: 1,
          name: "event log, graph, work queue",
          sql: EVENT_LOG + GRAPH + WORK,
          table: "events",
        },
        { version: 2, name: "rebuild in steps", sql: REBUILD_STATE, table: "rebuild_state" },
        {
          version: 3,
          name: "receipts, reads of a question",
          sql: RECEIPTS + QUESTION_INDEXES,
          table: "receipts",
        },
      ];
    case "vectors":
      return [
        {
          version: 1,
          name: "vector index",
          sql: vectorIndex(dimension),
          table: "vectors_sequence",
        },
        {
          version: 2,
          name: "staging of new vectors",
          sql: VECTOR_STAGING,
          table: "vector_staging",
        },
        {
          version: 3,
          name: "changes by owner, leaning vectors",
          sql: VECTOR_CHANGES,
          table: "vector_payloads",
          fill: adoptVectors,
          isFilled: (database) => !hasForeignVectors(database),
        },
      ];
    case "lexical":
      return [
        { version: 1, name: "lexical index", sql: LEXICAL_INDEX, table: "lexical_sequence" },
        {
          version: 2,
          name: "documents by owner",
          sql: "",
          fill: renumberDocuments,
          isFilled: (database) => !hasForeignDocuments(database),
        },
      ];
  }
}

/** The statement that makes the table of vectors. @param name with SQLite's name of the file where that is not clear. */
export function createVectors(name: string, dimension: number): string {
  // chunk_size 64: the default of 1024 reserves 1.5 MB for each owner.
  return `
CREATE VIRTUAL TABLE ${name} USING vec0 (
  node_key INTEGER PRIMARY KEY,
  owner INTEGER PARTITION KEY,
  active BOOLEAN,
  embedding FLOAT[${dimension}] distance_metric=cosine,
  chunk_size=64
);`;
}

function vectorIndex(dimension: number): string {
  return `${createVectors("vectors", dimension)}
CREATE TABLE vector_metadata (
  node_key INTEGER PRIMARY KEY,
  embedding_model TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE vectors_sequence (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO vectors_sequence VALUES (1, 0);
`;
}

// The text is analysed before it is written; the tokenizer only stems and must not split what the analyser left whole.
const LEXICAL_INDEX = `
CREATE VIRTUAL TABLE lexical_documents USING fts5 (
  own, previous, next,
  content='', contentless_delete=1,
  tokenize="porter unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'"
);
CREATE TABLE lexical_sequence (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO lexical_sequence VALUES (1, 0);
`;
