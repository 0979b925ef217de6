import { strengthsOf } from "../../domain/candidate-filter.ts";
import { modelRules, onScale } from "../../domain/embedding-models.ts";
import { reasonCode } from "../../domain/errors.ts";
import { statedTime } from "../../domain/node.ts";
import {
  type ExplainedAnswer,
  historicalCoverage,
  type RankingPolicy,
} from "../../domain/records/receipt.ts";
import { storedSpeaker } from "../../domain/speaker.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ReceiptLog } from "../../ports/store/records.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { ReceiptMaterial } from "../receipts/api.ts";
import { daysFrom, type QueryAnalysis } from "./analyze.ts";
import type {
  Exclusion,
  FilterMetadata,
  MemoryBundle,
  ResultCandidate,
  RetrievalMetadata,
  RetrievalResponse,
  RetrieveInput,
} from "./api.ts";
import { aggregationCoverage, BACKENDS } from "./candidates.ts";
import { crossScopeHints, type ExpandedRanking, expandContext } from "./context/expand.ts";
import { newerFirst } from "./newer-first.ts";
import { coverageNotice, guidanceFor, visibleBindings } from "./pack/bundle.ts";
import { pack } from "./pack/pack.ts";
import { openPast, type Past, type PastRoles } from "./past.ts";
import { filterRules, type Ranked, rank, StageLog, searchAside } from "./rank.ts";
import { parseRequest, type RetrievalRequest } from "./request.ts";
import { type Selection, select } from "./select.ts";

export type RetrieveContext = {
  /** False if the pack's vectors are of another model. */
  readonly comparable: boolean;
  /** Indexes the owner's pending events, within a small budget. */
  readonly drain: (request: RetrievalRequest) => Promise<void>;
  /** @returns whether the receipt will be kept */
  readonly keep: (material: ReceiptMaterial) => Promise<boolean>;
  /** Explains an answer without keeping a receipt. */
  readonly explain: (material: ReceiptMaterial) => Promise<ExplainedAnswer>;
};

type Outcome = {
  readonly request: RetrievalRequest;
  readonly ranked: Ranked;
  readonly expanded: ExpandedRanking;
  readonly selection: Selection;
  readonly hints: readonly ResultCandidate[];
  readonly bundle: MemoryBundle;
  readonly excluded: readonly Exclusion[];
};

/** Answers a question. @throws SvcError invalid_argument before any work; storage_failed; the abort reason */
export async function retrieve(
  deps: EngineDeps<PastRoles & Pick<ReceiptLog, "forgettings">>,
  input: RetrieveInput,
  context: RetrieveContext,
): Promise<RetrievalResponse> {
  const request = parseRequest(input, deps.settings, deps.clock.now());
  const { userId, knowledgeAt } = request.filter;
  const [forgettings] = await Promise.all([
    request.keepReceipt ? deps.store.forgettings(userId) : 0,
    context.drain(request),
  ]);
  request.signal?.throwIfAborted();
  const log = new StageLog();
  if (knowledgeAt === undefined) return await answer(deps, request, context, { forgettings, log });
  const past = await log.run(
    "past",
    1,
    () => openPast(deps, { userId, at: knowledgeAt }, context.comparable),
    ({ became }) => became.size,
  );
  try {
    const seen = { ...deps, store: past.index };
    return await answer(seen, request, context, { forgettings, log, became: past.became });
  } finally {
    await past.index.close();
  }
}

type Asked = {
  readonly forgettings: number;
  readonly log: StageLog;
  readonly became?: Past["became"];
};

async function answer(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  context: RetrieveContext,
  { forgettings, log, became }: Asked,
): Promise<RetrievalResponse> {
  const ranked = await rank(deps, request, context.comparable, log);
  request.signal?.throwIfAborted();
  const expanded = await log.run(
    "expand",
    ranked.ranking.length,
    () => expandContext(deps, request, ranked.ranking, filterRules(deps, request)),
    ({ ranking }) => ranking.length,
  );
  request.signal?.throwIfAborted();
  const selection = await log.run(
    "select",
    expanded.ranking.length,
    async () =>
      withFates(
        selected(deps, request, ranked, await inOrderOfAge(deps, request, ranked, expanded)),
        became,
      ),
    ({ results }) => results.length,
  );
  const hints = await hintsOf(deps, request, ranked, selection);
  request.signal?.throwIfAborted();
  const bundle = await log.run(
    "pack",
    selection.results.length,
    () => packed(deps, request, ranked, selection.results),
    ({ includedCount }) => includedCount,
  );
  const earlier = [...ranked.excluded, ...expanded.excluded];
  const excluded =
    earlier.length === 0 ? selection.excluded : onceEach([...earlier, ...selection.excluded]);
  const outcome: Outcome = { request, ranked, expanded, selection, hints, bundle, excluded };
  const metadata = describe(deps, outcome);
  const timingMs = Math.round(log.totalMs);
  const material = { ...toMaterial(deps, outcome, metadata), forgettings, timingMs };
  const receiptPersisted = request.keepReceipt && (await context.keep(material));
  return {
    results: selection.results,
    bundle,
    valueBindings: visibleBindings(bundle),
    excluded,
    filterMetadata: describeFilter(request),
    crossScopeHints: hints,
    scoreTraces: selection.results.flatMap(({ trace }) => trace ?? []),
    ...(request.explain && { explained: await context.explain(material) }),
    metadata: { ...metadata, receiptPersisted, timingMs: log.totalMs, stages: log.traces },
  };
}

