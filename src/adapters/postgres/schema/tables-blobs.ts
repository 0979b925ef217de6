import { INSTANT, OWNER, TEXT } from "./columns.ts";

/** What events name, stored once for each owner, and which event names it. */
export const BLOB_TABLES: readonly string[] = [
  `CREATE TABLE blobs (
    owner ${OWNER},
    key ${TEXT} NOT NULL CHECK (key <> ''),
    media_type ${TEXT} NOT NULL,
    size integer NOT NULL CHECK (size = octet_length(data)),
    data bytea NOT NULL,
    created_at ${INSTANT} NOT NULL,
    PRIMARY KEY (owner, key)
  )`,
  "CREATE INDEX blobs_by_key ON blobs (key)",
  `CREATE TABLE blob_uses (
    owner ${OWNER},
    event_id uuid NOT NULL,
    blob ${TEXT} NOT NULL,
    PRIMARY KEY (owner, event_id, blob)
  )`,
  "CREATE INDEX blob_uses_by_blob ON blob_uses (owner, blob)",
];
