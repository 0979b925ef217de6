import { KEY, OWNER, TEXT } from "./columns.ts";

/**
 * What searches by vector compare, beside the memories: what lies beside a vector is read with it. Only active memories are here.
 * The columns have no dimension, so that a rebuild may put vectors of another model into them. No index finds the nearest: each
 * write into one would take ten times as long as all else that a memory needs.
 */
const VECTORS: readonly string[] = [
  `CREATE TABLE vectors (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    -- The vector of a turn of a conversation leans towards those of its neighbours.
    embedding vector NOT NULL,
    scope ${TEXT} NOT NULL,
    node_type ${TEXT} NOT NULL,
    content_hash ${TEXT} NOT NULL,
    -- The version of the owner of which it is.
    revision bigint NOT NULL,
    PRIMARY KEY (owner, key)
  ) WITH (toast_tuple_target = 128)`,
  "ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE main",
  "ALTER TABLE vectors ALTER COLUMN content_hash SET STORAGE plain",
  "CREATE INDEX vectors_by_revision ON vectors (owner, revision)",
];

/** The word index: a block covers 256 keys. */
const WORDS: readonly string[] = [
  `CREATE TABLE lexical_documents (
    owner ${OWNER},
    block ${KEY} NOT NULL,
    -- For each key two bytes: one more than the words in its document; 0 without one.
    lengths bytea NOT NULL,
    PRIMARY KEY (owner, block)
  )`,
  `CREATE TABLE lexical_postings (
    owner ${OWNER},
    term ${TEXT} NOT NULL,
    block ${KEY} NOT NULL,
    -- For each document with the term two bytes: its key in the block, and twice how often it has it. The last entry of a key counts.
    postings bytea NOT NULL,
    PRIMARY KEY (owner, term, block)
  ) WITH (fillfactor = 80)`,
];

/** The vectors of parts of long texts, in a byte for each number. */
const PARTS: readonly string[] = [
  `CREATE TABLE vector_parts (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    parts bytea NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
];

export const SEARCH_TABLES: readonly string[] = [...VECTORS, ...PARTS, ...WORDS];