/** The first reason for each memory. */
function onceEach(excluded: readonly Exclusion[]): readonly Exclusion[] {
  const first = new Map<string, Exclusion>();
  for (const exclusion of excluded) {
    if (!first.has(exclusion.nodeId)) first.set(exclusion.nodeId, exclusion);
  }
  return [...first.values()];
}

/** Unchanged if this is off or fails. */
async function inOrderOfAge(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  ranked: Ranked,
  expanded: ExpandedRanking,
): Promise<readonly ResultCandidate[]> {
  const { ranking } = expanded;
  if (!deps.settings.newerFirst) return ranking;
  try {
    const question = { userId: request.filter.userId, query: request.query };
    return await newerFirst(deps, question, ranking, rankingPolicy(ranked, expanded));
  } catch (error) {
    // The message could contain memory text: only the code is reported.
    deps.warn(`retrieve: newer memories were not checked for (${reasonCode(error)})`);
    return ranking;
  }
}

/** The results with their strength. @param ranking all candidates */
function judged(
  { embedder }: Pick<EngineDeps, "embedder">,
  query: string,
  results: readonly ResultCandidate[],
  ranking: readonly ResultCandidate[],
): readonly ResultCandidate[] {
  const { likeQuestions } = modelRules(embedder.identity.model);
  const cosineOf = ({ semanticScore }: ResultCandidate) =>
    semanticScore === undefined ? undefined : onScale(likeQuestions, semanticScore);
  let next: number | undefined;
  for (const other of ranking) {
    const cosine = other.key === results[0]?.key ? undefined : cosineOf(other);
    if (cosine !== undefined) next = Math.max(next ?? 0, cosine);
  }
  const strengths = strengthsOf(
    query,
    results.map((result) => {
      const { content, metadata, nodeType } = result.node;
      const speaker = storedSpeaker(metadata);
      const text = speaker === undefined ? content : `${speaker} ${content}`;
      return { text, nodeType, cosine: cosineOf(result) };
    }),
    next,
  );
  return withSuccessors(
    results.map((result, index) => ({ ...result, strength: strengths[index] })),
  );
}

/** If a question asks only for a time, results from that time are strong; undefined for other questions, or without such results. */
function judgedByTime(
  { askedTime }: QueryAnalysis,
  results: readonly ResultCandidate[],
): readonly ResultCandidate[] | undefined {
  if (askedTime === undefined) return undefined;
  const judged = results.map((result) => {
    const isOfTime = daysFrom(askedTime, statedTime(result.node)) === 0;
    return { ...result, strength: isOfTime ? ("strong" as const) : ("weak" as const) };
  });
  return judged.some(({ strength }) => strength === "strong") ? judged : undefined;
}

/** A newer result ranked ahead of a strong one is strong too. */
function withSuccessors(results: readonly ResultCandidate[]): readonly ResultCandidate[] {
  if (!results.some(({ behind }) => behind !== undefined)) return results;
  const behind = new Map(results.map((result) => [result.node.id, result.behind]));
  const strong = new Set<Uuid>();
  for (const { node, strength } of results) {
    if (strength !== "strong") continue;
    for (let id = behind.get(node.id); id !== undefined && !strong.has(id); ) {
      strong.add(id);
      id = behind.get(id);
    }
  }
  if (strong.size === 0) return results;
  return results.map((result) =>
    strong.has(result.node.id) ? { ...result, strength: "strong" } : result,
  );
}

function withFates(selection: Selection, became: Past["became"] | undefined): Selection {
  if (became === undefined) return selection;
  const results = selection.results.map((result) => {
    const fate = became.get(result.node.id);
    return fate === undefined ? result : { ...result, became: fate };
  });
  return { ...selection, results };
}

function rankingPolicy(ranked: Ranked, { changedOrder }: ExpandedRanking): RankingPolicy {
  if (changedOrder) return "score_id";
  return ranked.rerankedPrefix ? "reranked_prefix" : "score_path_id";
}

function selected(
  deps: Pick<EngineDeps, "embedder">,
  request: RetrievalRequest,
  { sets, analysis }: Ranked,
  ranking: readonly ResultCandidate[],
): Selection {
  const selection = select(ranking, {
    ...request,
    fusion: request.weights.fusion.kind,
    vectorFailed: sets.failures.VECTOR !== undefined,
  });
  return {
    ...selection,
    results:
      judgedByTime(analysis, selection.results) ??
      judged(deps, analysis.asked.join(" ") || request.query, selection.results, ranking),
  };
}

