import { reasonCode } from "../../domain/errors.ts";
import { expiredAt } from "../../domain/fading.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { analyze, languagesOfDates, type QueryAnalysis } from "./analyze.ts";
import type {
  Exclusion,
  ResultCandidate,
  RetrievalMetadata,
  StageName,
  StageTrace,
} from "./api.ts";
import {
  type Candidate,
  type CandidateSets,
  type FilterRules,
  filterEpistemic,
  foundKeys,
  generateCandidates,
  limitsOf,
  merge,
  type Question,
  type SearchLimits,
} from "./candidates.ts";
import {
  alternatives,
  mergeMaxSignals,
  mergeNewOnly,
  type ReformulateDeps,
  rerank,
} from "./models.ts";
import type { RetrievalRequest } from "./request.ts";
import { score } from "./score/score.ts";

export type Ranked = {
  readonly analysis: QueryAnalysis;
  readonly question: Question;
  readonly sets: CandidateSets;
  readonly ranking: readonly ResultCandidate[];
  readonly excluded: readonly Exclusion[];
  /** Candidates that only alternative questions found. */
  readonly reformulated: number;
  readonly reformulation: RetrievalMetadata["reformulation"];
  readonly reranker: RetrievalMetadata["reranker"];
  /** Whether the first candidates are in the reranker's order. */
  readonly rerankedPrefix: boolean;
};

export function filterRules(
  deps: EngineDeps<SearchIndex>,
  { mode, askedAt }: RetrievalRequest,
): FilterRules {
  const { unverifiedConfidenceThreshold: unverifiedThreshold } = deps.settings;
  return { mode, unverifiedThreshold, isExpired: expiredAt(askedAt) };
}

/** Stages 1 to 5: analyze, search, merge, filter, score, rerank. @param comparable false if the pack's vectors are of another model */
export async function rank(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  comparable: boolean,
  log: StageLog,
): Promise<Ranked> {
  const analysis = await log.run("analyze", 1, () => analyzed(deps, request, request.query), one);
  const question = toQuestion(deps, request, analysis, comparable);
  const limits = limitsOf(deps.settings.packing, analysis.isAggregation);
  const found = await log.run(
    "candidates",
    1,
    () => generateCandidates(deps, question, limits),
    (sets) => foundKeys(sets).length,
  );
  request.signal?.throwIfAborted();
  const own = await mergeSearch(deps, { question, limits, sets: found }, request, log);
  const merged = await withAlternatives(deps, request, own, comparable, log);
  const { kept, excluded } = await log.run(
    "filter",
    merged.pool.length,
    () => filterEpistemic(merged.pool, filterRules(deps, request)),
    (filtered) => filtered.kept.length,
  );
  const scored = await log.run(
    "score",
    kept.length,
    () => scorePool(deps, request, analysis, kept),
    (ranking) => ranking.length,
  );
  const reranked = await rerankBest(deps, request, scored, log);
  const { sets, reformulated, reformulation } = merged;
  return { analysis, question, sets, excluded, reformulated, reformulation, ...reranked };
}

/** A scored pool from vectors and words only, for hints. */
export async function searchAside(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  ranked: Pick<Ranked, "analysis" | "question">,
  aside: Pick<Question, "filter"> & Pick<SearchLimits, "vectorK" | "lexicalK">,
  keep: (candidate: Candidate) => boolean,
): Promise<readonly ResultCandidate[]> {
  const { filter, ...limits } = aside;
  const question: Question = { ...ranked.question, filter, entities: [], isAggregation: false };
  const reach: SearchLimits = { ...limits, graphK: 0, graphHops: 1, pins: false };
  const sets = await generateCandidates(deps, question, reach);
  const { pool } = await mergeSearch(
    deps,
    { question, limits: reach, sets },
    request,
    new StageLog(),
  );
  return scorePool(deps, request, ranked.analysis, pool.filter(keep));
}

function one(): number {
  return 1;
}

