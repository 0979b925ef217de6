import { modelRules, onScale } from "../../../domain/embedding-models.ts";
import { canReplace } from "../../../domain/lifecycle.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { compatibility, isCompatible, sameness } from "../../../domain/organize/merge-policy.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Organizing } from "../../../ports/store/organizing.ts";
import type { NearNode, NodeKey, SearchIndex } from "../../../ports/store/search-index.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { EngineDeps } from "../../deps.ts";
import type { JobCounts, JobRun, OrganizerJob } from "./job.ts";
import { MERGE_POLICY, merge } from "./merge.ts";
import { eachOwner } from "./owners-of.ts";
import { sameNames } from "./same-names.ts";
import { seenIn } from "./walk-place.ts";

const JOB = "deduplicate";
/** Texts that one read finds. */
const TEXTS = 5000;
/** Memories that are read at once. */
const NODES = 200;
/** New memories whose neighbours are looked at, and how many of those. */
const COMPARED = 100;
const NEIGHBOURS = 10;
/** Memories of a pack up to which they are: what is found there is counted, and nothing comes of it. */
const SEARCHED_MAX = 10_000;

type Deps = Pick<
  EngineDeps<SearchIndex & Organizing & Pick<Store, "owners">>,
  "store" | "embedder" | "settings"
>;

/** Merges memories that say the same, to the last byte, in the same circumstances; entities by their names. */
export function deduplicate(deps: Deps): OrganizerJob {
  return {
    name: JOB,
    work: async (run): Promise<JobCounts> => {
      const counts = { found: 0, merged: 0, refused: 0 };
      for await (const userId of eachOwner(deps.store, run)) {
        await new Walk(deps, run, userId, counts).go();
      }
      return {
        nodesProcessed: counts.found,
        nodesModified: counts.merged,
        errors: 0,
        details: {
          duplicates_found: counts.found,
          nodes_merged: counts.merged,
          pairs_not_applied: counts.refused,
          merge_policy: MERGE_POLICY,
        },
      };
    },
  };
}

/** Memories by their circumstances, then by what they say. */
type Alike = Map<string, Map<string, MemoryNode>>;
type Counts = { found: number; merged: number; refused: number };

/** How far it has come: all that is older than `seen` was looked at; of newer ones up to `upTo`, texts up to the hash `after`. */
type Place = { readonly seen: number; readonly upTo: number; readonly after: string };

class Walk {
  readonly #deps: Deps;
  readonly #run: JobRun;
  readonly #userId: string;
  readonly #counts: Counts;

  constructor(deps: Deps, run: JobRun, userId: string, counts: Counts) {
    this.#deps = deps;
    this.#run = run;
    this.#userId = userId;
    this.#counts = counts;
  }

