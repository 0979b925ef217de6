import { type CandidateFilter, everythingOf } from "../../domain/candidate-filter.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { NODE_TYPES } from "../../domain/enums.ts";
import { SvcError } from "../../domain/errors.ts";
import { openTurn } from "../../domain/extraction/check-claim.ts";
import { checkTurn, ground } from "../../domain/extraction/check-turn.ts";
import { languageOf } from "../../domain/extraction/cues.ts";
import { earlierTurnOf, type Turn, turnOf } from "../../domain/extraction/passages.ts";
import {
  isCorrectable,
  memoriesToShow,
  type ShownText,
  STATEMENTS,
  valuesToFind,
  withCorrections,
} from "../../domain/extraction/plan/claims.ts";
import {
  type DerivationPlan,
  fromPlanPayload,
  planDerivation,
  planProblem,
} from "../../domain/extraction/plan/derivation.ts";
import { namesToFind } from "../../domain/extraction/plan/entities.ts";
import { type BatchAnswer, emptyTurn, type ReadTurn } from "../../domain/extraction/read-answer.ts";
import { DropTally, type ExtractionResult, resultForm } from "../../domain/extraction/result.ts";
import {
  batchIdOf,
  batchOf,
  type ExtractedBy,
  endsSplit,
  failureCode,
  halvesOf,
  isWorthSplitting,
  toBatchRecord,
  toExtractionRecord,
  type Waiting,
} from "../../domain/extraction/work.ts";
import type { MemoryEvent, MemoryNode } from "../../domain/node.ts";
import { hasText } from "../../domain/search/turns.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Tokenizer } from "../../ports/models.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { ExtractionClaim } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import { batchRequest, type ExtractDeps, type JobOptions, requestSha256 } from "./extractor.ts";

/** The language of relative dates. */
const DATE_LANGUAGES = ["en"];

/** Processes a claimed event: ask, plan, publish. @returns why it is not published; undefined: it is */
export async function derive(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: JobOptions,
): Promise<string | undefined> {
  const { store, clock } = deps;
  if (claim.plan !== undefined) {
    const plan = fromPlanPayload(claim.plan.payload);
    const vectors = await vectorsOf(deps, plan, claim.event.userId, options.signal);
    return staleness(await store.publishPlan(claim, { plan, vectors, at: clock.now() }));
  }
  const extracted =
    claim.record === undefined
      ? await extractTurns(deps, claim, options)
      : { record: claim.record };
  if ("failure" in extracted) return extracted.failure;
  const result = resultOf(extracted.record);
  const plan = await planFor(deps, claim, result);
  if (typeof plan === "string") return plan;
  const vectors = await vectorsOf(deps, plan, claim.event.userId, options.signal);
  const at = clock.now();
  // Overlapping calls commit together in order: the plan is kept even if it is not applied.
  const [, stale] = await Promise.all([
    store.savePlan(claim, plan, at),
    store.publishPlan(claim, { plan, vectors, at }),
  ]);
  return staleness(stale);
}

function staleness(stale: { readonly staleId: string } | undefined): string | undefined {
  return stale === undefined ? undefined : "StaleDerivationPlanError";
}

function resultOf({ payload }: AuditRecord): ExtractionResult {
  return resultForm.read(openChecksummed(payload)["result"] ?? null, "result");
}

/** The plan against the current memories, or why there is none. */
async function planFor(
  { store, clock, dates, settings }: ExtractDeps,
  claim: ExtractionClaim,
  result: ExtractionResult,
): Promise<DerivationPlan | string> {
  const { event, revision } = claim;
  const turn = turnOf(event);
  const shownIds = result.claims.flatMap(({ replacesNodeId }) => replacesNodeId ?? []);
  const known = await store.knownMemories({
    event,
    names: namesToFind(result, turn.speaker),
    values: valuesToFind(result),
    shownIds,
  });
  await dates.ready(DATE_LANGUAGES);
  const plan = planDerivation(result, {
    event,
    turn,
    known,
    settings,
    readDates: (text, reference) => dates.read(text, reference, DATE_LANGUAGES),
    revision,
    now: clock.now(),
  });
  if (typeof plan === "string") return "OwnerReferenceChangedError";
  const problem = planProblem(plan);
  if (problem !== undefined) throw new SvcError("internal", `a plan cannot be kept: ${problem}`);
  return plan;
}

