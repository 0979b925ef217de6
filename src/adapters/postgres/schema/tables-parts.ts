import { PARTS_FROM } from "../../../domain/search/parts.ts";
import { KEY, OWNER } from "./columns.ts";

/** The vectors of parts of long texts, in a byte for each number, and where the long texts are. */
export const PARTS_TABLES: readonly string[] = [
  `CREATE TABLE vector_parts (
    owner ${OWNER},
    key ${KEY} NOT NULL,
    parts bytea NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
  `CREATE INDEX nodes_with_parts ON nodes (owner, key) WHERE octet_length(content) > ${PARTS_FROM}`,
];
