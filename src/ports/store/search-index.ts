import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { Scope } from "../../domain/enums.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../models.ts";

declare const nodeKey: unique symbol;

/** Identifies the node of a search hit. Only a store creates one and knows its meaning; nodes written later have greater keys. */
export type NodeKey = number & { readonly [nodeKey]: true };

/** A search hit: a node's key and its raw score, higher is better. */
export type Hit<Key = NodeKey> = { readonly key: Key; readonly score: number };

/** A hit of the word search. */
export type TextHit<Key = NodeKey> = Hit<Key> & {
  /** The score as a share of the rarity of all words of the question, above 0; about 1 if the memory has each of them once. */
  readonly coverage: number;
  /** The rarity of the words that any of the owner's memories has, as a share of that of all words; equal for all hits. */
  readonly known: number;
};

export type KeyedNode<Key = NodeKey> = { readonly key: Key; readonly node: MemoryNode };

/** A node without a job, with the input of its index entries. */
export type IndexedNode = {
  readonly node: MemoryNode;
  /** Of the node's own text. */
  readonly vector: Float32Array;
  readonly at: Instant;
};

/** The vectors of the parts of a long text behind what the model reads of it (`domain/search/turns.ts`). */
export type TextParts = {
  readonly nodeId: Uuid;
  readonly userId: string;
  /** None: there is nothing in them. */
  readonly vectors: readonly Float32Array[];
};

/** How far a walk over edges goes. */
export type GraphReach = {
  /** 1 to 3. */
  readonly hops: number;
  /** Hits wanted; 0: none. */
  readonly limit: number;
};

/** The nodes that surround one node in its session, in order of (created_at, id). */
export type SessionWindow<Key = NodeKey> = {
  readonly before: readonly KeyedNode<Key>[];
  readonly after: readonly KeyedNode<Key>[];
};

/** A node and the cosine of its vector with another one. */
export type NearNode<Key = NodeKey> = KeyedNode<Key> & { readonly cosine: number };

/** A node that replaced another one, and the events that it cites. */
export type Replacement = Pick<MemoryNode, "id" | "evidenceRefs">;

/** Finds an owner's active nodes, which are identified by their keys; only this role and the rebuild know keys. */
export type SearchIndex<Key = NodeKey> = {
  /** Whether the vectors are of this model. Any process may replace them with those of another one. */
  hasModel(identity: EmbeddingIdentity): Promise<boolean>;
  /**
   * Writes nodes with text and their entries in both indexes; an existing node is kept, an inactive node is never indexed.
   * @throws SvcError embedding_mismatch if the pack's vectors are of another model than the store was opened for
   */
  addNodes(items: readonly IndexedNode[]): Promise<void>;
  /**
   * The `k` active nodes nearest to `vector` by cosine among those that pass the filter; ties by key. Score = cosine; of a long
   * text, that of its nearest part.
   * @throws SvcError embedding_mismatch if the pack's vectors are of another model than the store was opened for
   */
  searchVectors(
    vector: Float32Array,
    filter: CandidateFilter,
    k: number,
  ): Promise<readonly Hit<Key>[]>;
  /**
   * Shows `choose` approximately the `count` active nodes of an owner and scope nearest to `vector`, best first, at a fifth of the
   * cost of `searchVectors`: occasionally a near one is missing, and the cosines may be off by 0.01.
   * @returns the chosen ones, in the order of `choose`, with their cosines as `searchVectors` gives them
   * @throws SvcError embedding_mismatch
   */
  nearNodes(
    vector: Float32Array,
    question: { readonly userId: string; readonly scope: Scope; readonly count: number },
    choose: (nearest: readonly NearNode<Key>[]) => readonly NearNode<Key>[],
  ): Promise<readonly NearNode<Key>[]>;
  /** Does the part of an owner's next `nearNodes` that needs no vector. @throws SvcError embedding_mismatch */
  readyForNear(userId: string): Promise<void>;
  /** The score of `searchVectors` of each of the owner's active nodes in `keys` that has a vector, in no particular order. */
  cosines(vector: Float32Array, userId: string, keys: readonly Key[]): Promise<readonly Hit<Key>[]>;
  /** Keeps the vectors of parts; those of nodes that are not active, or have no vector, are left out. @throws SvcError embedding_mismatch */
  putParts(texts: readonly TextParts[]): Promise<void>;
  /** Active nodes of any owner with a vector and a text of more bytes than that, for whose parts nothing was kept; at most `limit`. */
  textsWithoutParts(bytes: number, limit: number): Promise<readonly MemoryNode[]>;
  /** The vector of the own text of each of the owner's active nodes in `keys` that has one; L2-normalised. */
  ownVectors(userId: string, keys: readonly Key[]): Promise<ReadonlyMap<Key, Float32Array>>;
  /**
   * The `k` best active nodes by BM25 among those that pass the filter, followed by those of `others` that match and pass too but
   * rank lower. Score = BM25, positive, best first, ties by key. Words are weighed by their rarity among the owner's own
   * memories.
   */
  searchText(
    query: string,
    filter: CandidateFilter,
    k: number,
    others?: readonly Key[],
  ): Promise<readonly TextHit<Key>[]>;
  /**
   * Active nodes connected to the entities of a question, over one to three hops and through inactive nodes too, by stored
   * confidence, then newest first. Score = proximity: 1 at one hop, 0.7 at two, 0.4 at three. Seeds are the newest 100 active
   * entities whose text contains one of `names`, in any case; wildcards are literal. Never leaves the owner. Every
   * step is bounded.
   */
  searchGraph(
    names: readonly string[],
    filter: CandidateFilter,
    reach: GraphReach,
  ): Promise<readonly Hit<Key>[]>;
  /**
   * Keys of tentative and stable nodes that are considered for every context, and pass the filter: the newest 500 that are pinned
   * (`isPinned`) and the newest 500 tasks, without repeats.
   */
  pinned(filter: CandidateFilter): Promise<readonly Key[]>;
  /**
   * Active nodes by key, in no particular order; missing and inactive ones are left out.
   * @param texts `beginnings`: of the longest as much as a question reads (`domain/beginning.ts`). Default: whole
   */
  nodesByKey(
    userId: string,
    keys: readonly Key[],
    texts?: "beginnings",
  ): Promise<readonly KeyedNode<Key>[]>;
  /** Active nodes of the owner by id, with the beginnings of long texts, in no particular order; missing and inactive ones are left out. */
  nodesById(userId: string, ids: readonly Uuid[]): Promise<readonly KeyedNode<Key>[]>;
  /** The other end of each contested node's newest outgoing `contradicts` edge, else of its newest incoming one. */
  contradictions(userId: string, keys: readonly Key[]): Promise<ReadonlyMap<Key, Uuid>>;
  /**
   * What replaced, directly or in steps, what was extracted from the messages of notes, each node once. Only of the owner's active
   * notes in `keys` that have nodes of a type of `STATEMENTS` with a common event, all of them inactive and replaced by
   * something that is no summary and cites other events: what cites the same event states its message again.
   */
  replacedNotes(
    userId: string,
    keys: readonly Key[],
  ): Promise<ReadonlyMap<Key, readonly Replacement[]>>;
  /** Active neighbours of each node in its own session and scope, at most `span` on either side, nearest first; of long texts the beginnings. */
  sessionWindows(
    userId: string,
    keys: readonly Key[],
    span: number,
  ): Promise<ReadonlyMap<Key, SessionWindow<Key>>>;
};

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
