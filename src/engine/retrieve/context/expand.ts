import { type CandidateFilter, passesFilter } from "../../../domain/candidate-filter.ts";
import { SCOPES } from "../../../domain/enums.ts";
import { reasonCode } from "../../../domain/errors.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, NodeKey, SearchIndex } from "../../../ports/store/search-index.ts";
import type { EngineDeps } from "../../deps.ts";
import type { Exclusion, ResultCandidate } from "../api.ts";
import { exclusionReason, type FilterRules } from "../candidates.ts";
import type { RetrievalRequest } from "../request.ts";
import { contested, flagConflicts, reachesFloor } from "../select.ts";
import {
  addEvidence,
  evidenceGroups,
  evidenceRules,
  expandSessions,
  type Neighbour,
  neighbours,
  routeEpisodes,
  type Step,
  triggers,
} from "./steps.ts";

export type ContextDeps = Pick<EngineDeps<SearchIndex>, "store" | "settings" | "warn">;

export type ExpandedRanking = {
  readonly ranking: readonly ResultCandidate[];
  /** Whether the order is now by score and id. */
  readonly changedOrder: boolean;
  /** Session neighbours excluded by filters other than times. */
  readonly excluded: readonly Exclusion[];
};

/**
 * Adds session neighbours, episodes and sources of claims, each filtered, and flags contested claims. A failed step is skipped with a
 * warning.
 */
export async function expandContext(
  deps: ContextDeps,
  request: RetrievalRequest,
  ranking: readonly ResultCandidate[],
  rules: FilterRules,
): Promise<ExpandedRanking> {
  const excluded = new Map<Uuid, Exclusion>();
  let current = ranking;
  let changedOrder = false;
  const run = async (name: string, work: () => Step | Promise<Step>): Promise<void> => {
    request.signal?.throwIfAborted();
    try {
      const { ranking: next, changed } = await work();
      current = next;
      changedOrder ||= changed;
    } catch (error) {
      // The message could contain memory text: only the code is reported.
      deps.warn(`retrieve: ${name} was skipped (${reasonCode(error)})`);
    }
  };
  const { packing } = deps.settings;
  const context: StepContext = { deps, request, rules };
  if (packing.sessionContextWindow > 0 && packing.sessionContextTopK > 0) {
    await run("session expansion", () => addSessions(context, current, excluded));
  }
  if (packing.episodeContextTopK > 0) {
    await run("episode routing", () => routeEpisodes(current, request.query, packing));
  }
  if (evidenceRules(packing) !== undefined) {
    await run("the evidence stage", () => addSources(context, current));
  }
  request.signal?.throwIfAborted();
  return {
    ranking: await withConflicts(deps, request.filter.userId, current),
    changedOrder,
    excluded: [...excluded.values()],
  };
}

type StepContext = {
  readonly deps: ContextDeps;
  readonly request: RetrievalRequest;
  readonly rules: FilterRules;
};

async function addSessions(
  { deps, request, rules }: StepContext,
  ranking: readonly ResultCandidate[],
  excluded: Map<Uuid, Exclusion>,
): Promise<Step> {
  const { packing } = deps.settings;
  const keys = triggers(ranking, packing.sessionContextTopK).map(({ key }) => key);
  if (keys.length === 0) return { ranking, changed: false };
  const windows = await deps.store.sessionWindows(
    request.filter.userId,
    keys,
    packing.sessionContextWindow,
  );
  const shown = new Map<NodeKey, readonly Neighbour[]>();
  for (const [key, window] of windows) {
    const visible = neighbours(window).filter(({ node }) => {
      const seen = visibility(node, request.filter, rules);
      if (!seen.visible && seen.reason !== undefined) {
        excluded.set(node.id, {
          nodeId: node.id,
          reason: seen.reason,
          compositeScore: undefined,
        });
      }
      return seen.visible;
    });
    shown.set(key, visible);
  }
  return expandSessions(ranking, shown, packing);
}

