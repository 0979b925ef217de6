import type { KeyedNode, NodeKey } from "./search-index.ts";

/** What a rebuild does with the vectors, and how much there is to do. */
export type RebuildPlan = {
  /**
   * `replace`: new vectors are collected beside the old ones, which answer searches until all are exchanged at once. `repair`:
   * the pack's vectors are of the configured model; missing, stale and orphaned entries are corrected in place.
   */
  readonly vectors: "replace" | "repair";
  /** True if it continues an earlier run. */
  readonly isContinued: boolean;
};

/** A part of the graph that was searched for nodes without a current vector. */
export type StaleNodes<Key = NodeKey> = {
  readonly nodes: readonly KeyedNode<Key>[];
  /** Number of nodes examined. */
  readonly scanned: number;
  /** Where to continue. */
  readonly scannedTo: number;
  /** False once the whole graph was searched. */
  readonly hasMore: boolean;
};

export type NodeVector<Key = NodeKey> = {
  /** As `stale` handed it out, in this run. */
  readonly key: Key;
  readonly vector: Float32Array;
  /** SHA-256 of the node's content. */
  readonly contentHash: string;
};

/** Active nodes of all owners. */
export type IndexableNodes = {
  readonly total: number;
  /** Nodes with blank text; they have no entries. */
  readonly blank: number;
};

/**
 * Rebuilds the derived data of a pack from its graph: the vectors of the model that the store was opened for, and the lexical
 * index.
 *
 * For callers: `begin`; `stale` and `put` until a pass finds nothing; `swap`, and again from `stale` if it returns false;
 * `rewriteTexts` until it says there is no more; `end`. The next `begin` continues a run that stopped anywhere, even by a kill.
 * Searches continue all the while and never mix vectors of two models. For implementers: each method is one short transaction;
 * only `swap` takes time proportional to the pack. Every method but `begin` and `count` rejects with storage_busy once another
 * process has taken over.
 */
export type IndexRebuild<Key = NodeKey> = {
  /**
   * @param all recomputes every vector, even current ones
   * @throws SvcError storage_busy while another living process rebuilds
   */
  begin(all: boolean): Promise<RebuildPlan>;
  /**
   * Up to `limit` active nodes with text, by ascending key above `after`, without a current vector: none, one of another model,
   * or one of an earlier text. Examines a bounded number of nodes.
   */
  stale(plan: RebuildPlan, after: number, limit: number): Promise<StaleNodes<Key>>;
  /** Stores vectors: beside the index or in it, as planned. A node that is no longer active is left out. */
  put(plan: RebuildPlan, entries: readonly NodeVector<Key>[]): Promise<void>;
  /**
   * Makes the index current: replaces the old vectors with the new ones and records their model in the manifest, or removes
   * entries without an active node. @returns false, with nothing changed, if a node lacks its vector.
   */
  swap(plan: RebuildPlan): Promise<boolean>;
  /**
   * Rewrites the next lexical documents: at most `limit`, and fewer where they are long.
   * @param signal undoes the call where the store can end it in the middle, and rejects with its reason
   */
  rewriteTexts(
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ readonly written: number; readonly hasMore: boolean }>;
  /** Ends the run. `unfinished` keeps its work for the next one. Harmless if the run was taken over. */
  end(outcome: "finished" | "unfinished"): Promise<void>;
  count(): Promise<IndexableNodes>;
};