/** One per node; none for a text without words. */
async function vectorsOf(
  { store, embedder }: ExtractDeps,
  { vectorTexts }: DerivationPlan,
  userId: string,
  signal: AbortSignal,
): Promise<readonly (Float32Array | undefined)[]> {
  if (vectorTexts.length > 0 && !(await store.hasModel(embedder.identity))) {
    throw new SvcError("embedding_mismatch", "the stored vectors are of another model");
  }
  const vectors: (Float32Array | undefined)[] = [];
  for (const text of vectorTexts) {
    signal.throwIfAborted();
    vectors.push(hasText(text) ? await embedder.embedDocument(text, userId) : undefined);
  }
  return vectors;
}

type Extracted = { readonly record: AuditRecord } | { readonly failure: string };

/** Asks about a claimed event together with turns queued after it; saves each answer at once. */
async function extractTurns(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  options: JobOptions,
): Promise<Extracted> {
  return deps.settings.batchTargetTokens === 0
    ? await extractOne(deps, claim, await turnAlone(deps, claim), options)
    : await extractBatch(deps, claim, await gatherTurns(deps, claim, options), options);
}

async function extractOne(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  { turn, event }: AskedTurn,
  { signal }: JobOptions,
): Promise<Extracted> {
  const { extractor, gate, store } = deps;
  let read: ReadTurn;
  try {
    read = await gate(() => extractor.one(turn, signal), signal);
  } catch (error) {
    signal.throwIfAborted();
    return { failure: failureCode(error) };
  }
  const tally = new DropTally();
  const { isTrusted } = extractor;
  const checked = isTrusted
    ? { result: ground(read.result, openTurn(turn, deps.settings), tally), tally }
    : checkTurn(read.result, turn, deps.settings);
  checked.tally.addAll(read.tally.counts);
  const record = toExtractionRecord(
    event,
    { result: checked.result, drops: checked.tally.counts },
    byOf(deps),
  );
  await store.saveExtractions(claim, [record]);
  return { record };
}

async function extractBatch(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  turns: readonly AskedTurn[],
  { signal }: JobOptions,
): Promise<Extracted> {
  const { extractor, gate, store, warn } = deps;
  let own: AuditRecord | undefined;
  const showMemories = deps.settings.corrections ? showingMemories(deps) : undefined;
  const shown = new Map<readonly AskedTurn[], readonly ShownText[]>();
  const ask = async (some: readonly AskedTurn[]) => {
    const memories = (await showMemories?.(some)) ?? [];
    shown.set(some, memories);
    const asked = some.map(({ turn }) => turn);
    return await gate(() => extractor.several(asked, signal, memories), signal);
  };
  const save = async (batch: AnsweredBatch<AskedTurn>): Promise<void> => {
    signal.throwIfAborted();
    const records = recordsOf(deps, claim, batch, shown.get(batch.turns) ?? []);
    await store.saveExtractions(claim, [...records.values()]);
    own ??= records.get(claim.event.id);
    if (batch.silent.length > 0) {
      warn(`extraction: ${batch.silent.length} turns were asked twice without an answer`);
    }
  };
  const failed = await askTurns(turns, ask, { save });
  signal.throwIfAborted();
  if (own !== undefined) return { record: own };
  const { code = "Error" } =
    failed.find((part) => part.turns.some(({ event }) => event.id === claim.event.id)) ?? {};
  return { failure: code };
}

/** The record of the request and one per answered turn, by event. */
function recordsOf(
  deps: ExtractDeps,
  claim: ExtractionClaim,
  { turns, results, answer, turnsAskedAgain }: AnsweredBatch<AskedTurn>,
  shown: readonly ShownText[],
): ReadonlyMap<string, AuditRecord> {
  const by = byOf(deps);
  const request = {
    head: claim.event,
    events: turns.map(({ event }) => event),
    requestSha256: requestSha256(
      batchRequest(
        turns.map(({ turn }) => turn),
        shown,
      ),
    ),
    response: answer.response,
    turnsAskedAgain,
    shown,
  };
  const batchId = batchIdOf(request);
  const records = new Map<string, AuditRecord>([[batchId, toBatchRecord(request, by)]]);
  // Counts that belong to no turn are added to the first.
  let unassigned = answer.tally.counts;
  for (const [{ event, turn }, { result, tally }] of results) {
    const checked = checkTurn(result, turn, deps.settings);
    checked.tally.addAll(tally.counts);
    checked.tally.addAll(unassigned);
    unassigned = {};
    const corrected = withCorrections(checked.result, shown, checked.tally);
    const kept = { result: corrected, drops: checked.tally.counts };
    records.set(event.id, toExtractionRecord(event, kept, by, batchId));
  }
  return records;
}

