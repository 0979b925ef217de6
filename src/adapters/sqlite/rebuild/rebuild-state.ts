import type { Database } from "bun:sqlite";
import { isSameEmbedding } from "../../../domain/embedding-models.ts";
import { SvcError } from "../../../domain/errors.ts";
import { type Lease, leaseOf } from "../../../domain/jobs.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { RebuildPlan } from "../../../ports/store/search-index.ts";
import type { WorkClaim } from "../../../ports/store/work.ts";
import { isOfModel } from "../../sql/settings.ts";
import { failuresOf, finishWork, renewWork, takeWork } from "../../sql/work.ts";
import { run as runSteps } from "../connection/run.ts";

/** Seconds for which a run stays with a process that gives no sign of life: a batch of texts may take long to embed. */
const HOLD_SECONDS = 120;
const WORK = { kind: "rebuild", owner: ALL_OWNERS };

type StateRow = {
  readonly embedding_model: string;
  readonly embedding_version: string;
  readonly embedding_dim: number;
  readonly replaces: number;
  readonly text_cursor: number;
  readonly holder: string | null;
  readonly held_until: string | null;
};

/** Who rebuilds, and with which model. */
export type Rebuilder = { readonly holder: string; readonly embedding: EmbeddingIdentity };

/** A run that a store has begun. */
export type RebuildRun = {
  readonly claim: WorkClaim;
  readonly holder: string;
  readonly plan: RebuildPlan;
};

/**
 * Claims the pack's rebuild, continuing what was begun for the same model. Runs inside a write transaction.
 * @throws SvcError storage_busy while another living process holds it
 */
export function beginRun(
  database: Database,
  { holder, embedding }: Rebuilder,
  all: boolean,
  now: Instant,
): RebuildRun {
  const state = readState(database);
  const lease = leaseOf(holder, now, HOLD_SECONDS);
  const claim = claimRun(database, state, lease);
  const isContinued = state !== undefined && isSameEmbedding(identityOf(state), embedding);
  if (!isContinued) database.run("DELETE FROM vector_staging");
  const isSame = runSteps(database, isOfModel(embedding));
  const replaces = all || !isSame || (isContinued && state.replaces === 1);
  database
    .query(
      `INSERT OR REPLACE INTO rebuild_state (singleton, embedding_model, embedding_version, embedding_dim, replaces,
         text_cursor, holder, held_until) VALUES (1, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      embedding.model,
      embedding.version,
      embedding.dimension,
      replaces ? 1 : 0,
      isContinued ? state.text_cursor : 0,
      holder,
      lease.until,
    );
  return { claim, holder, plan: { vectors: replaces ? "replace" : "repair", isContinued } };
}

/** @throws SvcError storage_busy */
function claimRun(database: Database, state: StateRow | undefined, lease: Lease): WorkClaim {
  // A process of an earlier version holds the state alone. What this store has begun it begins again.
  const isForeign = state?.holder != null && state.holder !== lease.holder;
  database
    .query(
      `INSERT INTO work (subject, kind, owner, status, lease_owner, lease_expires_at, updated_at)
       VALUES (0, ?1, 0, 'pending', ?2, ?3, ?4)
       ON CONFLICT DO UPDATE SET lease_owner = ?2, lease_expires_at = ?3`,
    )
    .run(
      WORK.kind,
      isForeign ? state.holder : null,
      isForeign ? state.held_until : null,
      lease.from,
    );
  const claim = runSteps(database, takeWork(WORK, false, lease));
  if (typeof claim !== "object") throw isBusyElsewhere();
  return claim;
}

/** @throws SvcError storage_busy when another process has taken the run over */
export function requireRun(
  database: Database,
  run: RebuildRun | undefined,
): { readonly run: RebuildRun; readonly textCursor: number } {
  const state = readState(database);
  const isHeld =
    run !== undefined &&
    state?.holder === run.holder &&
    runSteps(database, failuresOf(run.claim)) !== undefined;
  if (!isHeld) throw isBusyElsewhere();
  return { run, textCursor: state.text_cursor };
}

/** As `requireRun`, and tells other processes that this one is alive. Runs inside a write transaction. */
export function renewRun(
  database: Database,
  given: RebuildRun | undefined,
  now: Instant,
): { readonly textCursor: number } {
  const { run, textCursor } = requireRun(database, given);
  const lease = leaseOf(run.holder, now, HOLD_SECONDS);
  runSteps(database, renewWork(run.claim, lease));
  database.query("UPDATE rebuild_state SET held_until = ?").run(lease.until);
  return { textCursor };
}

/** Records that the new vectors are in place. Runs inside a write transaction. */
export function noteReplaced(database: Database): void {
  database.run("UPDATE rebuild_state SET replaces = 0");
}

/** Records up to which key the lexical documents are new. Runs inside a write transaction. */
export function noteTextCursor(database: Database, key: number): void {
  database.query("UPDATE rebuild_state SET text_cursor = ?").run(key);
}

/** Ends a run, if it was not taken over. Runs inside a write transaction. */
export function endRun(
  database: Database,
  run: RebuildRun | undefined,
  outcome: "finished" | "unfinished",
  now: Instant,
): void {
  if (run === undefined || readState(database)?.holder !== run.holder) return;
  const isFinished = outcome === "finished";
  const end = isFinished ? { failure: undefined, cooldownSeconds: 0 } : "stopped";
  if (!runSteps(database, finishWork(run.claim, end, now))) return;
  if (isFinished) {
    database.run("DELETE FROM rebuild_state");
    database.run("DELETE FROM vector_staging");
  } else database.run("UPDATE rebuild_state SET holder = NULL, held_until = NULL");
}

function readState(database: Database): StateRow | undefined {
  return database.query<StateRow, []>("SELECT * FROM rebuild_state").get() ?? undefined;
}

/** The model of a rebuild that has begun and is not finished; undefined if there is none. */
export function begunModel(database: Database): EmbeddingIdentity | undefined {
  const state = readState(database);
  return state && identityOf(state);
}

function identityOf(state: StateRow): EmbeddingIdentity {
  const { embedding_model: model, embedding_version: version, embedding_dim: dimension } = state;
  return { model, version, dimension };
}

function isBusyElsewhere(): SvcError {
  return new SvcError(
    "storage_busy",
    "another process is rebuilding this pack; wait until it has finished",
  );
}
