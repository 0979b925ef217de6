import { derived, type TableUse } from "../../../domain/records/rows.ts";

/** Every table of a database. */
export const DATABASE_TABLES: Readonly<Record<string, TableUse>> = {
  owners: {
    kind: "owner",
    own: ["owner", "version", "next_key", "next_event", "lexical_documents", "lexical_words"],
  },
  events: { kind: "event", own: ["owner", "key"] },
  blobs: { kind: "blob", own: ["owner"] },
  blob_uses: { kind: "blob_use", own: ["owner"] },
  operations: { kind: "operation", own: ["owner", "key"] },
  // The vector is a record of its own.
  nodes: { kind: "node", own: ["owner", "key", "retention_second", "words", "embedding"] },
  erasures: { kind: "erasure", own: ["owner"] },
  edges: { kind: "edge", own: ["owner", "source", "target"] },
  work: { kind: "work", own: ["owner", "subject", "lease_owner", "lease_expires_at"] },
  receipts: { kind: "receipt", own: ["owner"] },
  receipt_nodes: { kind: "receipt_node", own: ["owner"] },
  vectors: { kind: "vector", own: ["owner", "key", "scope", "node_type", "revision"] },
  settings: { kind: "setting", own: [] },
  vector_staging: { leftOut: "a database with a rebuild that has begun is refused" },
  vector_parts: derived("the nodes"),
  node_evidence: derived("the nodes"),
  lexical_documents: derived("the nodes"),
  lexical_postings: derived("the nodes"),
  changes: derived("the nodes"),
};
