import { isSameEmbedding } from "../../../domain/embedding-models.ts";
import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { RebuildPlan } from "../../../ports/store/search-index.ts";
import type { WorkClaim } from "../../../ports/store/work.ts";
import { isOfModel, readSetting, writeSetting } from "../../sql/settings.ts";
import {
  failuresOf,
  finishWork,
  newLease,
  renewWork,
  takeWork,
  type Worker,
} from "../../sql/work.ts";
import { run as runSteps } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { NO_OWNER, type OwnerKey } from "../owner-key.ts";

/** Seconds for which a run stays with a process that gives no sign of life: a batch of texts may take long to embed. */
const HOLD_SECONDS = 120;
const WORK = { kind: "rebuild", owner: ALL_OWNERS };
/** The setting that says how far a rebuild has come, while there is one. */
const STATE = "rebuild";

/** Up to which memory of which owner the word index is new. */
export type TextCursor = { readonly owner: OwnerKey | undefined; readonly key: number };

type State = {
  readonly embedding: EmbeddingIdentity;
  /** Whether all vectors are replaced. */
  readonly replaces: boolean;
  readonly texts: TextCursor;
  readonly holder: string | undefined;
};

/** Who rebuilds, and with which model. */
export type Rebuilder = { readonly worker: Worker; readonly embedding: EmbeddingIdentity };

/** A run that a store has begun. */
export type RebuildRun = {
  readonly claim: WorkClaim;
  readonly holder: string;
  readonly plan: RebuildPlan;
};

/**
 * Claims the rebuild, continuing what was begun for the same model. Runs inside a transaction.
 * @throws SvcError storage_busy while another living process holds it
 */
export async function beginRun(
  sql: Sql,
  { worker, embedding }: Rebuilder,
  all: boolean,
): Promise<RebuildRun> {
  const { holder } = worker;
  // What this store has begun it begins again.
  await sql.run(
    `UPDATE work SET lease_owner = NULL, lease_expires_at = NULL
     WHERE owner = $1::bigint AND kind = $2 AND subject = 0 AND lease_owner = $3`,
    ...[NO_OWNER, WORK.kind, holder],
  );
  const claim = await runSteps(
    sql,
    takeWork(WORK, false, await runSteps(sql, newLease(worker, HOLD_SECONDS))),
  );
  if (typeof claim !== "object") throw isBusyElsewhere();
  const state = await readState(sql);
  const isContinued = state !== undefined && isSameEmbedding(state.embedding, embedding);
  if (!isContinued) await sql.run("DELETE FROM vector_staging");
  const isSame = await runSteps(sql, isOfModel(embedding));
  const replaces = all || !isSame || (isContinued && state.replaces);
  const texts = isContinued ? state.texts : FROM_THE_FIRST;
  await writeState(sql, { embedding, replaces, texts, holder });
  return { claim, holder, plan: { vectors: replaces ? "replace" : "repair", isContinued } };
}

const FROM_THE_FIRST: TextCursor = { owner: undefined, key: 0 };

async function readState(sql: Sql): Promise<State | undefined> {
  const text = await runSteps(sql, readSetting(STATE));
  // SAFETY: only `writeState` writes this text.
  return text === undefined ? undefined : (JSON.parse(text) as State);
}

async function writeState(sql: Sql, state: State | undefined): Promise<void> {
  await runSteps(sql, writeSetting(STATE, state && JSON.stringify(state)));
}

/** @throws SvcError storage_busy when another process has taken the run over */
export async function requireRun(
  sql: Sql,
  run: RebuildRun | undefined,
): Promise<{ readonly run: RebuildRun; readonly texts: TextCursor }> {
  const state = await readState(sql);
  const isHeld =
    run !== undefined &&
    state?.holder === run.holder &&
    (await runSteps(sql, failuresOf(run.claim))) !== undefined;
  if (!isHeld) throw isBusyElsewhere();
  return { run, texts: state.texts };
}

/** As `requireRun`, and tells other processes that this one is alive. Runs inside a transaction. */
export async function renewRun(
  sql: Sql,
  given: RebuildRun | undefined,
  worker: Worker,
): Promise<{ readonly texts: TextCursor }> {
  const { run, texts } = await requireRun(sql, given);
  await runSteps(sql, renewWork(run.claim, await runSteps(sql, newLease(worker, HOLD_SECONDS))));
  return { texts };
}

/** Records that the new vectors are in place. Runs inside the transaction that puts them there. */
export async function noteReplaced(sql: Sql): Promise<void> {
  const state = await readState(sql);
  if (state !== undefined) await writeState(sql, { ...state, replaces: false });
}

/** Records up to where the word index is new. Runs inside the transaction that writes it. */
export async function noteTexts(sql: Sql, texts: TextCursor): Promise<void> {
  const state = await readState(sql);
  if (state !== undefined) await writeState(sql, { ...state, texts });
}

/** Ends a run, if it was not taken over. Runs inside a transaction. */
export async function endRun(
  sql: Sql,
  run: RebuildRun | undefined,
  outcome: "finished" | "unfinished",
  now: Instant,
): Promise<void> {
  const state = await readState(sql);
  if (run === undefined || state?.holder !== run.holder) return;
  const isFinished = outcome === "finished";
  const end = isFinished ? { failure: undefined, cooldownSeconds: 0 } : "stopped";
  if (!(await runSteps(sql, finishWork(run.claim, end, now)))) return;
  if (isFinished) await sql.run("DELETE FROM vector_staging");
  await writeState(sql, isFinished ? undefined : { ...state, holder: undefined });
}

function isBusyElsewhere(): SvcError {
  return new SvcError(
    "storage_busy",
    "another process is rebuilding these indexes; wait until it has finished",
  );
}

/** The model of a rebuild that has begun and is not finished; undefined if there is none. */
export async function begunModel(sql: Sql): Promise<EmbeddingIdentity | undefined> {
  return (await readState(sql))?.embedding;
}
