import { checksummed } from "../../../domain/checksummed.ts";
import { modelRules, onScale } from "../../../domain/embedding-models.ts";
import { canReplace, requireStep } from "../../../domain/lifecycle.ts";
import { type Edge, edgeRecord, type MemoryNode, nodeRecord } from "../../../domain/node.ts";
import {
  areOpen,
  compatibility,
  counterparts,
  evidenceUnion,
  isCompatible,
  isDuplicate,
  keptFirst,
  type MergeKind,
  NAME_SCORES,
  nameKey,
  namesMatch,
  sameness,
} from "../../../domain/organize.ts";
import { uuidV5 } from "../../../lib/hashing.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../../ports/store/graph.ts";
import type {
  KeyedNode,
  NearNode,
  NodeKey,
  SearchIndex,
} from "../../../ports/store/search-index.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { EntityName, Organizing } from "../../../ports/store/work.ts";
import type { EngineDeps } from "../../deps.ts";
import { logEntry } from "../../lifecycle/change-one.ts";
import { edgeOf } from "../../lifecycle/pair.ts";
import {
  eachOwner,
  type JobCounts,
  type JobRun,
  type OrganizerJob,
  OwnerWalk,
  seenIn,
} from "./job.ts";

const DEDUPLICATE = "deduplicate";
const TEXTS = 5000;
const NODES = 200;
/** New memories, and neighbours of each, that are compared. */
const COMPARED = 100;
const NEIGHBOURS = 10;
/** Pack size up to which similar pairs are counted; these are never merged. */
const SEARCHED_MAX = 10_000;

type Deps = Pick<
  EngineDeps<SearchIndex & Organizing & Pick<Store, "owners">>,
  "store" | "embedder" | "settings"
>;

