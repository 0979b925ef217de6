import { isSameEmbedding } from "../../../domain/embedding-models.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Manifest } from "../../../ports/store/store.ts";
import type { Params } from "../../sql/conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { readSetting, writeSetting } from "./settings.ts";

const MANIFEST = "manifest";
/** Version of what is stored as a whole. */
export const FORMAT_VERSION = 1;

export type ManifestInput = Pick<Manifest, "softwareVersion" | "embedding" | "scoringVersion">;

/** The manifest; undefined in a database that is being set up. */
export async function readManifest(sql: Sql): Promise<Manifest | undefined> {
  const text = await readSetting(sql, MANIFEST);
  // SAFETY: only `writeManifest` and `writeEmbedding` write this text.
  return text === undefined ? undefined : (JSON.parse(text) as Manifest);
}

/** The manifest of a database that was set up. */
export async function requireManifest(sql: Sql): Promise<Manifest> {
  const manifest = await readManifest(sql);
  if (manifest === undefined) throw new SvcError("internal", "the database has no manifest");
  return manifest;
}

/**
 * Writes the manifest of a new database, or records that another version of the program has opened an old one. The embedding of
 * an existing one does not change: only a rebuild changes it. Runs inside a write transaction.
 */
export async function writeManifest(sql: Sql, input: ManifestInput, now: Instant): Promise<void> {
  const found = await readManifest(sql);
  if (found?.softwareVersion === input.softwareVersion) return;
  const { softwareVersion, embedding, scoringVersion } = input;
  const created = { formatVersion: FORMAT_VERSION, embedding, scoringVersion, createdAt: now };
  await saveManifest(sql, { ...created, ...found, softwareVersion, updatedAt: now });
}

/** Records another model for the vectors. Runs inside the transaction that writes them. */
export async function writeEmbedding(
  sql: Sql,
  embedding: EmbeddingIdentity,
  now: Instant,
): Promise<void> {
  const manifest = await requireManifest(sql);
  await saveManifest(sql, { ...manifest, embedding, updatedAt: now });
}

async function saveManifest(sql: Sql, manifest: Manifest): Promise<void> {
  await writeSetting(sql, MANIFEST, JSON.stringify(manifest));
}

/** @throws SvcError embedding_mismatch when another process has changed the model of the vectors */
export async function requireModel(sql: Sql, configured: EmbeddingIdentity): Promise<void> {
  const stored = (await readManifest(sql))?.embedding;
  if (isSameEmbedding(stored, configured)) return;
  throw new SvcError(
    "embedding_mismatch",
    `the vectors come from ${stored?.model} (${stored?.version}), but ${configured.model} (${configured.version}) is configured; run: svc rebuild`,
    { stored: { ...stored }, configured: { ...configured } },
  );
}

/** A table expression `stored` of one row, as SQL: whether the vectors of the database are of a model (`fits`). */
export function storedModel(
  params: Params,
  { model, version, dimension }: EmbeddingIdentity,
): string {
  return `stored AS MATERIALIZED (
    SELECT value::json ->> 'model' = ${params.add(model)} AND value::json ->> 'version' = ${params.add(version)}
      AND (value::json ->> 'dimension')::integer = ${params.add(dimension)} AS fits
    FROM (SELECT value::json -> 'embedding' AS value FROM settings WHERE name = '${MANIFEST}') s)`;
}
