import { INSTANT, KEY, OWNER, TEXT } from "./columns.ts";

/**
 * Vectors of active memories, beside the memories: what lies beside a vector is read with it. `embedding` is the one that searches
 * compare, which leans towards the neighbours in a conversation; `own` that of the text alone, where the two differ.
 */
const vectors = (dimension: number): readonly string[] => [
  `CREATE TABLE vectors (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    embedding vector(${dimension}) NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
  "ALTER TABLE vectors ALTER COLUMN embedding SET STORAGE main",
  `CREATE TABLE vector_metadata (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    embedding_model ${TEXT} NOT NULL,
    embedding_version ${TEXT} NOT NULL,
    content_hash ${TEXT} NOT NULL,
    created_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
  `CREATE TABLE vector_payloads (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    previous ${KEY},
    next ${KEY},
    embedding bytea NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
];

/** The word index: a block covers 256 keys. */
const WORDS: readonly string[] = [
  `CREATE TABLE lexical_documents (
    owner ${OWNER},
    block ${KEY} NOT NULL,
    -- Words in the document of each key, two bytes; 0: no document.
    lengths bytea NOT NULL,
    PRIMARY KEY (owner, block)
  )`,
  `CREATE TABLE lexical_postings (
    owner ${OWNER},
    term ${TEXT} NOT NULL,
    block ${KEY} NOT NULL,
    -- For each document with the word, two bytes: its key in the block, and how often it has it. The last entry of a key counts.
    postings bytea NOT NULL,
    PRIMARY KEY (owner, term, block)
  ) WITH (fillfactor = 80)`,
];

export const searchTables = (dimension: number): readonly string[] => [
  ...vectors(dimension),
  ...WORDS,
];
