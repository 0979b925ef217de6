import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { isSameEmbedding } from "../../../domain/same-embedding.ts";
import { fromEpochMicros, type Instant, toEpochMillis } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/embedder.ts";
import type { RebuildPlan } from "../../../ports/store/rebuild.ts";
import { isGone } from "../connection/process-identity.ts";
import { readManifest } from "../schema/manifest.ts";

/** How long a run stays with a silent process, unless that process is known to be gone. */
const HOLD_MS = 120_000;

type StateRow = {
  readonly embedding_model: string;
  readonly embedding_version: string;
  readonly embedding_dim: number;
  readonly replaces: number;
  readonly text_cursor: number;
  readonly holder: string | null;
  readonly held_until: string | null;
};

/** Which store rebuilds, and with which model. `name` begins with the process identity and is unique for each store. */
export type Holder = { readonly name: string; readonly embedding: EmbeddingIdentity };

/**
 * Takes over the pack's rebuild, continuing what was started for the same model. Runs inside a write transaction.
 * @throws SvcError storage_busy while another living process holds it
 */
export function beginRun(
  database: Database,
  holder: Holder,
  all: boolean,
  now: Instant,
): RebuildPlan {
  const state = readState(database);
  if (state !== undefined && isHeld(state, holder.name, now)) throw isBusyElsewhere();
  const isContinued = state !== undefined && isSameEmbedding(identityOf(state), holder.embedding);
  if (!isContinued) database.run("DELETE FROM vector_staging");
  const isOfModel = isSameEmbedding(readManifest(database)?.embedding, holder.embedding);
  const replaces = all || !isOfModel || (isContinued && state.replaces === 1);
  database
    .query(
      `INSERT OR REPLACE INTO rebuild_state (singleton, embedding_model, embedding_version, embedding_dim, replaces,
         text_cursor, holder, held_until) VALUES (1, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      holder.embedding.model,
      holder.embedding.version,
      holder.embedding.dimension,
      replaces ? 1 : 0,
      isContinued ? state.text_cursor : 0,
      holder.name,
      heldUntil(now),
    );
  return { vectors: replaces ? "replace" : "repair", isContinued };
}

/** @throws SvcError storage_busy if another process has taken over the run */
export function requireRun(database: Database, holder: Holder): { readonly textCursor: number } {
  const state = readState(database);
  if (state?.holder !== holder.name) throw isBusyElsewhere();
  return { textCursor: state.text_cursor };
}

/** Like `requireRun`; also tells other processes that this one is alive. Runs inside a write transaction. */
export function renewRun(database: Database, holder: Holder, now: Instant): { textCursor: number } {
  const state = requireRun(database, holder);
  database.query("UPDATE rebuild_state SET held_until = ?").run(heldUntil(now));
  return state;
}

/** Records that the new vectors are in place. Runs inside a write transaction. */
export function noteReplaced(database: Database): void {
  database.run("UPDATE rebuild_state SET replaces = 0");
}

/** Records up to which key the lexical documents are new. Runs inside a write transaction. */
export function noteTextCursor(database: Database, key: number): void {
  database.query("UPDATE rebuild_state SET text_cursor = ?").run(key);
}

/** Ends the run if this holder still holds it. Runs inside a write transaction. */
export function endRun(
  database: Database,
  holder: Holder,
  outcome: "finished" | "unfinished",
): void {
  if (readState(database)?.holder !== holder.name) return;
  if (outcome === "unfinished") {
    database.run("UPDATE rebuild_state SET holder = NULL, held_until = NULL");
    return;
  }
  database.run("DELETE FROM rebuild_state");
  database.run("DELETE FROM vector_staging");
}

function readState(database: Database): StateRow | undefined {
  return database.query<StateRow, []>("SELECT * FROM rebuild_state").get() ?? undefined;
}

function identityOf(state: StateRow): EmbeddingIdentity {
  const { embedding_model: model, embedding_version: version, embedding_dim: dimension } = state;
  return { model, version, dimension };
}

function isHeld(state: StateRow, self: string, now: Instant): boolean {
  const { holder, held_until: end } = state;
  if (holder === null || end === null || holder === self) return false;
  return end > now && !isGone(holder);
}

function heldUntil(now: Instant): Instant {
  return fromEpochMicros(Math.round((toEpochMillis(now) + HOLD_MS) * 1000));
}

function isBusyElsewhere(): SvcError {
  return new SvcError(
    "storage_busy",
    "another process is rebuilding this pack; wait until it has finished",
  );
}
