// The statements of a core step. A released one is never edited.

// What events name, stored once for each owner. A row of `blob_uses` says which event names it; its owner is that of the event.
export const BLOBS = `
CREATE TABLE blobs (
  owner INTEGER NOT NULL REFERENCES owners (owner),
  key TEXT NOT NULL CHECK (key <> ''),
  media_type TEXT NOT NULL,
  size INTEGER NOT NULL CHECK (size = length(data)),
  data BLOB NOT NULL,
  created_at TEXT NOT NULL,
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
