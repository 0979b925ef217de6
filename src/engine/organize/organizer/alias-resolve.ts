import { modelRules, onScale } from "../../../domain/embedding-models.ts";
import { canReplace } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { counterparts, nameKey } from "../../../domain/organize/abbreviations.ts";
import {
  type AliasType,
  compatibility,
  isCompatible,
  MERGES_FROM,
  NAME_SCORES,
  namesMatch,
} from "../../../domain/organize/merge-policy.ts";
import type { Organizing } from "../../../ports/store/organizing.ts";
import type { KeyedNode, SearchIndex } from "../../../ports/store/search-index.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { EngineDeps } from "../../deps.ts";
import type { JobCounts, JobRun, OrganizerJob } from "./job.ts";
import { merge } from "./merge.ts";
import { eachOwner } from "./owners-of.ts";
import { proposeAlias } from "./propose-alias.ts";
import { nameIn, type SameNames, sameNames } from "./same-names.ts";
import { seenIn } from "./walk-place.ts";

const JOB = "alias_resolve";
const PAGE = 200;
const NEIGHBOURS = 10;

type Deps = Pick<
  EngineDeps<SearchIndex & Organizing & Pick<Store, "owners">>,
  "store" | "embedder" | "settings"
>;

/** Finds entities that may be one under two names: merges those whose names surely match, and proposes the others. */
export function aliasResolve(deps: Deps): OrganizerJob {
  return {
    name: JOB,
    work: async (run): Promise<JobCounts> => {
      const counts = { found: 0, merged: 0, proposed: 0 };
      for await (const userId of eachOwner(deps.store, run)) {
        await new Walk(deps, run, userId, counts).go();
      }
      return {
        nodesProcessed: counts.found,
        nodesModified: counts.merged + counts.proposed,
        errors: 0,
        details: { aliases_found: counts.found, aliases_resolved: counts.merged },
      };
    },
  };
}

type Counts = { found: number; merged: number; proposed: number };
type Found = { readonly aliasType: AliasType; readonly score: number };

class Walk {
  readonly #deps: Deps;
  readonly #run: JobRun;
  readonly #userId: string;
  readonly #counts: Counts;
  /** Pairs that were looked at, whichever of the two was first. */
  readonly #seen = new Set<string>();
  #names: SameNames = new Map();

  constructor(deps: Deps, run: JobRun, userId: string, counts: Counts) {
    this.#deps = deps;
    this.#run = run;
    this.#userId = userId;
    this.#counts = counts;
  }

  /** Compares entities that are new since the last time with all others. */
  async go(): Promise<void> {
    const { store } = this.#deps;
    const begin = seenIn(await store.walkPlace(JOB, this.#userId));
    const newest = await store.newestKey(this.#userId);
    let seen = begin;
    for (let isMore = seen < newest; isMore; ) {
      const read = {
        userId: this.#userId,
        nodeType: "entity",
        newerThan: seen,
        limit: PAGE,
      } as const;
      const page = await store.newNodes(read);
      if (page.length > 0 && this.#names.size === 0) {
        this.#names = await sameNames(store, this.#userId);
      }
      const done = await this.#comparePage(page);
      const isWhole = done === page.length;
      seen = isWhole && page.length < PAGE ? newest : (page[done - 1]?.key ?? seen);
      isMore = (await this.#run.pause()) && isWhole && page.length === PAGE;
    }
    if (seen > begin && !this.#run.isDryRun) await store.saveWalkPlace(JOB, this.#userId, { seen });
  }

  /** @returns how many of them, from the first, were compared */
  async #comparePage(page: readonly KeyedNode[]): Promise<number> {
    const { store } = this.#deps;
    const keys = page.map(({ key }) => key);
    const vectors = await store.ownVectors(this.#userId, keys);
    for (const [index, { key, node }] of page.entries()) {
      if (this.#run.isOver()) return index;
      if (compatibility(node) === undefined) continue;
      if (await this.#byName(node)) continue;
      const vector = vectors.get(key);
      if (vector !== undefined) await this.#byMeaning(node, vector);
    }
    return page.length;
  }

  /** @returns whether the entity itself was merged into another one */
  async #byName(node: MemoryNode): Promise<boolean> {
    const own = nameKey(node.content);
    const keys = [own, ...counterparts(own)].flatMap(
      (name) => this.#names.get(nameIn(node.scope, name))?.map(({ key }) => key) ?? [],
    );
    if (keys.length < 2) return false;
    let current = node;
    for (let at = 0; at < keys.length; at += PAGE) {
      const others = await this.#deps.store.nodesByKey(this.#userId, keys.slice(at, at + PAGE));
      for (const { node: other } of others) {
        const match = namesMatch(current.content, other.content);
        if (match === undefined || match === "equal" || !this.#isNew(current, other)) continue;
        const found = { aliasType: match, score: NAME_SCORES[match] };
        const kept = await this.#resolve(current, other, found);
        if (kept !== undefined && kept.id !== current.id) return true;
        current = kept ?? current;
      }
    }
    return false;
  }

  async #byMeaning(node: MemoryNode, vector: Float32Array): Promise<void> {
    const { store, embedder, settings } = this.#deps;
    const { likeMemories } = modelRules(embedder.identity.model);
    const question = { userId: this.#userId, scope: node.scope, count: NEIGHBOURS + 1 };
    const nearest = await store.nearNodes(vector, question, (found) =>
      found.filter((near) => near.node.id !== node.id && isCompatible(node, near.node)),
    );
    let current = node;
    for (const near of nearest) {
      const score = Math.min(1, onScale(likeMemories, near.cosine));
      if (score < settings.organizer.aliasSimilarityThreshold) continue;
      if (!this.#isNew(current, near.node)) continue;
      const kept = await this.#resolve(current, near.node, { aliasType: "semantic", score });
      if (kept !== undefined && kept.id !== current.id) return;
      current = kept ?? current;
    }
  }

  /** Whether two compatible entities were not compared yet. */
  #isNew(one: MemoryNode, other: MemoryNode): boolean {
    const pair = [one.id, other.id].sort().join(" ");
    const isOpen = canReplace(one.lifecycleState) && canReplace(other.lifecycleState);
    if (!isOpen || !isCompatible(one, other) || this.#seen.has(pair)) return false;
    this.#seen.add(pair);
    return true;
  }

  /** @returns the one that stays of two that were merged */
  async #resolve(
    one: MemoryNode,
    other: MemoryNode,
    found: Found,
  ): Promise<MemoryNode | undefined> {
    this.#counts.found += 1;
    const isSure = namesMatch(one.content, other.content) !== undefined;
    if (isSure && found.score >= MERGES_FROM) {
      const pair = [one, other] as const;
      const done = await merge(this.#run, { kind: "alias", pair, score: found.score });
      if (done !== undefined) this.#counts.merged += 1;
      return done?.kept;
    }
    if (await proposeAlias(this.#run, [one, other], found)) this.#counts.proposed += 1;
    return undefined;
  }
}
