import { derived, type TableUse } from "../../../domain/records/rows.ts";

const OF_THE_FILE: TableUse = { leftOut: "about the files of the pack" };

/** Every table of a pack. */
export const PACK_TABLES: Readonly<Record<string, TableUse>> = {
  owners: { kind: "owner", own: ["owner"] },
  events: { kind: "event", own: ["key", "owner"] },
  blobs: { kind: "blob", own: ["owner"] },
  blob_uses: { kind: "blob_use", own: ["event"] },
  operations: { kind: "operation", own: ["key"] },
  nodes: { kind: "node", own: ["key", "owner"] },
  erasures: { kind: "erasure", own: ["key"] },
  edges: { kind: "edge", own: ["key", "owner", "source", "target"] },
  work: {
    kind: "work",
    own: ["subject", "owner", "lease_owner", "lease_expires_at"],
  },
  receipts: { kind: "receipt", own: ["key"] },
  receipt_nodes: { kind: "receipt_node", own: ["node", "receipt"] },
  pack_settings: { kind: "setting", own: [] },
  vector_metadata: {
    kind: "vector",
    own: ["node_key", "embedding_model", "embedding_version", "created_at", "owner", "revision"],
  },
  vectors: { kind: "vector", own: ["node_key", "owner", "active"] },
  vector_payloads: { kind: "vector", own: ["node_key", "previous", "next"] },
  pack_manifest: { leftOut: "copied as the manifest" },
  vector_staging: { leftOut: "a pack with a rebuild that has begun is refused" },
  vector_revision: derived("the vectors"),
  vector_parts: derived("the nodes"),
  memory_operations: derived("the operations"),
  node_evidence: derived("the nodes"),
  lexical_documents: derived("the nodes"),
  index_sequence: OF_THE_FILE,
  vectors_sequence: OF_THE_FILE,
  lexical_sequence: OF_THE_FILE,
  schema_migrations: OF_THE_FILE,
  erased_keys: OF_THE_FILE,
};
