import { reasonCode } from "../../../domain/errors.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode, NodeKey, SearchIndex } from "../../../ports/store/search-index.ts";
import type { EngineDeps } from "../../deps.ts";
import type { Exclusion, ResultCandidate } from "../api.ts";
import type { FilterRules } from "../filter.ts";
import type { RetrievalRequest } from "../request.ts";
import { contested, flagConflicts } from "./conflicts.ts";
import { routeEpisodes } from "./episodes.ts";
import { addEvidence, evidenceGroups, evidenceRules } from "./evidence.ts";
import type { Step } from "./inherit.ts";
import { expandSessions, type Neighbour, neighbours, triggers } from "./sessions.ts";
import { visibility } from "./visible.ts";

export type ContextDeps = Pick<EngineDeps<SearchIndex>, "store" | "settings" | "warn">;

export type ExpandedRanking = {
  readonly ranking: readonly ResultCandidate[];
  /** The order is now by score and id, because a score was inherited or a candidate was added or removed. */
  readonly changedOrder: boolean;
  /** Session neighbours excluded by filters, each once; those excluded by a time are not named. */
  readonly excluded: readonly Exclusion[];
};

/**
 * Adds to a ranking what belongs to its best candidates: neighbours of their sessions, then the best of an episode, then the
 * sources of claims, each under every filter of the request; finally it flags the contested ones. A failed step is left out with
 * a warning.
 * @throws SvcError what the store throws when it looks for contradictions; the reason of `request.signal` once it is aborted
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
      // The cause may contain memory text; only its category leaves this place.
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
