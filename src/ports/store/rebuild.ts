import type { KeyedNode, NodeKey } from "./search-index.ts";

/** What a rebuild does with the vectors, and what it will come to. */
export type RebuildPlan = {
  /**
   * `replace`: new vectors gather beside the old ones, which answer searches until all of them change places at once.
   * `repair`: the pack's vectors are of the configured model; missing, stale and orphaned entries are mended in place.
   */
  readonly vectors: "replace" | "repair";
  /** True when it goes on where an earlier run stopped. */
  readonly isContinued: boolean;
};

/** A part of the graph that was looked through for nodes without a current vector. */
export type StaleNodes<Key = NodeKey> = {
  readonly nodes: readonly KeyedNode<Key>[];
  /** Nodes that were looked at. */
  readonly scanned: number;
  /** Where to look on. */
  readonly scannedTo: number;
  /** False once the whole graph was looked through. */
  readonly hasMore: boolean;
};

/** The vector of one node, and the text that it stands for. */
export type NodeVector<Key = NodeKey> = {
  readonly key: Key;
  readonly vector: Float32Array;
  /** SHA-256 of the node's content. */
  readonly contentHash: string;
};

/** Active nodes of all owners. */
export type IndexableNodes = {
  readonly total: number;
  /** Nodes whose text is blank; they have no entries. */
  readonly blank: number;
};

/**
 * Rebuilds the derived data of a pack from its graph: the vectors of the model that the store was opened for, and the
 * lexical index.
 *
 * For callers: `begin`; `stale` and `put` until a pass finds nothing; `swap`, and again from `stale` when it says false;
 * `rewriteTexts` until it says there is no more; `end`. A run that stops anywhere, by a kill too, is continued by the
 * next `begin`. Searches go on all the while and never meet vectors of two models.
 * For implementers: each method is one short transaction; only `swap` takes time in proportion to the pack. Every method
 * but `begin` and `count` rejects with storage_busy once another process has taken over.
 */
export type IndexRebuild<Key = NodeKey> = {
  /**
   * @param all makes every vector again, also where it is current
   * @throws SvcError storage_busy while another living process rebuilds
   */
  begin(all: boolean): Promise<RebuildPlan>;
  /**
   * Up to `limit` active nodes with text, by ascending key above `after`, that have no current vector: none, one of
   * another model, or one of an earlier text. Looks at a bounded number of nodes.
   */
  stale(plan: RebuildPlan, after: number, limit: number): Promise<StaleNodes<Key>>;
  /** Keeps vectors: beside the index or in it, as planned. A node that is no longer active is left out. */
  put(plan: RebuildPlan, entries: readonly NodeVector<Key>[]): Promise<void>;
  /**
   * Makes the index current: puts the new vectors in the place of the old ones and names their model in the manifest, or
   * removes what has no active node. @returns false, with nothing changed, when a node lacks its vector.
   */
  swap(plan: RebuildPlan): Promise<boolean>;
  /** Rewrites the next `limit` lexical documents. */
  rewriteTexts(limit: number): Promise<{ readonly written: number; readonly hasMore: boolean }>;
  /** Ends the run. `unfinished` keeps what it has done for the next one. Harmless when the run was taken over. */
  end(outcome: "finished" | "unfinished"): Promise<void>;
  count(): Promise<IndexableNodes>;
};
