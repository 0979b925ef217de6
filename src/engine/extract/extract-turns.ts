import { type CandidateFilter, everythingOf } from "../../domain/candidate-filter.ts";
import { NODE_TYPES } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { openTurn } from "../../domain/extraction/check-claim.ts";
import { checkTurn, ground } from "../../domain/extraction/check-turn.ts";
import {
  memoriesToShow,
  type ShownText,
  withCorrections,
} from "../../domain/extraction/corrections.ts";
import { failureCode } from "../../domain/extraction/failure.ts";
import { isCorrectable, STATEMENTS } from "../../domain/extraction/plan/updates.ts";
import type { ReadTurn } from "../../domain/extraction/read-result.ts";
import { DropTally } from "../../domain/extraction/reasons.ts";
import {
  batchIdOf,
  type ExtractedBy,
  toBatchRecord,
  toExtractionRecord,
} from "../../domain/extraction/records.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { hasText } from "../../domain/search/turns.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/audit-record.ts";
import type { ExtractionClaim } from "../../ports/store/extraction-queue.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { type AnsweredBatch, askTurns } from "./ask-turns.ts";
import type { ExtractDeps, JobOptions } from "./deps.ts";
import { type AskedTurn, gatherTurns, turnAlone } from "./gather-turns.ts";
import { batchRequest, requestSha256 } from "./request.ts";

/** What was extracted from an event, or the reason code of why nothing was. */
export type Extracted = { readonly record: AuditRecord } | { readonly failure: string };

/**
 * Asks the model about a claimed event, together with turns that wait behind it, and saves each answer as soon as it is there.
 * @throws SvcError (`isTakenOver`), or what the store throws; the signal's reason
 */
export async function extractTurns(
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

/** The record of the request, and one for each turn that it answered, by the event. */
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
  // What belongs to no turn is counted with the first.
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

/** Memories near a turn that are looked at; of these, five that may be corrected are shown. */
const LOOKED_AT = 40;

/** The memories that a request about some turns shows. */
type ShowMemories = (turns: readonly AskedTurn[]) => Promise<readonly ShownText[]>;

/**
 * Finds the memories that requests show, so that their turns may correct them. A turn that is asked about again, in a half or alone, is
 * looked up once; labels begin again with every request.
 * @throws what embedder and store throw
 */
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

/** What may be corrected near a turn, the nearest first; ties by id. */
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
