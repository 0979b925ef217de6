import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { Scope } from "../../domain/enums.ts";
import type { Edge, MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../models.ts";

declare const nodeKey: unique symbol;

/** Assigned and understood by the store alone; later nodes have greater keys. */
export type NodeKey = number & { readonly [nodeKey]: true };

/** `score`: higher is better. */
export type Hit<Key = NodeKey> = { readonly key: Key; readonly score: number };

export type TextHit<Key = NodeKey> = Hit<Key> & {
  /** The score as a share of the rarity of all words of the question; about 1 if each occurs once. */
  readonly coverage: number;
  /** The share of that rarity in words that the owner's memories contain; equal for all hits. */
  readonly known: number;
};

export type KeyedNode<Key = NodeKey> = { readonly key: Key; readonly node: MemoryNode };

/** A node without a job, with its index entries. */
export type IndexedNode = {
  readonly node: MemoryNode;
  readonly vector: Float32Array;
  readonly at: Instant;
};

/** Vectors of a long text beyond the model's limit (`domain/search/turns.ts`). */
export type TextParts = {
  readonly nodeId: Uuid;
  readonly userId: string;
  /** Empty: nothing passes. */
  readonly vectors: readonly Float32Array[];
};

export type GraphReach = {
  /** 1 to 3. */
  readonly hops: number;
  /** 0: none. */
  readonly limit: number;
};

/** Neighbours in a session by (created_at, id). */
export type SessionWindow<Key = NodeKey> = {
  readonly before: readonly KeyedNode<Key>[];
  readonly after: readonly KeyedNode<Key>[];
};

/** With the cosine to another vector. */
export type NearNode<Key = NodeKey> = KeyedNode<Key> & { readonly cosine: number };

/** The input for an index entry of a node in any state. */
export type KeptEntry<Key = NodeKey> = {
  readonly key: Key;
  /** The vector of its own text, L2-normalized; undefined without one. */
  readonly vector: Float32Array | undefined;
  /** The vectors of its parts, as stored; undefined without any, and for a retired node. */
  readonly parts: Uint8Array | undefined;
  /** Whether its words are searched while it is active. */
  readonly hasWords: boolean;
};

/** Nodes as they were at a moment, in any state, and edges of that time between them. */
export type PastPage = {
  readonly nodes: readonly (KeptEntry & { readonly node: MemoryNode })[];
  readonly edges: readonly Edge[];
};

/** An owner's memories at an earlier moment, held in memory and private to the caller. */
export type PastIndex = SearchIndex & { close(): Promise<void> };
/** @param pages all nodes, then all edges */
export type MakePastIndex = (
  identity: EmbeddingIdentity,
  pages: AsyncIterable<PastPage>,
) => Promise<PastIndex>;

/** What replaced a node. */
export type Replacement = Pick<MemoryNode, "id" | "evidenceRefs">;

/** Finds active nodes of an owner; only this role and the rebuild use keys. */
export type SearchIndex<Key = NodeKey> = {
  /** Whether the vectors are of this model. Any process may replace them. */
  hasModel(identity: EmbeddingIdentity): Promise<boolean>;
  /** Writes nodes and index entries; an existing node is kept, an inactive one never indexed. @throws SvcError embedding_mismatch */
  addNodes(items: readonly IndexedNode[]): Promise<void>;
  /**
   * The `k` nearest nodes that pass the filter; score = cosine, for a long text that of its nearest part; ties by key.
   * @throws SvcError embedding_mismatch
   */
  searchVectors(
    vector: Float32Array,
    filter: CandidateFilter,
    k: number,
  ): Promise<readonly Hit<Key>[]>;
  /**
   * Passes `choose` the approximately `count` nearest nodes of an owner and scope, with cosines accurate to 0.01, at a fifth of the cost.
   * @returns the chosen ones with exact cosines
   * @throws SvcError embedding_mismatch
   */
  nearNodes(
    vector: Float32Array,
    question: { readonly userId: string; readonly scope: Scope; readonly count: number },
    choose: (nearest: readonly NearNode<Key>[]) => readonly NearNode<Key>[],
  ): Promise<readonly NearNode<Key>[]>;
  /** Prepares an owner's next `nearNodes`. @throws SvcError embedding_mismatch */
  readyForNear(userId: string): Promise<void>;
  /** Scores as in `searchVectors`, in no particular order. */
  cosines(vector: Float32Array, userId: string, keys: readonly Key[]): Promise<readonly Hit<Key>[]>;
  /** Skips nodes that are inactive or have no vector. @throws SvcError embedding_mismatch */
  putParts(texts: readonly TextParts[]): Promise<void>;
  /** Active nodes of any owner with a vector and a longer text whose parts are missing. */
  textsWithoutParts(bytes: number, limit: number): Promise<readonly MemoryNode[]>;
  /** L2-normalized vectors of the nodes' own texts. */
  ownVectors(userId: string, keys: readonly Key[]): Promise<ReadonlyMap<Key, Float32Array>>;
  /** Of the owner's nodes in any state: retired ones keep the vectors of their texts. Missing nodes are left out. */
  keptEntries(userId: string, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, KeptEntry<Key>>>;
  /**
   * The `k` best nodes by BM25 that pass the filter, then matching ones among `others`; best first, ties by key. Rarity is measured among
   * the owner's memories.
   */
  searchText(
    query: string,
    filter: CandidateFilter,
    k: number,
    others?: readonly Key[],
  ): Promise<readonly TextHit<Key>[]>;
  /**
   * Active nodes near entities named in a question, by stored confidence, then newest first; score 1, 0.7 or 0.4 by hops. Starts at
   * the newest 100 active entities that contain one of `names`, in any case.
   */
  searchGraph(
    names: readonly string[],
    filter: CandidateFilter,
    reach: GraphReach,
  ): Promise<readonly Hit<Key>[]>;
  /** The newest 500 pinned nodes and the newest 500 tasks that are tentative or stable and pass the filter. */
  pinned(filter: CandidateFilter): Promise<readonly Key[]>;
  /**
   * Without missing and inactive ones, in no particular order.
   * @param texts `beginnings`: the part of long texts that a question reads (`domain/beginning.ts`). Default: whole
   */
  nodesByKey(
    userId: string,
    keys: readonly Key[],
    texts?: "beginnings",
  ): Promise<readonly KeyedNode<Key>[]>;
  /** Like `nodesByKey`, with beginnings of long texts. */
  nodesById(userId: string, ids: readonly Uuid[]): Promise<readonly KeyedNode<Key>[]>;
  /** The other end of each contested node's newest outgoing `contradicts` edge, else incoming one. */
  contradictions(userId: string, keys: readonly Key[]): Promise<ReadonlyMap<Key, Uuid>>;
  /**
   * Direct and indirect replacements of everything extracted from the messages of active notes, excluding summaries and replacements that
   * cite the same event.
   */
  replacedNotes(
    userId: string,
    keys: readonly Key[],
  ): Promise<ReadonlyMap<Key, readonly Replacement[]>>;
  /** Active neighbours in session and scope, at most `span` on either side, nearest first; beginnings of long texts. */
  sessionWindows(
    userId: string,
    keys: readonly Key[],
    span: number,
  ): Promise<ReadonlyMap<Key, SessionWindow<Key>>>;
};

export type RebuildPlan = {
  /** `replace`: new vectors are staged and swapped in at once. `repair`: entries of the configured model are corrected in place. */
  readonly vectors: "replace" | "repair";
  /** Whether it continues an earlier run. */
  readonly isContinued: boolean;
};

/** A batch of nodes searched for missing current vectors. */
export type StaleNodes<Key = NodeKey> = {
  readonly nodes: readonly KeyedNode<Key>[];
  /** Nodes examined. */
  readonly scanned: number;
  /** Where to continue. */
  readonly scannedTo: number;
  readonly hasMore: boolean;
};

export type NodeVector<Key = NodeKey> = {
  /** From `stale`, in this run. */
  readonly key: Key;
  readonly vector: Float32Array;
  /** SHA-256 of the content. */
  readonly contentHash: string;
};

/** Active nodes of all owners. */
export type IndexableNodes = {
  readonly total: number;
  /** Blank texts, which have no entries. */
  readonly blank: number;
};

/**
 * Rebuilds a pack's derived data from its graph: the vectors of the store's model, and the lexical index.
 *
 * For callers: `begin`; `stale` and `put` until a pass finds nothing; `swap`, and again from `stale` if it returns false;
 * `rewriteTexts` until nothing is left; `end`. The next `begin` continues a run interrupted at any point, even by a kill. Searches
 * continue meanwhile and never mix vectors of two models. For implementers: each method is one short transaction; only `swap` takes time
 * proportional to the pack. Every method but `begin` and `count` rejects with storage_busy once another process has taken over.
 */
export type IndexRebuild<Key = NodeKey> = {
  /** @param all also recomputes current vectors @throws SvcError storage_busy while another process rebuilds */
  begin(all: boolean): Promise<RebuildPlan>;
  /** At most `limit` active nodes with text above the key `after` that lack a current vector. */
  stale(plan: RebuildPlan, after: number, limit: number): Promise<StaleNodes<Key>>;
  /** Stages or writes vectors; inactive nodes are skipped. */
  put(plan: RebuildPlan, entries: readonly NodeVector<Key>[]): Promise<void>;
  /** Activates staged vectors and their model, or removes orphaned entries. @returns false, unchanged, if a node lacks its vector */
  swap(plan: RebuildPlan): Promise<boolean>;
  /** Rewrites word entries: at most `limit`, fewer if long. @param signal rolls the call back if the store can */
  rewriteTexts(
    limit: number,
    signal?: AbortSignal,
  ): Promise<{ readonly written: number; readonly hasMore: boolean }>;
  /** `unfinished` keeps the work for the next run. */
  end(outcome: "finished" | "unfinished"): Promise<void>;
  count(): Promise<IndexableNodes>;
};
