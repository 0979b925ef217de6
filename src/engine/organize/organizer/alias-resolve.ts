import { canReplace } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { counterparts, nameKey } from "../../../domain/organize/abbreviations.ts";
import {
  compatibility,
  isCompatible,
  NAME_SCORES,
  namesMatch,
} from "../../../domain/organize/merge-policy.ts";
import type { Organizing } from "../../../ports/store/organizing.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { JobCounts, JobRun, OrganizerJob } from "./job.ts";
import { merge } from "./merge.ts";
import { eachOwner } from "./owners-of.ts";
import { nameIn, type SameNames, sameNames } from "./same-names.ts";
import { seenIn } from "./walk-place.ts";

const JOB = "alias_resolve";
const PAGE = 200;

type Names = Organizing & Pick<Store, "owners" | "nodesByKey">;

/** Merges entities that are one under two names: those whose names surely match. */
export function aliasResolve({ store }: { readonly store: Names }): OrganizerJob {
  return {
    name: JOB,
    work: async (run): Promise<JobCounts> => {
      const counts = { found: 0, merged: 0 };
      for await (const userId of eachOwner(store, run)) {
        await new Walk(store, run, userId, counts).go();
      }
      return {
        nodesProcessed: counts.found,
        nodesModified: counts.merged,
        errors: 0,
        details: { aliases_found: counts.found, aliases_resolved: counts.merged },
      };
    },
  };
}

type Counts = { found: number; merged: number };

class Walk {
  readonly #store: Names;
  readonly #run: JobRun;
  readonly #userId: string;
  readonly #counts: Counts;
  /** Pairs that were looked at, whichever of the two was first. */
  readonly #seen = new Set<string>();
  #names: SameNames = new Map();

  constructor(store: Names, run: JobRun, userId: string, counts: Counts) {
    this.#store = store;
    this.#run = run;
    this.#userId = userId;
    this.#counts = counts;
  }

  /** Compares entities that are new since the last time with all others. */
  async go(): Promise<void> {
    const store = this.#store;
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
    for (const [index, { node }] of page.entries()) {
      if (this.#run.isOver()) return index;
      if (compatibility(node) !== undefined) await this.#byName(node);
    }
    return page.length;
  }

  /** Compares an entity with others of its name, until it is merged into one of them. */
  async #byName(node: MemoryNode): Promise<void> {
    const own = nameKey(node.content);
    const keys = [own, ...counterparts(own)].flatMap(
      (name) => this.#names.get(nameIn(node.scope, name))?.map(({ key }) => key) ?? [],
    );
    if (keys.length < 2) return;
    let current = node;
    for (let at = 0; at < keys.length; at += PAGE) {
      const others = await this.#store.nodesByKey(this.#userId, keys.slice(at, at + PAGE));
      for (const { node: other } of others) {
        const match = namesMatch(current.content, other.content);
        if (match === undefined || match === "equal" || !this.#isNew(current, other)) continue;
        this.#counts.found += 1;
        const pair = [current, other] as const;
        const done = await merge(this.#run, { kind: "alias", pair, score: NAME_SCORES[match] });
        if (done === undefined) continue;
        this.#counts.merged += 1;
        if (done.kept.id !== current.id) return;
        current = done.kept;
      }
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
}