async function packed(
  { settings, tokenizer }: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  { analysis }: Ranked,
  results: readonly ResultCandidate[],
): Promise<MemoryBundle> {
  await tokenizer.ready();
  const { contextGuidanceMode: mode, contextFormat: format } = settings.packing;
  const { knowledgeAt } = request.filter;
  const own = {
    ...tokenizer,
    count: (text: string) => tokenizer.count(text, request.filter.userId),
  };
  return pack(results, own, {
    ...request,
    settings: settings.packing,
    // Who counts wants all.
    keepsWeak: analysis.isAggregation,
    notice: coverageNotice({ ...analysis, knowledgeAt }),
    guidance: guidanceFor({ ...analysis, mode, format, referenceTime: request.referenceTime }),
  });
}

async function hintsOf(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  ranked: Ranked,
  { minScoreSkipped }: Selection,
): Promise<readonly ResultCandidate[]> {
  const rules = {
    topN: deps.settings.packing.crossScopeTopN,
    filter: filterRules(deps, request),
    floorSkipped: minScoreSkipped,
  };
  return crossScopeHints(deps.warn, request, rules, (filter, k, keep) =>
    searchAside(deps, request, ranked, { filter, vectorK: k, lexicalK: k }, ({ node }) =>
      keep(node),
    ),
  );
}

type Metadata = Omit<RetrievalMetadata, "receiptPersisted" | "timingMs" | "stages">;

function describe(deps: EngineDeps<SearchIndex>, outcome: Outcome): Metadata {
  const { request, ranked, expanded, selection, bundle, excluded } = outcome;
  const { sets, analysis } = ranked;
  const generated = countGenerated(ranked);
  const { knowledgeAt } = request.filter;
  return {
    requestId: deps.ids.next(),
    referenceTime: request.referenceTime,
    intent: analysis.intent,
    candidatesGenerated: generated,
    candidatesFiltered: excluded.length,
    candidatesIncluded: bundle.includedCount,
    scoringConfigVersion: request.scoringVersion,
    backendsUsed: Object.keys(generated).filter((backend) => !(backend in sets.failures)),
    embeddingMismatch: sets.failures.VECTOR === "embedding_mismatch",
    backendFailures: sets.failures,
    minScore: request.minScore,
    minScoreSkipped: selection.minScoreSkipped,
    resultLimit: request.limit,
    maxPerSource: request.maxPerSource,
    maxPerEvidence: request.maxPerEvidence,
    rankingMultipliers: request.multipliers,
    aggregationCoverage: analysis.isAggregation
      ? aggregationCoverage({
          candidateCount: expanded.ranking.length,
          selectedCount: selection.results.length,
          excluded: selection.excluded,
          backendFailures: sets.failures,
          candidateLimitPaths: sets.atLimit,
          bundle,
        })
      : undefined,
    historicalCoverage: knowledgeAt && historicalCoverage(knowledgeAt, "state_then"),
    reranker: ranked.reranker,
    reformulation: ranked.reformulation,
  };
}

/** Candidates by search. */
function countGenerated({ sets, reformulated }: Ranked): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const backend of BACKENDS) counts[backend] = sets.hits[backend].length;
  if (sets.scanned.length > 0) counts["LEXICAL_AGG"] = sets.scanned.length;
  if (reformulated > 0) counts["REFORMULATION"] = reformulated;
  return counts;
}

function describeFilter({ filter, mode, includeCrossScope }: RetrievalRequest): FilterMetadata {
  return {
    scopeFilter: filter.scopes,
    timeFrom: filter.timeFrom,
    timeTo: filter.timeTo,
    crossScopeEnabled: includeCrossScope && filter.scopes !== undefined,
    excludeNodeTypes: filter.excludeNodeTypes,
    sourceTypes: filter.sourceTypes,
    retrievalMode: mode,
  };
}

function toMaterial(
  { settings }: EngineDeps<SearchIndex>,
  { request, ranked, expanded, selection, hints, bundle, excluded }: Outcome,
  metadata: Metadata,
): ReceiptMaterial {
  const { tokenBudget, minFidelity } = request;
  return {
    userId: request.filter.userId,
    query: request.query,
    client: request.client,
    filter: request.filter,
    retrievalMode: request.mode,
    explain: request.explain,
    includeCrossScope: request.includeCrossScope,
    queryTimeFrom: ranked.analysis.timeFrom,
    queryTimeTo: ranked.analysis.timeTo,
    scoring: request.weights,
    packing: { ...settings.packing, tokenBudget, minFidelity },
    rankingPolicy: rankingPolicy(ranked, expanded),
    results: selection.results,
    bundle,
    excluded,
    crossScopeHintCount: hints.length,
    temporalRelation: undefined,
    metadata,
  };
}