function byOf({ extractor, clock }: ExtractDeps): ExtractedBy {
  const { provider, model, promptVersion } = extractor;
  return { provider, model, promptVersion, at: clock.now() };
}

type Deps = Pick<EngineDeps<SearchIndex>, "store" | "embedder" | "clock">;

/** Memories examined near a turn. */
const LOOKED_AT = 40;

type ShowMemories = (turns: readonly AskedTurn[]) => Promise<readonly ShownText[]>;

/** Finds memories that turns may correct, once per turn. */
function showingMemories(deps: Deps): ShowMemories {
  const known = new Map<Uuid, Promise<readonly MemoryNode[]>>();
  return async (turns) => {
    const nearest: (readonly MemoryNode[])[] = [];
    for (const { event } of turns) {
      const found = known.get(event.id) ?? nearTo(deps, event);
      known.set(event.id, found);
      nearest.push(await found);
    }
    return memoriesToShow(
      turns.map(({ turn }) => turn),
      nearest,
    );
  };
}

/** Nearest first, then by id. */
async function nearTo(
  { store, embedder, clock }: Deps,
  { content, userId, scope }: MemoryEvent,
): Promise<readonly MemoryNode[]> {
  if (!hasText(content)) return [];
  const filter: CandidateFilter = {
    ...everythingOf(userId),
    scopes: [scope],
    excludeNodeTypes: NODE_TYPES.filter((type) => !STATEMENTS.has(type)),
    aliveAt: clock.now(),
  };
  const hits = await store.searchVectors(
    await embedder.embedDocument(content, userId),
    filter,
    LOOKED_AT,
  );
  const scores = new Map(hits.map(({ key, score }) => [key, score]));
  const nodes = await store.nodesByKey(userId, [...scores.keys()]);
  return nodes
    .filter(({ node }) => isCorrectable(node))
    .sort((one, other) => {
      const byScore = (scores.get(other.key) ?? 0) - (scores.get(one.key) ?? 0);
      if (byScore !== 0) return byScore;
      return one.node.id < other.node.id ? -1 : 1;
    })
    .map(({ node }) => node);
}

type AskedTurn = { readonly event: MemoryEvent; readonly turn: Turn };

/** Waiting turns read at first, and at most. */
const READ_AT_FIRST = 64;
const READ_AT_MOST = 1000;
/** UTF-16 units of the longest token: a longer text need not be counted. */
const LONGEST_TOKEN = 128;

/** A turn asked alone, with its window. */
async function turnAlone(
  { store, settings }: Pick<ExtractDeps, "store" | "settings">,
  claim: ExtractionClaim,
): Promise<AskedTurn> {
  const { event } = claim;
  const { windowTurns } = settings;
  const earlier = windowTurns === 0 ? [] : await store.earlierTurns(claim, windowTurns);
  const around = languageOf([...earlier, event].map(({ content }) => content).join("\n"));
  const turn = turnOf(event, around);
  if (earlier.length === 0) return { event, turn };
  return { event, turn: { ...turn, reading: { window: earlier.map(earlierTurnOf) } } };
}

