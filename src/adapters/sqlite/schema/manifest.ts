import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Manifest } from "../../../ports/store/store.ts";
import { FORMAT_VERSION } from "./schema.ts";

type ManifestRow = {
  readonly format_version: number;
  readonly software_version: string;
  readonly embedding_model: string;
  readonly embedding_version: string;
  readonly embedding_dim: number;
  readonly scoring_version: string;
  readonly created_at: string;
  readonly updated_at: string;
};

/** The manifest; undefined in a pack that is being created. */
export function readManifest(database: Database): Manifest | undefined {
  const row = database.query<ManifestRow, []>("SELECT * FROM pack_manifest").get();
  if (row === null) return undefined;
  return {
    formatVersion: row.format_version,
    softwareVersion: row.software_version,
    embedding: {
      model: row.embedding_model,
      version: row.embedding_version,
      dimension: row.embedding_dim,
    },
    scoringVersion: row.scoring_version,
    createdAt: asInstant(row.created_at),
    updatedAt: asInstant(row.updated_at),
  };
}

/** Refuses a pack with the format of a newer program. @throws SvcError pack_too_new */
export function requireFormat(database: Database, path: string): void {
  const format = readManifest(database)?.formatVersion ?? 0;
  if (format > FORMAT_VERSION) throw tooNew(path, format, FORMAT_VERSION);
}

export type ManifestInput = {
  readonly softwareVersion: string;
  readonly embedding: EmbeddingIdentity;
  readonly scoringVersion: string;
};

/**
 * Writes the manifest of a new pack, or records that another version of the program has opened an old one. The embedding of an
 * existing pack does not change: only a rebuild changes it. Runs inside a write transaction.
 */
export function writeManifest(database: Database, input: ManifestInput, now: Instant): void {
  const { embedding } = input;
  database
    .query(
      `INSERT INTO pack_manifest (singleton, format_version, software_version, embedding_model, embedding_version,
         embedding_dim, scoring_version, created_at, updated_at)
       VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
       ON CONFLICT (singleton) DO UPDATE SET software_version = ?2, updated_at = ?7
         WHERE software_version <> ?2`,
    )
    .run(
      FORMAT_VERSION,
      input.softwareVersion,
      embedding.model,
      embedding.version,
      embedding.dimension,
      input.scoringVersion,
      now,
    );
}

/** Records another model for the vectors of the pack. Runs inside the transaction that writes them. */
export function writeEmbedding(
  database: Database,
  embedding: EmbeddingIdentity,
  now: Instant,
): void {
  database
    .query(
      "UPDATE pack_manifest SET embedding_model = ?, embedding_version = ?, embedding_dim = ?, updated_at = ?",
    )
    .run(embedding.model, embedding.version, embedding.dimension, now);
}

/** @throws SvcError pack_too_new */
export function tooNew(path: string, found: number, supported: number): SvcError {
  return new SvcError(
    "pack_too_new",
    `${path}: has format version ${found}, this program reads up to ${supported}. Nothing was changed; open it with a newer svc.`,
    { path, found, supported },
  );
}
