import { isSameEmbedding } from "../../domain/embedding-models.ts";
import { SvcError } from "../../domain/errors.ts";
import type { NamespaceIdentity } from "../../domain/owner.ts";
import type { Instant } from "../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { Manifest } from "../../ports/store/store.ts";
import type { Dialect } from "./dialect.ts";
import * as sql from "./statement.ts";

// Metadata of a store: its manifest, and one value per name.

const table = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys ? "settings" : "pack_settings";

const READ = sql.statement((known) => `SELECT value FROM ${table(known)} WHERE name = $1`);
const REMOVE = sql.statement((known) => `DELETE FROM ${table(known)} WHERE name = $1`);
const insertion = (known: Dialect, otherwise: string): string =>
  `INSERT INTO ${table(known)} (name, value) VALUES ($1, $2) ON CONFLICT (name) DO ${otherwise}`;
const WRITE = sql.statement((known) => insertion(known, "UPDATE SET value = excluded.value"));
const ADD = sql.statement((known) => insertion(known, "NOTHING"));

/** A value of a store; undefined if there is none. */
export function* readSetting(name: string): sql.Steps<string | undefined> {
  return (yield* sql.get<{ value: string }>(READ, name))?.value;
}

/** Stores a value; undefined removes it. Runs inside a write transaction. @returns the number of rows written */
export function* writeSetting(name: string, value: string | undefined): sql.Steps<number> {
  return value === undefined ? yield* sql.run(REMOVE, name) : yield* sql.run(WRITE, name, value);
}

/** Stores a value unless there is one. Runs inside a write transaction. @returns whether it was stored */
export function* addSetting(name: string, value: string): sql.Steps<boolean> {
  return (yield* sql.run(ADD, name, value)) > 0;
}

const NAMESPACE_ID = "namespace_id";
const NAMESPACE_NAME = "namespace_name";

/** Completes the identity of a store. Runs inside a write transaction. */
export function* writeNamespace({ id, name }: NamespaceIdentity): sql.Steps<void> {
  yield* addSetting(NAMESPACE_ID, id);
  if (name !== undefined) yield* addSetting(NAMESPACE_NAME, name);
}

/** The identity of a store, as far as recorded. */
export function* readNamespace(): sql.Steps<{ id: string | undefined; name: string | undefined }> {
  return { id: yield* readSetting(NAMESPACE_ID), name: yield* readSetting(NAMESPACE_NAME) };
}

/** Version of the stored format as a whole. */
export const FORMAT_VERSION = 1;

export type ManifestInput = Pick<Manifest, "softwareVersion" | "embedding" | "scoringVersion">;

/** A pack has a separate table for it, and a server a setting. */
const READ_MANIFEST = sql.statement(({ isOwnerInKeys }) =>
  isOwnerInKeys
    ? "SELECT value FROM settings WHERE name = 'manifest'"
    : `SELECT json_object('formatVersion', format_version, 'softwareVersion', software_version, 'embedding',
         json_object('model', embedding_model, 'version', embedding_version, 'dimension', embedding_dim),
         'scoringVersion', scoring_version, 'createdAt', created_at, 'updatedAt', updated_at) AS value FROM pack_manifest`,
);
const WRITE_MANIFEST = sql.statement(({ isOwnerInKeys }) =>
  isOwnerInKeys
    ? `INSERT INTO settings (name, value) VALUES ('manifest', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value`
    : `INSERT OR REPLACE INTO pack_manifest (singleton, format_version, software_version, embedding_model, embedding_version,
         embedding_dim, scoring_version, created_at, updated_at)
       VALUES (1, $1 ->> 'formatVersion', $1 ->> 'softwareVersion', $1 ->> '$.embedding.model', $1 ->> '$.embedding.version',
         $1 ->> '$.embedding.dimension', $1 ->> 'scoringVersion', $1 ->> 'createdAt', $1 ->> 'updatedAt')`,
);

/** The manifest; undefined in a store that is being set up. */
export function* readManifest(): sql.Steps<Manifest | undefined> {
  const row = yield* sql.get<{ value: string }>(READ_MANIFEST);
  // SAFETY: only `saveManifest` writes it.
  return row && (JSON.parse(row.value) as Manifest);
}

/** The manifest of an initialized store. */
export function* requireManifest(): sql.Steps<Manifest> {
  const manifest = yield* readManifest();
  if (manifest === undefined) throw new SvcError("internal", "the store has no manifest");
  return manifest;
}

/**
 * Writes the manifest of a new store, or records the opening by another program version. The embedding of an existing one stays: only a
 * rebuild changes it. Runs inside a write transaction.
 */
export function* writeManifest(input: ManifestInput, now: Instant): sql.Steps<void> {
  const found = yield* readManifest();
  if (found?.softwareVersion === input.softwareVersion) return;
  const { softwareVersion, embedding, scoringVersion } = input;
  const created = { formatVersion: FORMAT_VERSION, embedding, scoringVersion, createdAt: now };
  yield* saveManifest({ ...created, ...found, softwareVersion, updatedAt: now });
}

/** Records another model for the vectors. Runs inside the transaction that writes them. */
export function* writeEmbedding(embedding: EmbeddingIdentity, now: Instant): sql.Steps<void> {
  yield* saveManifest({ ...(yield* requireManifest()), embedding, updatedAt: now });
}

function* saveManifest(manifest: Manifest): sql.Steps<void> {
  yield* sql.run(WRITE_MANIFEST, JSON.stringify(manifest));
}

/** Whether the vectors of the store are of a model: another process may have changed it. */
export function* isOfModel(configured: EmbeddingIdentity): sql.Steps<boolean> {
  return isSameEmbedding((yield* readManifest())?.embedding, configured);
}

/** @throws SvcError embedding_mismatch if another process has changed the model of the vectors */
export function* requireModel(configured: EmbeddingIdentity): sql.Steps<void> {
  const stored = (yield* readManifest())?.embedding;
  if (isSameEmbedding(stored, configured)) return;
  throw new SvcError(
    "embedding_mismatch",
    `the stored vectors come from ${stored?.model} (${stored?.version}), but ${configured.model} (${configured.version}) is configured; run: svc rebuild`,
    { stored: { ...stored }, configured: { ...configured } },
  );
}
