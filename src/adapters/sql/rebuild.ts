import { isSameEmbedding } from "../../domain/embedding-models.ts";
import { SvcError } from "../../domain/errors.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import type { EmbeddingIdentity } from "../../ports/models.ts";
import type { RebuildPlan } from "../../ports/store/search-index.ts";
import type { WorkClaim } from "../../ports/store/work.ts";
import { isOfModel, readSetting, writeSetting } from "./settings.ts";
import * as sql from "./statement.ts";
import {
  failuresOf,
  finishWork,
  newLease,
  renewWork,
  takeWork,
  timeOf,
  type Worker,
} from "./work.ts";

/** Seconds for which an unresponsive process keeps a run: a batch of texts may take long to embed. */
const HOLD_SECONDS = 120;
const WORK = { kind: "rebuild", owner: ALL_OWNERS };
/** The setting with the progress of a rebuild, while there is one. */
const STATE = "rebuild";

/** The memory (and on a server the owner) up to which the word index is rebuilt. */
export type TextCursor = { readonly owner?: sql.OwnerKey | undefined; readonly key: number };

type State = {
  readonly embedding: EmbeddingIdentity;
  /** Whether all vectors are replaced. */
  readonly replaces: boolean;
  readonly texts: TextCursor;
  readonly holder: string | undefined;
};

/** Which process rebuilds, and with which model. */
export type Rebuilder = { readonly worker: Worker; readonly embedding: EmbeddingIdentity };

/** A run that a store has begun. */
export type RebuildRun = {
  readonly claim: WorkClaim;
  readonly holder: string;
  readonly plan: RebuildPlan;
};

// A store restarts its own run.
const LET_GO = sql.statement(`UPDATE work SET lease_owner = NULL, lease_expires_at = NULL
  WHERE owner = 0 AND kind = '${WORK.kind}' AND subject = 0 AND lease_owner = $1`);
const UNSTAGE = sql.statement("DELETE FROM vector_staging");

/**
 * Claims the rebuild, continuing an earlier one for the same model. Runs inside a write transaction.
 * @throws SvcError storage_busy while another living process holds it
 */
export function* beginRun({ worker, embedding }: Rebuilder, all: boolean): sql.Steps<RebuildRun> {
  const { holder } = worker;
  yield* sql.run(LET_GO, holder);
  const claim = yield* takeWork(WORK, false, yield* newLease(worker, HOLD_SECONDS));
  if (typeof claim !== "object") throw isBusyElsewhere();
  const state = yield* readState();
  const isContinued = state !== undefined && isSameEmbedding(state.embedding, embedding);
  if (!isContinued) yield* sql.run(UNSTAGE);
  const replaces = all || !(yield* isOfModel(embedding)) || (isContinued && state.replaces);
  const texts = isContinued ? state.texts : { key: 0 };
  yield* writeState({ embedding, replaces, texts, holder });
  return { claim, holder, plan: { vectors: replaces ? "replace" : "repair", isContinued } };
}

function* readState(): sql.Steps<State | undefined> {
  const text = yield* readSetting(STATE);
  // SAFETY: only `writeState` writes this text.
  return text === undefined ? undefined : (JSON.parse(text) as State);
}

function* writeState(state: State | undefined): sql.Steps<void> {
  yield* writeSetting(STATE, state && JSON.stringify(state));
}

/** @throws SvcError storage_busy if another process has taken the run over */
export function* requireRun(
  given: RebuildRun | undefined,
): sql.Steps<{ readonly run: RebuildRun; readonly texts: TextCursor }> {
  const state = yield* readState();
  const isHeld =
    given !== undefined &&
    state?.holder === given.holder &&
    (yield* failuresOf(given.claim)) !== undefined;
  if (!isHeld) throw isBusyElsewhere();
  return { run: given, texts: state.texts };
}

/** Like `requireRun`, and signals that this process is alive. Runs inside a write transaction. */
export function* renewRun(given: RebuildRun | undefined, worker: Worker): sql.Steps<TextCursor> {
  const { run: held, texts } = yield* requireRun(given);
  yield* renewWork(held.claim, yield* newLease(worker, HOLD_SECONDS));
  return texts;
}

/** Records that the new vectors are in place, or how far the word index is rebuilt. Runs inside the transaction that writes them. */
export function* noteProgress(done: Partial<Pick<State, "replaces" | "texts">>): sql.Steps<void> {
  const state = yield* readState();
  if (state !== undefined) yield* writeState({ ...state, ...done });
}

/** Ends a run, if it was not taken over. Runs inside a write transaction. */
export function* endRun(
  given: RebuildRun | undefined,
  outcome: "finished" | "unfinished",
  { clock }: Worker,
): sql.Steps<void> {
  const state = yield* readState();
  if (given === undefined || state?.holder !== given.holder) return;
  const isFinished = outcome === "finished";
  const end = isFinished ? { failure: undefined, cooldownSeconds: 0 } : "stopped";
  if (!(yield* finishWork(given.claim, end, yield* timeOf(clock)))) return;
  if (isFinished) yield* sql.run(UNSTAGE);
  yield* writeState(isFinished ? undefined : { ...state, holder: undefined });
}

function isBusyElsewhere(): SvcError {
  return new SvcError(
    "storage_busy",
    "another process is rebuilding these indexes; wait until it has finished",
  );
}

/** The model of an unfinished rebuild; undefined if there is none. */
export function* begunModel(): sql.Steps<EmbeddingIdentity | undefined> {
  return (yield* readState())?.embedding;
}