/** Merges memories with the same text and circumstances, and entities with the same name. */
export function deduplicate(deps: Deps): OrganizerJob {
  return {
    name: DEDUPLICATE,
    work: async (run): Promise<JobCounts> => {
      const counts = { found: 0, merged: 0, refused: 0 };
      for await (const userId of eachOwner(deps.store, run)) {
        await new Deduplication(deps, run, userId, counts).go();
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

/** By circumstances, then by content. */
type Alike = Map<string, Map<string, MemoryNode>>;
type DuplicateCounts = { found: number; merged: number; refused: number };

/** Everything older than `seen` is done; of newer memories up to `upTo`, texts up to the hash `after`. */
type Place = { readonly seen: number; readonly upTo: number; readonly after: string };

class Deduplication extends OwnerWalk<Deps, DuplicateCounts> {
  /** Examines what is new, or continues where the budget ended. */
  async go(): Promise<void> {
    const { store } = this.deps;
    const place = placeOf(
      await store.walkPlace(DEDUPLICATE, this.userId),
      await store.newestKey(this.userId),
    );
    if (place.upTo <= place.seen) return;
    const after = await this.#sameTexts(place);
    const isDone = after === undefined && (await this.#sameNames(place.seen));
    if (isDone && place.upTo <= SEARCHED_MAX) await this.#alike(place.seen);
    if (this.run.isDryRun) return;
    const next = isDone ? { seen: place.upTo } : { ...place, after: after ?? LAST };
    await store.saveWalkPlace(DEDUPLICATE, this.userId, { ...next, rule: RULE });
  }

  /** @returns the hash of the last text; undefined once all are done */
  async #sameTexts({ seen: newerThan, after }: Place): Promise<string | undefined> {
    if (after === LAST) return undefined;
    for (let afterHash = after; ; ) {
      const read = { userId: this.userId, newerThan, afterHash, limit: TEXTS };
      const texts = await this.deps.store.repeatedTexts(read);
      for (const { hash, keys } of texts) {
        if (this.run.isOver()) return afterHash;
        await this.#mergeGroup(keys, (node) => node.nodeType !== "entity");
        afterHash = hash;
      }
      if (!(await this.run.pause()) && texts.length > 0) return afterHash;
      if (texts.length < TEXTS) return undefined;
    }
  }

  /** Entities whose names differ in case only. @returns whether all are done */
  async #sameNames(newerThan: number): Promise<boolean> {
    const { store } = this.deps;
    const read = { userId: this.userId, nodeType: "entity", newerThan, limit: 1 } as const;
    if ((await store.newNodes(read)).length === 0) return true;
    for (const group of (await sameNames(store, this.userId)).values()) {
      if (group.length < 2 || !group.some(({ key }) => key > newerThan)) continue;
      if (this.run.isOver()) return false;
      await this.#mergeGroup(
        group.map(({ key }) => key),
        (node) => node.nodeType === "entity",
      );
    }
    return true;
  }

  /** Merges memories with equal text that are equal in everything else. */
  async #mergeGroup(
    keys: readonly NodeKey[],
    isMeant: (node: MemoryNode) => boolean,
  ): Promise<void> {
    const alike: Alike = new Map();
    for (let at = 0; at < keys.length; at += NODES) {
      const nodes = await this.deps.store.nodesByKey(this.userId, keys.slice(at, at + NODES));
      for (const { node } of nodes) {
        if (isMeant(node) && canReplace(node.lifecycleState)) await this.#take(alike, node);
      }
    }
    for (const { size } of alike.values()) {
      this.counts.found += size - 1;
      this.counts.refused += size - 1;
    }
  }

  async #take(alike: Alike, node: MemoryNode): Promise<void> {
    const circumstances = compatibility(node);
    if (circumstances === undefined) return;
    const same = alike.get(circumstances) ?? new Map<string, MemoryNode>();
    alike.set(circumstances, same);
    const known = same.get(sameness(node));
    same.set(sameness(node), known === undefined ? node : await this.#mergeTwo(known, node));
  }

  /** @returns the kept one */
  async #mergeTwo(one: MemoryNode, other: MemoryNode): Promise<MemoryNode> {
    this.counts.found += 1;
    const done = await merge(this.run, { kind: "duplicate", pair: [one, other], score: 1 });
    this.counts[done === undefined ? "refused" : "merged"] += 1;
    return done?.kept ?? other;
  }

  /** Counts near-identical pairs that are kept apart. */
  async #alike(newerThan: number): Promise<void> {
    const { store } = this.deps;
    const userId = this.userId;
    const half = this.run.leftMs() / 2;
    const fresh = await store.newNodes({ userId, newerThan, limit: COMPARED });
    const vectors = await store.ownVectors(
      userId,
      fresh.map(({ key }) => key),
    );
    const pairs = new Set<string>();
    for (const { key, node } of fresh) {
      const vector = vectors.get(key);
      if (vector === undefined) continue;
      if (this.run.leftMs() < half) break;
      const question = { userId, scope: node.scope, count: NEIGHBOURS + 1 };
      for (const near of await store.nearNodes(vector, question, (found) => found)) {
        if (this.#isNearly(node, near)) pairs.add([node.id, near.node.id].sort().join(" "));
      }
    }
    this.counts.found += pairs.size;
    this.counts.refused += pairs.size;
  }

  #isNearly(node: MemoryNode, { node: other, cosine }: NearNode): boolean {
    const { embedder, settings } = this.deps;
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
/** Version of the merge rule; memories examined under an earlier one are examined again. */
const RULE = 2;

function placeOf(found: JsonObject | undefined, newest: number): Place {
  const saved = found?.["rule"] === RULE ? found : undefined;
  const { upTo, after } = saved ?? {};
  const isUnderWay = typeof upTo === "number" && typeof after === "string";
  return { seen: seenIn(saved), ...(isUnderWay ? { upTo, after } : { upTo: newest, after: "" }) };
}

const ALIAS_RESOLVE = "alias_resolve";
const PAGE = 200;

type Names = Organizing & Pick<Store, "owners" | "nodesByKey">;

/** Merges entities whose names certainly match. */
export function aliasResolve(deps: { readonly store: Names }): OrganizerJob {
  return {
    name: ALIAS_RESOLVE,
    work: async (run): Promise<JobCounts> => {
      const counts = { found: 0, merged: 0 };
      for await (const userId of eachOwner(deps.store, run)) {
        await new AliasResolution(deps, run, userId, counts).go();
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

type AliasCounts = { found: number; merged: number };

class AliasResolution extends OwnerWalk<{ readonly store: Names }, AliasCounts> {
  /** Compared pairs, in id order. */
  readonly #seen = new Set<string>();
  #names: SameNames = new Map();

  /** Compares new entities with all others. */
  async go(): Promise<void> {
    const { store } = this.deps;
    const begin = seenIn(await store.walkPlace(ALIAS_RESOLVE, this.userId));
    const newest = await store.newestKey(this.userId);
    let seen = begin;
    for (let isMore = seen < newest; isMore; ) {
      const read = {
        userId: this.userId,
        nodeType: "entity",
        newerThan: seen,
        limit: PAGE,
      } as const;
      const page = await store.newNodes(read);
      if (page.length > 0 && this.#names.size === 0) {
        this.#names = await sameNames(store, this.userId);
      }
      const done = await this.#comparePage(page);
      const isWhole = done === page.length;
      seen = isWhole && page.length < PAGE ? newest : (page[done - 1]?.key ?? seen);
      isMore = (await this.run.pause()) && isWhole && page.length === PAGE;
    }
    if (seen > begin && !this.run.isDryRun)
      await store.saveWalkPlace(ALIAS_RESOLVE, this.userId, { seen });
  }

  /** @returns how many were compared */
  async #comparePage(page: readonly KeyedNode[]): Promise<number> {
    for (const [index, { node }] of page.entries()) {
      if (this.run.isOver()) return index;
      if (compatibility(node) !== undefined) await this.#byName(node);
    }
    return page.length;
  }

  /** Compares an entity with those of its name until it is merged. */
  async #byName(node: MemoryNode): Promise<void> {
    const own = nameKey(node.content);
    const keys = [own, ...counterparts(own)].flatMap(
      (name) => this.#names.get(nameIn(node.scope, name))?.map(({ key }) => key) ?? [],
    );
    if (keys.length < 2) return;
    let current = node;
    for (let at = 0; at < keys.length; at += PAGE) {
      const others = await this.deps.store.nodesByKey(this.userId, keys.slice(at, at + PAGE));
      for (const { node: other } of others) {
        const match = namesMatch(current.content, other.content);
        if (match === undefined || match === "equal" || !this.#isNew(current, other)) continue;
        this.counts.found += 1;
        const pair = [current, other] as const;
        const done = await merge(this.run, { kind: "alias", pair, score: NAME_SCORES[match] });
        if (done === undefined) continue;
        this.counts.merged += 1;
        if (done.kept.id !== current.id) return;
        current = done.kept;
      }
    }
  }

  /** Whether two entities are compatible and not yet compared. */
  #isNew(one: MemoryNode, other: MemoryNode): boolean {
    const pair = [one.id, other.id].sort().join(" ");
    const isOpen = canReplace(one.lifecycleState) && canReplace(other.lifecycleState);
    if (!isOpen || !isCompatible(one, other) || this.#seen.has(pair)) return false;
    this.#seen.add(pair);
    return true;
  }
}

/** Entities by scope and name (`nameIn`). */
type SameNames = ReadonlyMap<string, readonly EntityName[]>;

async function sameNames(store: Organizing, userId: string): Promise<SameNames> {
  const names = await store.entityNames(userId);
  return Map.groupBy(names, ({ scope, content }) => nameIn(scope, nameKey(content)));
}

/** @param key of the name (`nameKey`) */
function nameIn(scope: string, key: string): string {
  return `${scope} ${key}`;
}

const MERGE_POLICY = "exact_content_provenance_validity_v1";
const REASONS = { duplicate: "deduplication", alias: "alias_resolution" } as const;

type Merge = {
  readonly kind: MergeKind;
  readonly pair: readonly [MemoryNode, MemoryNode];
  /** Similarity, 0 to 1. */
  readonly score: number;
};

type Merged = { readonly kept: MemoryNode; readonly retiredId: Uuid };

function inIdOrder(pair: readonly [MemoryNode, MemoryNode]): readonly [Uuid, Uuid] {
  const [{ id: one }, { id: other }] = pair;
  return one < other ? [one, other] : [other, one];
}

/** Merges two memories if both are unchanged: one is kept, gets the other's evidence and edges, and supersedes it. */
async function merge(run: JobRun, { kind, pair, score }: Merge): Promise<Merged | undefined> {
  const [lower, higher] = inIdOrder(pair);
  const operationId = uuidV5(lower, `svc:organizer-merge:v1:${higher}:${kind}`);
  const [, retired] = keptFirst(kind, ...pair);
  return run.change(
    {
      nodeIds: [lower, higher],
      auditRecordIds: [operationId],
      eventIds: [],
      edgesOf: retired.id,
    },
    (snapshot) => {
      const one = snapshot.nodes.get(lower);
      const other = snapshot.nodes.get(higher);
      const isDone = snapshot.auditRecords.has(operationId);
      if (one === undefined || other === undefined || isDone) return NOTHING;
      const [kept, gone] = keptFirst(kind, one, other);
      // The order may have changed; the next run checks again.
      if (gone.id !== retired.id || !mayMerge(kind, one, other)) return NOTHING;
      return mergeDecision(snapshot, { kind, score, operationId, kept, retired: gone });
    },
  );
}

const NOTHING = { change: undefined, result: undefined };

function mayMerge(kind: MergeKind, one: MemoryNode, other: MemoryNode): boolean {
  if (kind === "duplicate") return isDuplicate(one, other);
  const isNamedAlike = namesMatch(one.content, other.content) !== undefined;
  return areOpen(one, other) && isCompatible(one, other) && isNamedAlike;
}

type Decided = Pick<Merge, "kind" | "score"> & {
  readonly operationId: Uuid;
  readonly kept: MemoryNode;
  readonly retired: MemoryNode;
};

function mergeDecision(
  { at, edgesOf }: ChangeSnapshot,
  { kind, score, operationId, kept, retired }: Decided,
): Decision<Merged> {
  const keptAfter: MemoryNode = {
    ...kept,
    evidenceRefs: evidenceUnion([kept.evidenceRefs, retired.evidenceRefs]),
    updatedAt: at,
  };
  const retiredAfter: MemoryNode = {
    ...retired,
    lifecycleState: requireStep("supersede", retired),
    supersededBy: kept.id,
    updatedAt: at,
  };
  const copies = edgesOf.flatMap((edge) => copyOf(edge, { operationId, kept, retired }));
  const replaces: Edge = {
    ...edgeOf({ operationId, evidenceId: undefined, at }, "supersedes", kept, retired),
    metadata: { reason: REASONS[kind], score, merge_operation_id: operationId },
  };
  const payload = checksummed({
    version: 1,
    policy: MERGE_POLICY,
    operation_id: operationId,
    reason: REASONS[kind],
    score,
    kept_before: nodeRecord.to(kept),
    kept_after: nodeRecord.to(keptAfter),
    retired_before: nodeRecord.to(retired),
    retired_after: nodeRecord.to(retiredAfter),
    edge: edgeRecord.to(replaces),
    copied_edges: copies.map((edge) => edgeRecord.to(edge)),
  });
  const entry = { id: operationId, actorId: retired.userId, at, payload };
  return {
    change: {
      nodes: [keptAfter, retiredAfter],
      edges: [...copies, replaces],
      auditRecords: [logEntry("ORGANIZER_MERGED", retiredAfter, entry)],
    },
    result: { kept: keptAfter, retiredId: retired.id },
  };
}

/** An edge of the superseded memory, moved to the kept one; none becomes a loop. */
function copyOf(
  edge: Edge,
  { operationId, kept, retired }: Omit<Decided, "kind" | "score">,
): readonly Edge[] {
  const other = edge.sourceId === retired.id ? edge.targetId : edge.sourceId;
  if (edge.edgeType === "supersedes" || other === kept.id || other === retired.id) return [];
  const end = (id: Uuid): Uuid => (id === retired.id ? kept.id : id);
  const id = uuidV5(operationId, `edge:${edge.id}`);
  return [{ ...edge, id, sourceId: end(edge.sourceId), targetId: end(edge.targetId) }];
}