/** The turns of a request, oldest first. */
async function gatherTurns(
  deps: Pick<ExtractDeps, "store" | "tokenizer" | "settings">,
  claim: ExtractionClaim,
  options: Pick<JobOptions, "upTo" | "maxTurns">,
): Promise<readonly AskedTurn[]> {
  const events = (await eventsFor(deps, claim, options)).slice(0, options.maxTurns);
  const around = languageOf(events.map(({ content }) => content).join("\n"));
  const asked = events.map((event) => ({ event, turn: turnOf(event, around) }));
  // Stable: turns of one moment stay in the order of the queue.
  return asked.sort((one, other) => compare(one.turn.at, other.turn.at));
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

type WaitingEvent = Waiting & { readonly event: MemoryEvent };

async function eventsFor(
  { store, tokenizer, settings }: Pick<ExtractDeps, "store" | "tokenizer" | "settings">,
  claim: ExtractionClaim,
  { upTo }: Pick<JobOptions, "upTo">,
): Promise<readonly MemoryEvent[]> {
  const target = settings.batchTargetTokens;
  if (target === 0 || claim.event.sessionId === undefined) return [claim.event];
  await tokenizer.ready();
  const tokens = countUpTo(tokenizer, target);
  const toWaiting = (event: MemoryEvent, isRecorded: boolean): WaitingEvent => ({
    event,
    sessionId: event.sessionId,
    isRecorded,
    tokens: isRecorded ? 0 : tokens(event),
  });
  const head = toWaiting(claim.event, false);
  if (head.tokens > target) return [claim.event];
  for (const limit of [READ_AT_FIRST, READ_AT_MOST]) {
    const later = await store.waitingTurns(claim, { upTo, limit });
    const waiting = later.map(({ event, isRecorded }) => toWaiting(event, isRecorded));
    const batch = batchOf(head, waiting, target);
    const open = waiting.filter(({ isRecorded }) => !isRecorded).length;
    const isWhole = batch.length <= open || later.length < limit || limit === READ_AT_MOST;
    if (isWhole) return batch.map(({ event }) => event);
  }
  return [claim.event];
}

/** Counts each text once, and skips one that is surely too long. */
function countUpTo(tokenizer: Tokenizer, target: number): (event: MemoryEvent) => number {
  const counted = new Map<string, number>();
  return ({ id, content }) => {
    const known = counted.get(id);
    if (known !== undefined) return known;
    const isTooLong = content.length > target * LONGEST_TOKEN;
    const tokens = isTooLong ? target + 1 : tokenizer.count(content);
    counted.set(id, tokens);
    return tokens;
  };
}

/** @param turns at least one @throws errors that `failureCode` names */
type AskModel<T> = (turns: readonly T[]) => Promise<BatchAnswer>;

/** The results of one answer, saved as a whole. */
export type AnsweredBatch<T> = {
  /** All turns of the request, in order. */
  readonly turns: readonly T[];
  /** Without turns that are asked again. */
  readonly results: ReadonlyMap<T, ReadTurn>;
  readonly answer: BatchAnswer;
  /** Turn indices from 1, ascending. */
  readonly turnsAskedAgain: readonly number[];
  /** Turns asked twice without an answer: they count as stating nothing. */
  readonly silent: readonly T[];
};

/** Turns without a result, and why. */
type FailedTurns<T> = { readonly turns: readonly T[]; readonly code: string };

type Saving<T> = { readonly save: (batch: AnsweredBatch<T>) => Promise<void> };

/**
 * Asks about turns in one request, and in halves after failures that a smaller one may avoid. Omitted turns are asked once more.
 * @returns the turns without a result
 */
export async function askTurns<T>(
  turns: readonly T[],
  ask: AskModel<T>,
  saving: Saving<T>,
): Promise<readonly FailedTurns<T>[]> {
  const failed: FailedTurns<T>[] = [];
  await askPart({ ask, saving, failed }, turns, false);
  return failed;
}

type Asking<T> = {
  readonly ask: AskModel<T>;
  readonly saving: Saving<T>;
  readonly failed: FailedTurns<T>[];
};

/** @returns whether to go on asking */
async function askPart<T>(
  asking: Asking<T>,
  turns: readonly T[],
  isAgain: boolean,
): Promise<boolean> {
  const [answer, code] = await outcomeOf(asking.ask(turns));
  if (answer !== undefined) return await keep(asking, turns, answer, isAgain);
  if (turns.length === 1 || !isWorthSplitting(code)) {
    asking.failed.push({ turns, code });
    return turns.length === 1 && !endsSplit(code) && isWorthSplitting(code);
  }
  const [first, second] = halvesOf(turns);
  if (await askPart(asking, first, isAgain)) return await askPart(asking, second, isAgain);
  asking.failed.push({ turns: second, code: asking.failed.at(-1)?.code ?? code });
  return false;
}

async function keep<T>(
  asking: Asking<T>,
  turns: readonly T[],
  answer: BatchAnswer,
  isAgain: boolean,
): Promise<boolean> {
  const asksAgain = !isAgain && answer.leftOut.length > 0;
  const results = new Map<T, ReadTurn>();
  const left: T[] = [];
  const silent: T[] = [];
  for (const [index, turn] of turns.entries()) {
    const found = answer.turns.get(index + 1);
    if (found !== undefined) results.set(turn, found);
    else if (asksAgain) left.push(turn);
    else {
      results.set(turn, emptyTurn());
      if (isAgain) silent.push(turn);
    }
  }
  await asking.saving.save({
    turns,
    results,
    answer,
    turnsAskedAgain: asksAgain ? answer.leftOut : [],
    silent,
  });
  return left.length === 0 || (await askPart(asking, left, true));
}

async function outcomeOf(
  asked: Promise<BatchAnswer>,
): Promise<readonly [BatchAnswer, ""] | readonly [undefined, string]> {
  try {
    return [await asked, ""];
  } catch (error) {
    return [undefined, failureCode(error)];
  }
}
