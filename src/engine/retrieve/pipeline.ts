import { passesFilter } from "../../domain/candidate-filter.ts";
import type { SessionWindow } from "../../ports/store.ts";
import type { EngineDeps } from "../deps.ts";
import type { RetrieveInput } from "../inputs.ts";
import type { Exclusion, FilterMetadata, ResultCandidate, RetrievalResponse } from "../results.ts";
import { analyze, type QueryAnalysis } from "./analyze.ts";
import { visibleBindings } from "./bindings.ts";
import { BACKENDS, type CandidateSets, generateCandidates } from "./candidates.ts";
import { expandSessions, triggers } from "./expand.ts";
import { exclusionReason, type FilterRules, filterEpistemic } from "./filter.ts";
import { hitKeys, merge } from "./merge.ts";
import { pack } from "./pack.ts";
import { parseRequest, type RetrievalRequest } from "./request.ts";
import { score } from "./score.ts";
import { select } from "./select.ts";
import { StageLog } from "./stages.ts";

/** What the pipeline needs from its surroundings. */
export type RetrieveContext = {
  /** False when the configured model's vectors cannot be compared with the pack's. */
  readonly comparable: boolean;
  /** Builds what this owner has pending, within a small budget. */
  readonly drain: (request: RetrievalRequest) => Promise<void>;
};

/**
 * Answers a question: analyse, generate candidates, merge, filter, score, pack. Only memories of the owner take part.
 * @throws SvcError invalid_argument before any work; storage_failed
 */
export async function retrieve(
  deps: EngineDeps,
  input: RetrieveInput,
  context: RetrieveContext,
): Promise<RetrievalResponse> {
  const request = parseRequest(input, deps.settings, deps.clock.now());
  await context.drain(request);
  request.signal?.throwIfAborted();
  const log = new StageLog();
  const ranked = await rank(deps, request, context, log);
  request.signal?.throwIfAborted();
  const selection = select(ranked.ranking, {
    ...request,
    vectorFailed: ranked.sets.failures.VECTOR !== undefined,
  });
  const bundle = await log.run(
    "pack",
    selection.results.length,
    async () => {
      await deps.tokenizer.ready();
      return pack(selection.results, deps.tokenizer, {
        ...request,
        settings: deps.settings.packing,
      });
    },
    ({ includedCount }) => includedCount,
  );
  const excluded = [...ranked.excluded, ...selection.excluded];
  return {
    results: selection.results,
    bundle,
    valueBindings: visibleBindings(bundle),
    excluded,
    filterMetadata: describeFilter(request),
    metadata: {
      ...describeSearch(deps, ranked),
      requestId: deps.ids.next(),
      referenceTime: request.referenceTime,
      candidatesFiltered: excluded.length,
      candidatesIncluded: bundle.includedCount,
      timingMs: log.totalMs,
      stages: log.traces,
      minScore: request.minScore,
      minScoreSkipped: selection.minScoreSkipped,
      resultLimit: request.limit,
    },
  };
}

type Ranked = {
  readonly analysis: QueryAnalysis;
  readonly sets: CandidateSets;
  readonly ranking: readonly ResultCandidate[];
  readonly excluded: readonly Exclusion[];
};

/** Stages 1 to 5. */
async function rank(
  deps: EngineDeps,
  request: RetrievalRequest,
  context: RetrieveContext,
  log: StageLog,
): Promise<Ranked> {
  const analysis = await log.run(
    "analyze",
    1,
    () => analyze(request.query),
    () => 1,
  );
  const sets = await log.run(
    "candidates",
    1,
    () => generateCandidates(deps, request, context.comparable),
    ({ hits }) => hits.VECTOR.length + hits.LEXICAL.length,
  );
  const keys = hitKeys(sets);
  const merged = await log.run(
    "merge",
    keys.length,
    async () => merge(sets, await deps.store.nodesByKey(request.filter.userId, keys)),
    (candidates) => candidates.length,
  );
  const { kept, excluded } = await log.run(
    "filter",
    merged.length,
    () => filterEpistemic(merged, filterRules(deps, request)),
    (filtered) => filtered.kept.length,
  );
  const ranking = await log.run(
    "score",
    kept.length,
    () => expand(deps, request, score(kept, deps.settings)),
    (candidates) => candidates.length,
  );
  return { analysis, sets, ranking, excluded };
}

function filterRules(deps: EngineDeps, { mode }: RetrievalRequest): FilterRules {
  return { mode, unverifiedThreshold: deps.settings.unverifiedConfidenceThreshold };
}

function describeSearch({ settings }: EngineDeps, { analysis, sets }: Ranked) {
  return {
    intent: analysis.intent,
    candidatesGenerated: { VECTOR: sets.hits.VECTOR.length, LEXICAL: sets.hits.LEXICAL.length },
    scoringConfigVersion: settings.scoringVersion,
    backendsUsed: BACKENDS,
    embeddingMismatch: sets.failures.VECTOR === "embedding_mismatch",
    backendFailures: sets.failures,
  };
}

function describeFilter({ filter, mode }: RetrievalRequest): FilterMetadata {
  return {
    scopeFilter: filter.scopes,
    timeFrom: filter.timeFrom,
    timeTo: filter.timeTo,
    excludeNodeTypes: filter.excludeNodeTypes,
    sourceTypes: filter.sourceTypes,
    retrievalMode: mode,
  };
}

/** Pulls in the session neighbours of the best candidates, under the same filters as everything else. */
async function expand(
  deps: EngineDeps,
  request: RetrievalRequest,
  ranking: readonly ResultCandidate[],
): Promise<readonly ResultCandidate[]> {
  const { sessionContextTopK: topK, sessionContextWindow: span } = deps.settings.packing;
  if (span <= 0 || topK <= 0) return ranking;
  const keys = triggers(ranking, topK).map(({ key }) => key);
  const windows = await deps.store.sessionWindows(request.filter.userId, keys, span);
  const rules = filterRules(deps, request);
  const visible = ({ node }: SessionWindow["before"][number]) =>
    passesFilter(node, request.filter) && exclusionReason(node, rules) === undefined;
  const shown = new Map(
    [...windows].map(([key, { before, after }]) => [
      key,
      { before: before.filter(visible), after: after.filter(visible) },
    ]),
  );
  return expandSessions(ranking, shown, {
    topK,
    decay: deps.settings.packing.sessionContextScoreDecay,
  });
}