async function analyzed(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  query: string,
): Promise<QueryAnalysis> {
  const languages = languagesOfDates(query, deps.settings.temporalLanguages);
  if (languages !== undefined) await deps.dates.ready(languages);
  return analyze(query, {
    dates: deps.dates,
    intentOrder: deps.settings.queryIntentOrder,
    languages: deps.settings.temporalLanguages,
    referenceTime: request.referenceTime,
    timeFrom: request.filter.timeFrom,
    timeTo: request.filter.timeTo,
    mode: request.mode,
  });
}

function toQuestion(
  { embedder }: EngineDeps<SearchIndex>,
  { filter }: RetrievalRequest,
  { query, asked, entities, isAggregation, askedTime }: QueryAnalysis,
  comparable: boolean,
): Question {
  const texts = [query, ...asked].map((text) => {
    let vector: Promise<Float32Array> | undefined;
    return {
      text,
      vector: () => {
        vector ??= embedder.embedQuery(text, filter.userId);
        return vector;
      },
    };
  });
  return { texts, entities, isAggregation, askedTime, filter, comparable };
}

type Pool = SearchedPool & Pick<Ranked, "reformulated" | "reformulation">;

async function withAlternatives(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  own: SearchedPool,
  comparable: boolean,
  log: StageLog,
): Promise<Pool> {
  const { languageModel, settings } = deps;
  const { reformulation } = settings;
  if (reformulation === undefined || languageModel === undefined) {
    return { ...own, reformulated: 0, reformulation: undefined };
  }
  const model = { languageModel, settings: reformulation, warn: deps.warn };
  return await log.run(
    "reformulate",
    own.pool.length,
    () => reformulate(deps, request, own, comparable, model),
    ({ pool }) => pool.length,
  );
}

async function reformulate(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  own: SearchedPool,
  comparable: boolean,
  model: ReformulateDeps,
): Promise<Pool> {
  const { warn, settings } = model;
  const { queries, outcome } = await alternatives(model, request.query, request.signal);
  const others: Alternative[] = [];
  for (const query of queries) {
    request.signal?.throwIfAborted();
    others.push(await tryAlternative(deps, request, query, comparable));
  }
  const joined = join(settings.mergePolicy, own.pool, others);
  if (joined === undefined) {
    warn("retrieve: the candidates of other wordings could not be joined");
    return { ...own, reformulated: 0, reformulation: "failed" };
  }
  const reformulated = joined.length - own.pool.length;
  return { ...own, pool: joined, reformulated, reformulation: outcome };
}

type Alternative = {
  /** Undefined: the search failed. */
  readonly pool: readonly Candidate[] | undefined;
  readonly isComplete: boolean;
};

async function tryAlternative(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  query: string,
  comparable: boolean,
): Promise<Alternative> {
  try {
    return await searchAlternative(deps, request, query, comparable);
  } catch (error) {
    deps.warn(`retrieve: another wording could not be searched for (${reasonCode(error)})`);
    return { pool: undefined, isComplete: false };
  }
}

async function searchAlternative(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  query: string,
  comparable: boolean,
): Promise<Alternative> {
  const analysis = await analyzed(deps, request, query);
  const question = toQuestion(deps, request, analysis, comparable);
  const limits = limitsOf(deps.settings.packing, analysis.isAggregation);
  const search = { question, limits, sets: await generateCandidates(deps, question, limits) };
  const { sets, pool } = await mergeSearch(deps, search, request, new StageLog());
  return { pool, isComplete: Object.keys(sets.failures).length === 0 };
}

/** Undefined: the signals are incomplete, or of different states. */
function join(
  policy: "new_only" | "max_signals",
  pool: readonly Candidate[],
  others: readonly Alternative[],
): readonly Candidate[] | undefined {
  const pools = others.flatMap((other) => (other.pool === undefined ? [] : [other.pool]));
  if (others.length > 0 && pools.length === 0) return undefined;
  if (policy === "new_only") return mergeNewOnly(pool, pools);
  if (others.some(({ isComplete }) => !isComplete)) return undefined;
  const merged = mergeMaxSignals(pool, pools);
  return "candidates" in merged ? merged.candidates : undefined;
}

