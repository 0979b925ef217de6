import { expiredAt } from "../../domain/retention.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import {
  type CandidateSets,
  generateCandidates,
  type Question,
  type SearchLimits,
} from "./candidates.ts";
import { type Candidate, foundKeys, merge } from "./merge.ts";
import type { RetrievalRequest } from "./request.ts";
import type { StageLog } from "./stages.ts";

/** A question, how far to search for it, and what was found. */
export type Search = {
  readonly question: Question;
  readonly limits: SearchLimits;
  readonly sets: CandidateSets;
};

/** The sets of the last search, and one candidate per memory. */
export type SearchedPool = {
  readonly sets: CandidateSets;
  readonly pool: readonly Candidate[];
};

/**
 * Stage 3: one candidate per memory. If expired memories took places in a search that reached its limit, searches again without
 * expired memories. Those found stay among the candidates, so that they are reported as excluded. In `explicit` mode they are not
 * excluded.
 */
export async function mergeSearch(
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
  return merge(sets, await store.nodesByKey(filter.userId, foundKeys(sets)));
}
