import { COLUMNS, declared } from "../../sql/columns.ts";
import { SQLITE } from "../../sql/dialect.ts";
import { CHANGE_LOG, CORE_TABLES } from "./tables.ts";

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
   * A table that the statements create. They run exactly if it is missing, whatever the main file records: a crash may leave one file of a
   * pack before a commit and another one after it.
   */
  readonly table: string;
};

/** In each file's header, to distinguish a pack from any other SQLite file: "SVC1". */
export const APPLICATION_ID = 0x53564331;
/** Page size in bytes, fixed when a file is created. */
export const PAGE_SIZE = 8192;

/** Steps of each part; `vectors` needs the dimension of the pack's embedding. */
export function migrations(part: PackPart, dimension: number): readonly SchemaStep[] {
  switch (part) {
    case "core":
      return [
        { version: 1, name: FIRST_STEP, sql: CORE_TABLES, table: "events" },
        { version: 2, name: "changes", sql: CHANGE_LOG, table: "changes" },
      ];
    case "vectors":
      return [
        { version: 1, name: "vectors", sql: vectorTables(dimension), table: "vectors_sequence" },
        { version: 2, name: "codes", sql: VECTOR_CODES, table: "vector_codes" },
      ];
    case "lexical":
      return [{ version: 1, name: "words", sql: LEXICAL_INDEX, table: "lexical_sequence" }];
  }
}

/** Name of the first step of the main file. The packs of development builds have another one. */
export const FIRST_STEP = "pack";

/** The statement that creates the table of vectors. @param name with SQLite's name of the file if that is ambiguous. */
export function createVectors(name: string, dimension: number): string {
  // chunk_size 16: the default of 1024 reserves 1.5 MB for each owner, and one vector is read through the pages of its chunk before it.
  return `
CREATE VIRTUAL TABLE ${name} USING vec0 (
  node_key INTEGER PRIMARY KEY,
  owner INTEGER PARTITION KEY,
  active BOOLEAN,
  embedding FLOAT[${dimension}] distance_metric=cosine,
  chunk_size=16
);`;
}

// An owner's changes get ever higher numbers, so that a process with vectors in memory reads only new ones. A turn's own vector is stored
// next to its mixed one, which refers to the neighbours used. Staged vectors wait until all nodes have one. Vectors of parts of long texts
// have one byte per component; an empty list means no parts.
function vectorTables(dimension: number): string {
  return `${createVectors("vectors", dimension)}
CREATE TABLE vector_metadata (
  node_key INTEGER PRIMARY KEY,
  embedding_model TEXT NOT NULL,
  embedding_version TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  created_at TEXT NOT NULL,
  owner INTEGER NOT NULL,
  revision INTEGER NOT NULL
) STRICT;
CREATE INDEX vector_metadata_by_owner ON vector_metadata (owner, revision);
CREATE TABLE vector_revision (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO vector_revision VALUES (1, 0);
CREATE TABLE vector_payloads (
  node_key INTEGER PRIMARY KEY,
  previous INTEGER,
  next INTEGER,
  embedding BLOB NOT NULL
) STRICT;
CREATE TABLE vector_staging (
  node_key INTEGER PRIMARY KEY,
  ${declared(SQLITE, COLUMNS.staging)},
  embedding BLOB NOT NULL
) STRICT;
CREATE TABLE vector_parts (
  node_key INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  parts BLOB NOT NULL
) STRICT;
CREATE INDEX vector_parts_by_owner ON vector_parts (owner);
CREATE TABLE vectors_sequence (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO vectors_sequence VALUES (1, 0);
`;
}

// Of large owners. Keys are those of 16 nodes to a row; a primary key without row numbers puts an owner's rows beside each other.
const VECTOR_CODES = `
CREATE TABLE vector_codes (
  owner INTEGER NOT NULL,
  block INTEGER NOT NULL,
  codes BLOB NOT NULL,
  PRIMARY KEY (owner, block)
) STRICT, WITHOUT ROWID;
`;

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
