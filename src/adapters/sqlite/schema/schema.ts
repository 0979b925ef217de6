import type { Database } from "bun:sqlite";
import { PARTS_FROM } from "../../../domain/search/parts.ts";
import { adoptVectors, hasForeignVectors } from "../vectors/write-vectors.ts";
import { hasForeignDocuments, renumberDocuments } from "../write/lexical-index.ts";
import { BLOBS } from "./steps-blobs.ts";
import {
  ACTIVITY,
  EVENT_LOG,
  GRAPH,
  GRAPH_READS,
  LISTS,
  OWNER_MOVES,
  QUESTION_INDEXES,
  REBUILD_STATE,
  RECEIPTS,
  SETTINGS,
  WORK,
  WORK_QUEUE,
} from "./steps-core.ts";
import { ERASURES } from "./steps-erasure.ts";
import type { StepProgress } from "./upgrade-progress.ts";

/**
 * The tables of a pack, as ordered steps. A released step is never edited: a change is a new step. `core` steps run in the main
 * file; `vectors` and `lexical` steps run in the file with that index, which is the main file in a single-file pack.
 */
export type PackPart = "core" | "vectors" | "lexical";
export type SchemaStep = {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /**
   * A table that the statements create. If it is missing they are run, whatever the record in the main file says; if it exists
   * they are not: a crash may leave one file of a pack before a commit and another one after it.
   */
  readonly table?: string;
  /** Fills from the graph what the statements created. Runs after them, in the same transaction. */
  readonly fill?: (database: Database, progress: StepProgress) => void;
  /**
   * Whether everything is as `fill` leaves it; checked at every opening. A process of an earlier version may have written since.
   */
  readonly isFilled?: (database: Database) => boolean;
};

/** In the header of each file, to distinguish a pack from any other SQLite file: "SVC1". */
export const APPLICATION_ID = 0x53564331;
/** Version of the pack format as a whole; a pack with a higher one is refused. */
export const FORMAT_VERSION = 1;
/** Page size in bytes, fixed when a file is created. */
export const PAGE_SIZE = 8192;

// Vectors that wait until all nodes have one.
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

// The vectors of parts of long texts, in a byte for each number. An empty list: there are none.
const VECTOR_PARTS = `
CREATE TABLE vector_parts (
  node_key INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  parts BLOB NOT NULL
) STRICT;
CREATE INDEX vector_parts_by_owner ON vector_parts (owner);
`;
const LONG_TEXTS = `CREATE INDEX IF NOT EXISTS nodes_with_parts ON nodes (key) WHERE octet_length(content) > ${PARTS_FROM};`;

// An owner's changes get ever higher numbers, so that a process with vectors in memory reads only new ones. A turn's own vector
// is stored beside the one that leans towards its neighbours; it names the neighbours that have one.
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
export function migrations(part: PackPart, dimension: number): readonly SchemaStep[] {
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
        { version: 4, name: "scans, cited events", sql: GRAPH_READS, table: "node_evidence" },
        { version: 5, name: "lists by time and target", sql: LISTS },
        { version: 6, name: "settings of the pack", sql: SETTINGS, table: "pack_settings" },
        { version: 7, name: "owners that move", sql: OWNER_MOVES },
        { version: 8, name: "one queue for all work", sql: WORK_QUEUE, table: "work" },
        // The texts are indexed again afterwards, beside the calls: `renewTexts`.
        { version: 9, name: "words of every language", sql: "" },
        // The contexts of receipts are read afterwards, beside the calls: `fillContexts`.
        { version: 10, name: "what has happened", sql: ACTIVITY, table: "receipt_nodes" },
        { version: 11, name: "content that is forgotten", sql: ERASURES, table: "erasures" },
        { version: 12, name: "blobs", sql: BLOBS, table: "blobs" },
        { version: 13, name: "long texts", sql: LONG_TEXTS },
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
        // The parts of texts that are there are embedded afterwards, beside the calls: `embedParts`.
        { version: 4, name: "parts of long texts", sql: VECTOR_PARTS, table: "vector_parts" },
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

/** The statement that creates the table of vectors. @param name with SQLite's name of the file if that is ambiguous. */
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