async function addSources(
  { deps, request, rules }: StepContext,
  ranking: readonly ResultCandidate[],
): Promise<Step> {
  const evidence = evidenceRules(deps.settings.packing);
  if (evidence === undefined) return { ranking, changed: false };
  const groups = evidenceGroups(ranking, evidence);
  const ids = [...new Set(groups.flatMap((group) => group.evidence))];
  if (ids.length === 0) return { ranking, changed: false };
  const found = await deps.store.nodesById(request.filter.userId, ids);
  const sources = new Map<Uuid, KeyedNode>(
    found
      .filter(({ node }) => visibility(node, request.filter, rules).visible)
      .map((source) => [source.node.id, source]),
  );
  return addEvidence(ranking, groups, sources, evidence);
}

async function withConflicts(
  { store }: ContextDeps,
  userId: string,
  ranking: readonly ResultCandidate[],
): Promise<readonly ResultCandidate[]> {
  const keys = contested(ranking).map(({ key }) => key);
  return keys.length === 0
    ? ranking
    : flagConflicts(ranking, await store.contradictions(userId, keys));
}

/** Reports nothing without `reason`. */
type Visibility =
  | { readonly visible: true }
  | { readonly visible: false; readonly reason: string | undefined };

/** Checks a memory that no search found: owner, scope and times, then types, then epistemic state. */
function visibility(node: MemoryNode, filter: CandidateFilter, rules: FilterRules): Visibility {
  const untyped = { ...filter, excludeNodeTypes: undefined, sourceTypes: undefined };
  if (!passesFilter(node, untyped)) return { visible: false, reason: undefined };
  const reason = typeReason(node, filter) ?? exclusionReason(node, rules);
  return reason === undefined ? { visible: true } : { visible: false, reason };
}

function typeReason(node: MemoryNode, filter: CandidateFilter): string | undefined {
  if (filter.excludeNodeTypes?.includes(node.nodeType)) {
    return `node_type_filtered:${node.nodeType}`;
  }
  const isAllowed = filter.sourceTypes?.includes(node.sourceType) ?? true;
  return isAllowed ? undefined : `source_type_filtered:${node.sourceType}`;
}

/** Searches by vector and words with a filter, `k` candidates each, and scores those that `keep` accepts. */
export type HintSearch = (
  filter: CandidateFilter,
  k: number,
  keep: (node: MemoryNode) => boolean,
) => Promise<readonly ResultCandidate[]>;

export type HintRules = {
  /** Maximum hints; 0: none. */
  readonly topN: number;
  readonly filter: FilterRules;
  readonly floorSkipped: boolean;
};

/** Undefined: the filter covers all scopes. */
function otherScopes({ scopes }: CandidateFilter): CandidateFilter["scopes"] {
  return scopes && SCOPES.filter((scope) => !scopes.includes(scope));
}

/** The best memories of the other scopes; none if no scope was named. A failed search yields none, with a warning. */
export async function crossScopeHints(
  warn: (message: string) => void,
  request: RetrievalRequest,
  rules: HintRules,
  find: HintSearch,
): Promise<readonly ResultCandidate[]> {
  const scopes = otherScopes(request.filter) ?? [];
  if (!request.includeCrossScope || rules.topN === 0 || scopes.length === 0) return [];
  const filter = { ...request.filter, scopes };
  const keep = (node: MemoryNode): boolean =>
    passesFilter(node, filter) && exclusionReason(node, rules.filter) === undefined;
  try {
    const found = await find(filter, 2 * rules.topN, keep);
    return aboveFloor(
      found.filter(({ node }) => keep(node)).slice(0, rules.topN),
      request,
      rules.floorSkipped,
    );
  } catch (error) {
    request.signal?.throwIfAborted();
    warn(`retrieve: hints from other scopes were skipped (${reasonCode(error)})`);
    return [];
  }
}

function aboveFloor(
  hints: readonly ResultCandidate[],
  { minScore, weights }: RetrievalRequest,
  floorSkipped: boolean,
): readonly ResultCandidate[] {
  if (floorSkipped && hints.every(({ semanticRelevance }) => semanticRelevance === 0)) return hints;
  return hints.filter((hint) => reachesFloor(hint, minScore, weights.fusion.kind));
}
