import { type CandidateFilter, everythingOf } from "../../domain/candidate-filter.ts";
import { NODE_TYPES } from "../../domain/enums.ts";
import type { MemoryEvent } from "../../domain/event.ts";
import { memoriesToShow, type ShownText } from "../../domain/extraction/corrections.ts";
import { isCorrectable, STATEMENTS } from "../../domain/extraction/plan/updates.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { hasText } from "../../domain/search/turns.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { AskedTurn } from "./gather-turns.ts";

type Deps = Pick<EngineDeps<SearchIndex>, "store" | "embedder" | "clock">;

/** Memories near a turn that are looked at; of these, five that may be corrected are shown. */
const LOOKED_AT = 40;

/** The memories that a request about some turns shows. */
export type ShowMemories = (turns: readonly AskedTurn[]) => Promise<readonly ShownText[]>;

/**
 * Finds the memories that requests show, so that their turns may correct them. A turn that is asked about again, in a half or alone, is
 * looked up once; labels begin again with every request.
 * @throws what embedder and store throw
 */
export function showingMemories(deps: Deps): ShowMemories {
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