  /** Looks at what is new since the last time, or goes on where the budget ended. */
  async go(): Promise<void> {
    const { store } = this.#deps;
    const place = placeOf(
      await store.walkPlace(JOB, this.#userId),
      await store.newestKey(this.#userId),
    );
    if (place.upTo <= place.seen) return;
    const after = await this.#sameTexts(place);
    const isDone = after === undefined && (await this.#sameNames(place.seen));
    if (isDone && place.upTo <= SEARCHED_MAX) await this.#alike(place.seen);
    if (this.#run.isDryRun) return;
    const next = isDone ? { seen: place.upTo } : { ...place, after: after ?? LAST };
    await store.saveWalkPlace(JOB, this.#userId, { ...next, rule: RULE });
  }

  /** @returns the hash of the last text that was looked at; undefined once all were */
  async #sameTexts({ seen: newerThan, after }: Place): Promise<string | undefined> {
    if (after === LAST) return undefined;
    for (let afterHash = after; ; ) {
      const read = { userId: this.#userId, newerThan, afterHash, limit: TEXTS };
      const texts = await this.#deps.store.repeatedTexts(read);
      for (const { hash, keys } of texts) {
        if (this.#run.isOver()) return afterHash;
        await this.#mergeGroup(keys, (node) => node.nodeType !== "entity");
        afterHash = hash;
      }
      if (!(await this.#run.pause()) && texts.length > 0) return afterHash;
      if (texts.length < TEXTS) return undefined;
    }
  }

  /** Entities whose names differ in case only. @returns whether all were looked at */
  async #sameNames(newerThan: number): Promise<boolean> {
    const { store } = this.#deps;
    const read = { userId: this.#userId, nodeType: "entity", newerThan, limit: 1 } as const;
    if ((await store.newNodes(read)).length === 0) return true;
    for (const group of (await sameNames(store, this.#userId)).values()) {
      if (group.length < 2 || !group.some(({ key }) => key > newerThan)) continue;
      if (this.#run.isOver()) return false;
      await this.#mergeGroup(
        group.map(({ key }) => key),
        (node) => node.nodeType === "entity",
      );
    }
    return true;
  }

  /** Merges those of some memories with one text that are the same in everything else. */
  async #mergeGroup(
    keys: readonly NodeKey[],
    isMeant: (node: MemoryNode) => boolean,
  ): Promise<void> {
    const alike: Alike = new Map();
    for (let at = 0; at < keys.length; at += NODES) {
      const nodes = await this.#deps.store.nodesByKey(this.#userId, keys.slice(at, at + NODES));
      for (const { node } of nodes) {
        if (isMeant(node) && canReplace(node.lifecycleState)) await this.#take(alike, node);
      }
    }
    for (const { size } of alike.values()) {
      this.#counts.found += size - 1;
      this.#counts.refused += size - 1;
    }
  }

  /** Merges a memory with the one that is the same, if there was one. */
  async #take(alike: Alike, node: MemoryNode): Promise<void> {
    const circumstances = compatibility(node);
    if (circumstances === undefined) return;
    const same = alike.get(circumstances) ?? new Map<string, MemoryNode>();
    alike.set(circumstances, same);
    const known = same.get(sameness(node));
    same.set(sameness(node), known === undefined ? node : await this.#mergeTwo(known, node));
  }

  /** @returns the one that stays */
  async #mergeTwo(one: MemoryNode, other: MemoryNode): Promise<MemoryNode> {
    this.#counts.found += 1;
    const done = await merge(this.#run, { kind: "duplicate", pair: [one, other], score: 1 });
    this.#counts[done === undefined ? "refused" : "merged"] += 1;
    return done?.kept ?? other;
  }

  /** Counts pairs that mean nearly the same and are kept apart: those with one text were found before. */
  async #alike(newerThan: number): Promise<void> {
    const { store } = this.#deps;
    const userId = this.#userId;
    const half = this.#run.leftMs() / 2;
    const fresh = await store.newNodes({ userId, newerThan, limit: COMPARED });
    const vectors = await store.ownVectors(
      userId,
      fresh.map(({ key }) => key),
    );
    const pairs = new Set<string>();
    for (const { key, node } of fresh) {
      const vector = vectors.get(key);
      if (vector === undefined) continue;
      if (this.#run.leftMs() < half) break;
      const question = { userId, scope: node.scope, count: NEIGHBOURS + 1 };
      for (const near of await store.nearNodes(vector, question, (found) => found)) {
        if (this.#isNearly(node, near)) pairs.add([node.id, near.node.id].sort().join(" "));
      }
    }
    this.#counts.found += pairs.size;
    this.#counts.refused += pairs.size;
  }

  #isNearly(node: MemoryNode, { node: other, cosine }: NearNode): boolean {
    const { embedder, settings } = this.#deps;
    const { likeMemories } = modelRules(embedder.identity.model);
    const isSame = other.content === node.content || sameness(other) === sameness(node);
    return (
      onScale(likeMemories, cosine) >= settings.organizer.dedupSimilarityThreshold &&
      canReplace(other.lifecycleState) &&
      !isSame &&
      isCompatible(node, other)
    );
  }
}

/** Sorts after every hash. */
const LAST = "~";
/** What was looked at under another rule for what is the same is looked at again. */
const RULE = 2;

/** @param newest key of the newest memory */
function placeOf(found: JsonObject | undefined, newest: number): Place {
  const saved = found?.["rule"] === RULE ? found : undefined;
  const { upTo, after } = saved ?? {};
  const isUnderWay = typeof upTo === "number" && typeof after === "string";
  return {
    seen: seenIn(saved),
    ...(isUnderWay ? { upTo, after } : { upTo: newest, after: "" }),
  };
}
