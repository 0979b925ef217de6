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

/** Steps of each part. */
export function migrations(part: PackPart): readonly SchemaStep[] {
  switch (part) {
    case "core":
      return [{ version: 1, name: FIRST_STEP, sql: CORE_TABLES + CHANGE_LOG, table: "events" }];
    case "vectors":
      return [{ version: 1, name: "vectors", sql: VECTOR_TABLES, table: "vectors_sequence" }];
    case "lexical":
      return [{ version: 1, name: "words", sql: LEXICAL_INDEX, table: "lexical_sequence" }];
  }
}

/** Name of the first step of the main file. The packs of development builds have another one. */
export const FIRST_STEP = "tables";

// Each vector once: of a turn of a conversation as 16-bit numbers, with the turns beside it, whose vectors are mixed into what is searched;
// of other memories as 32-bit ones. Of the hash of its text the first half. An owner's changes get ever higher revisions, so that a process with vectors in memory reads only new
// ones; without a revision, a vector is not searched and is kept for questions about earlier moments. Staged vectors wait until all nodes
// have one. Vectors of parts of long texts have one byte per component; an empty list means no parts. Codes are those of 16 keys to a row;
// a primary key without row numbers puts an owner's rows beside each other.
const VECTOR_TABLES = `
CREATE TABLE vectors (
  node_key INTEGER PRIMARY KEY,
  owner INTEGER NOT NULL,
  revision INTEGER,
  previous INTEGER,
  next INTEGER,
  content_hash BLOB NOT NULL,
  embedding BLOB NOT NULL
) STRICT;
CREATE INDEX vectors_by_owner ON vectors (owner, revision) WHERE revision IS NOT NULL;
CREATE TABLE vector_model (
  singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
  model TEXT NOT NULL,
  version TEXT NOT NULL,
  dimension INTEGER NOT NULL
) STRICT;
CREATE TABLE vector_revision (singleton INTEGER PRIMARY KEY CHECK (singleton = 1), value INTEGER NOT NULL) STRICT;
INSERT INTO vector_revision VALUES (1, 0);
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