function scorePool(
  { settings }: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  analysis: QueryAnalysis,
  pool: readonly Candidate[],
): readonly ResultCandidate[] {
  return score(pool, {
    weights: request.weights,
    epistemicWeights: settings.epistemicWeights,
    analysis,
    referenceTime: request.referenceTime,
    multipliers: request.multipliers,
  });
}

/** Unchanged without a reranker, or if it fails. */
async function rerankBest(
  deps: EngineDeps<SearchIndex>,
  request: RetrievalRequest,
  ranking: readonly ResultCandidate[],
  log: StageLog,
): Promise<Pick<Ranked, "ranking" | "reranker" | "rerankedPrefix">> {
  const { settings, reranker, warn } = deps;
  if (settings.reranker === undefined || reranker === undefined) {
    return { ranking, reranker: undefined, rerankedPrefix: false };
  }
  const model = { reranker, settings: settings.reranker, warn };
  const { outcome, ...reranked } = await log.run(
    "rerank",
    ranking.length,
    () => rerank(model, request.query, ranking, request.signal),
    (result) => result.ranking.length,
  );
  return { ...reranked, reranker: outcome };
}

type Search = {
  readonly question: Question;
  readonly limits: SearchLimits;
  readonly sets: CandidateSets;
};

/** One candidate per memory. */
type SearchedPool = { readonly sets: CandidateSets; readonly pool: readonly Candidate[] };

/** Stage 3. If expired memories crowded a search at its limit, searches again without them; they stay as excluded candidates. */
async function mergeSearch(
  deps: EngineDeps<SearchIndex>,
  { question, limits, sets }: Search,
  { askedAt, mode }: Pick<RetrievalRequest, "askedAt" | "mode">,
  log: StageLog,
): Promise<SearchedPool> {
  const pool = await log.run(
    "merge",
    foundKeys(sets).length,
    () => mergeSets(deps, question, sets),
    (merged) => merged.length,
  );
  if (sets.atLimit.length === 0 || mode === "explicit") return { sets, pool };
  const isExpired = expiredAt(askedAt);
  const over = pool.filter(({ node }) => isExpired(node));
  if (over.length === 0) return { sets, pool };
  return await log.run(
    "search_again",
    pool.length,
    async () => {
      const filter = { ...question.filter, aliveAt: askedAt };
      const again = await generateCandidates(deps, { ...question, filter }, limits);
      const kept = await mergeSets(deps, question, again);
      const keys = new Set(kept.map(({ key }) => key));
      return { sets: again, pool: [...kept, ...over.filter(({ key }) => !keys.has(key))] };
    },
    (searched) => searched.pool.length,
  );
}

async function mergeSets(
  { store }: Pick<EngineDeps<SearchIndex>, "store">,
  { filter }: Question,
  sets: CandidateSets,
): Promise<readonly Candidate[]> {
  return merge(sets, await store.nodesByKey(filter.userId, foundKeys(sets), "beginnings"));
}

/** Runs stages and records their time, input and output. */
export class StageLog {
  readonly #start = performance.now();
  readonly #traces: StageTrace[] = [];

  get traces(): readonly StageTrace[] {
    return this.#traces;
  }

  /** Milliseconds since the start, including between stages. */
  get totalMs(): number {
    return Math.round((performance.now() - this.#start) * 100) / 100;
  }

  /** `input` and `size` count items. */
  async run<T>(
    stage: StageName,
    input: number,
    work: () => T | Promise<T>,
    size: (result: T) => number,
  ): Promise<T> {
    const start = performance.now();
    const result = await work();
    const timingMs = Math.round((performance.now() - start) * 100) / 100;
    this.#traces.push({ stage, timingMs, input, output: size(result) });
    return result;
  }
}
