import { snowball } from "../../src/adapters/stemming/stem.ts";
import { createSystemClock } from "../../src/adapters/system/clock.ts";
import { type CandidateFilter, passesFilter } from "../../src/domain/candidate-filter.ts";
import type { Edge } from "../../src/domain/edge.ts";
import type { MemoryEvent } from "../../src/domain/event.ts";
import { STATEMENTS } from "../../src/domain/extraction/plan/updates.ts";
import type { ProcessingStatus } from "../../src/domain/jobs.ts";
import { isActive } from "../../src/domain/lifecycle.ts";
import type { MemoryNode } from "../../src/domain/node.ts";
import { type Owner, owns } from "../../src/domain/owner.ts";
import {
  COUNTED_MAX,
  RANKED_WORDS_MAX,
  rarestWords,
  share,
  totalRarity,
  weightedFrequency,
  weighWords,
} from "../../src/domain/search/bm25.ts";
import { brokenChange, momentAfter, nodeChanges } from "../../src/domain/search/change.ts";
import {
  EDGES_LOOKED_AT,
  ENTITIES_COMPARED,
  ENTITIES_FOUND,
  HOPS_MAX,
  holdsAt,
  isNamed,
  isWalkable,
  namesToFind,
  proximity,
} from "../../src/domain/search/graph.ts";
import { type Link, NEIGHBOURS_MAX, walk } from "../../src/domain/search/graph-walk.ts";
import { fromPayload, LEAN_REACH, lean, toPayload } from "../../src/domain/search/lean.ts";
import {
  DOCUMENT_REACH,
  neighbourWords,
  ownWords,
} from "../../src/domain/search/lexical-document.ts";
import {
  bestFirst,
  earliestFirst,
  newestFirst,
  surestFirst,
} from "../../src/domain/search/order.ts";
import { nearestPart, packParts } from "../../src/domain/search/parts.ts";
import { PIN_KINDS, PIN_STATES, PINS_MAX } from "../../src/domain/search/pins.ts";
import { isTurn, type Surrounded, surroundings } from "../../src/domain/search/turns.ts";
import { questionWords } from "../../src/domain/stemmed-words.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { AuditRecord } from "../../src/ports/store/audit-record.ts";
import type { ChangeReads, Decide } from "../../src/ports/store/changes.ts";
import type { Admission } from "../../src/ports/store/event-log.ts";
import type {
  GraphReach,
  Hit,
  KeyedNode,
  NodeKey,
  Replacement,
  SessionWindow,
  TextHit,
  TextParts,
} from "../../src/ports/store/search-index.ts";
import type { Materialization } from "../../src/ports/store/work-queue.ts";
import { nodeKey } from "../node-keys.ts";
import { porterStem } from "./porter-stem.ts";
import type { RetrievalStore } from "./store-contract.ts";

/** All that a naive store holds, in the order in which it was written. The key of a node is its place, from 1. */
export class NaivePack {
  events: MemoryEvent[] = [];
  auditRecords: AuditRecord[] = [];
  nodes: MemoryNode[] = [];
  edges: Edge[] = [];
  jobs = new Map<Uuid, ProcessingStatus>();
  /** Nodes that have a lexical document. */
  texts = new Set<Uuid>();
  /** Vectors of the nodes' own texts. */
  vectors = new Map<Uuid, Float32Array>();
  /** Vectors of the parts of long texts, in bytes. */
  parts = new Map<Uuid, Uint8Array>();

  copy(): NaivePack {
    return Object.assign(new NaivePack(), {
      events: [...this.events],
      auditRecords: [...this.auditRecords],
      nodes: [...this.nodes],
      edges: [...this.edges],
      jobs: new Map(this.jobs),
      texts: new Set(this.texts),
      vectors: new Map(this.vectors),
      parts: new Map(this.parts),
    });
  }
}

type Document = KeyedNode & {
  readonly own: readonly string[];
  readonly previous: readonly string[];
  readonly next: readonly string[];
};

/** The rules that a planted mistake may replace. */
export const RULES = {
  passes: passesFilter,
  isFindable: ({ lifecycleState }: MemoryNode): boolean => isActive(lifecycleState),
  bestFirst,
  proximity,
  isWalkable,
  leanReach: LEAN_REACH,
  isOwned: (node: MemoryNode, userId: string): boolean => node.userId === userId,
  /** The documents among which the rarity of a word is measured. */
  collection: (documents: readonly Document[], userId: string): readonly Document[] =>
    documents.filter(({ node }) => node.userId === userId),
};
export type Rules = typeof RULES;

/**
 * The roles that a retrieval needs, by the rules of the domain and nothing but lists and loops. It keeps nothing between two
 * calls but what was written, and looks at everything each time.
 */
export class NaiveStore implements RetrievalStore {
  readonly #pack: NaivePack;
  readonly #rules: Rules;
  readonly #clock: Clock;

  constructor(pack: NaivePack, rules: Rules = RULES, clock: Clock = createSystemClock()) {
    this.#pack = pack;
    this.#rules = rules;
    this.#clock = clock;
  }

  async close(): Promise<void> {}

  // What is written.

  async admit({ events, auditRecords, nodes = [], change }: Admission): Promise<void> {
    this.#transact(() => {
      for (const event of events) {
        const job = {
          eventId: event.id,
          attempts: 0,
          lastError: undefined,
          updatedAt: event.timestamp,
        };
        this.#pack.jobs.set(event.id, { ...job, status: "pending" });
      }
      this.#pack.events.push(...events);
      this.#pack.auditRecords.push(...auditRecords);
      for (const { node, lexical } of nodes) this.#put(node, lexical, undefined);
      if (change !== undefined) this.#change(change.reads, change.decide);
    });
  }

  async materialize(items: readonly Materialization[]): Promise<readonly ProcessingStatus[]> {
    return this.#transact(() =>
      items.flatMap(({ eventId, node, lexical, vector, failure, at }) => {
        const job = this.#pack.jobs.get(eventId);
        if (job === undefined) return [];
        if (job.status === "complete") return [job];
        this.#put(node, lexical, vector);
        const status = failure === undefined ? "complete" : "pending";
        const attempts = job.attempts + 1;
        const after = { eventId, status, attempts, lastError: failure, updatedAt: at } as const;
        this.#pack.jobs.set(eventId, after);
        return [after];
      }),
    );
  }

  async change<T>(reads: ChangeReads, decide: Decide<T>): Promise<T> {
    return this.#transact(() => this.#change(reads, decide));
  }

  /** All or nothing. */
  #transact<T>(write: () => T): T {
    const before = this.#pack.copy();
    try {
      return write();
    } catch (error) {
      Object.assign(this.#pack, before);
      throw error;
    }
  }

  /** A node that exists is kept; an inactive one gets no entries. */
  #put(node: MemoryNode, lexical: boolean, vector: Float32Array | undefined): void {
    const known = this.#pack.nodes.find(({ id }) => id === node.id);
    if (known === undefined) this.#pack.nodes.push(node);
    if (!this.#rules.isFindable(known ?? node)) return;
    if (lexical) this.#pack.texts.add(node.id);
    if (vector !== undefined) this.#pack.vectors.set(node.id, vector);
  }

  #change<T>(reads: ChangeReads, decide: Decide<T>): T {
    const { nodes, auditRecords, events, edges } = this.#pack;
    const isSeen = ({ userId }: { readonly userId: string }) =>
      reads.owner === undefined || reads.owner === userId;
    const found = pick(nodes.filter(isSeen), reads.nodeIds);
    const { change, result } = decide({
      at: momentAfter(found.values(), this.#clock.now()),
      nodes: found,
      auditRecords: pick(auditRecords, reads.auditRecordIds),
      events: pick(events.filter(isSeen), reads.eventIds),
      edges: edges
        .filter(({ sourceId, targetId }) => found.has(sourceId) && found.has(targetId))
        .sort(earliestFirst),
      edgesOf: edges
        .filter(({ sourceId, targetId }) =>
          [sourceId, targetId].includes(reads.edgesOf ?? sourceId),
        )
        .filter(() => reads.edgesOf !== undefined)
        .sort(earliestFirst),
    });
    if (change === undefined) return result;
    for (const { node, vector } of change.added ?? []) this.#put(node, true, vector);
    for (const { after } of nodeChanges(change.nodes, found)) {
      nodes[nodes.findIndex(({ id }) => id === after.id)] = after;
    }
    for (const edge of change.edges) this.#addEdge(edge);
    for (const record of change.auditRecords) {
      if (auditRecords.some(({ id }) => id === record.id)) throw brokenChange("known record");
      auditRecords.push(record);
    }
    return result;
  }

  #addEdge(edge: Edge): void {
    const { nodes, edges } = this.#pack;
    const ends = [edge.sourceId, edge.targetId].map((end) => nodes.find(({ id }) => id === end));
    const isKnown = edges.some(({ id }) => id === edge.id);
    if (isKnown || ends.some((end) => end?.userId !== edge.userId)) throw brokenChange("bad edge");
    edges.push(edge);
  }

  async node(id: Uuid, owner: Owner): Promise<MemoryNode | undefined> {
    return this.#pack.nodes.find((node) => node.id === id && owns(owner, node.userId));
  }

  async countNodes(owner: Owner): Promise<number> {
    return this.#pack.nodes.filter(
      (node) => owns(owner, node.userId) && this.#rules.isFindable(node),
    ).length;
  }

  /** Edges by time, those of equal time by when they were written, the last first. */
  #newestEdges(): readonly Edge[] {
    return this.#pack.edges
      .toReversed()
      .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
  }

  // Searches.

  /** The nodes that may be found, of all owners, by key. */
  #findable(): readonly KeyedNode[] {
    return this.#pack.nodes
      .map((node, index) => ({ key: nodeKey(index + 1), node }))
      .filter(({ node }) => this.#rules.isFindable(node));
  }

  #passing(filter: CandidateFilter): readonly KeyedNode[] {
    return this.#findable().filter(({ node }) => this.#rules.passes(node, filter));
  }

  #owned(userId: string, keys: readonly NodeKey[]): readonly KeyedNode[] {
    return this.#findable().filter(
      ({ key, node }) => this.#rules.isOwned(node, userId) && keys.includes(key),
    );
  }

  async searchVectors(
    vector: Float32Array,
    filter: CandidateFilter,
    k: number,
  ): Promise<readonly Hit[]> {
    return this.#compare(vector, this.#passing(filter)).sort(this.#rules.bestFirst).slice(0, k);
  }

  async cosines(
    vector: Float32Array,
    userId: string,
    keys: readonly NodeKey[],
  ): Promise<readonly Hit[]> {
    return this.#compare(vector, this.#owned(userId, keys));
  }

  async putParts(texts: readonly TextParts[]): Promise<void> {
    for (const { nodeId, vectors } of texts) {
      const node = this.#findable().find((found) => found.node.id === nodeId);
      if (node !== undefined && this.#pack.vectors.has(nodeId)) {
        this.#pack.parts.set(nodeId, packParts(vectors));
      }
    }
  }

  async textsWithoutParts(bytes: number, limit: number): Promise<readonly MemoryNode[]> {
    return this.#findable()
      .map(({ node }) => node)
      .filter(({ id, content }) => Buffer.byteLength(content) > bytes && !this.#pack.parts.has(id))
      .filter(({ id }) => this.#pack.vectors.has(id))
      .slice(0, limit);
  }

  async ownVectors(
    userId: string,
    keys: readonly NodeKey[],
  ): Promise<ReadonlyMap<NodeKey, Float32Array>> {
    const found = this.#owned(userId, keys);
    return new Map(
      found.flatMap(({ key, node }) => {
        const vector = this.#ownVector(node);
        return vector === undefined ? [] : [[key, vector] as const];
      }),
    );
  }

  #compare(vector: Float32Array, nodes: readonly KeyedNode[]): Hit[] {
    const leaning = this.#leaning();
    return nodes.flatMap(({ key, node }) => {
      const indexed = leaning.get(node.id) ?? this.#pack.vectors.get(node.id);
      if (indexed === undefined) return [];
      const part = nearestPart(vector, this.#pack.parts.get(node.id) ?? new Uint8Array(0));
      return [{ key, score: Math.max(cosine(vector, indexed), part) }];
    });
  }

  #ownVector(node: MemoryNode): Float32Array | undefined {
    const vector = this.#pack.vectors.get(node.id);
    return vector !== undefined && isTurn(node) ? fromPayload(toPayload(vector)) : vector;
  }

  /** The vectors of turns, which lean towards those of the turns around them. */
  #leaning(): ReadonlyMap<Uuid, Float32Array> {
    const turns = conversations(this.#pack.nodes.filter(({ id }) => this.#pack.vectors.has(id)));
    const found = new Map<Uuid, Float32Array>();
    for (const { turn, before, after } of surroundings(turns, this.#rules.leanReach, isOfSame)) {
      const own = this.#ownVector(turn);
      const beside = [...before, ...after].map((other) => this.#ownVector(other));
      if (own !== undefined) found.set(turn.id, lean(own, beside));
    }
    return found;
  }

  async searchText(
    query: string,
    filter: CandidateFilter,
    k: number,
    others: readonly NodeKey[] = [],
  ): Promise<readonly TextHit[]> {
    const documents = this.#documents();
    const meanLength = documents.reduce((sum, each) => sum + lengthOf(each), 0) / documents.length;
    const collection = this.#rules.collection(documents, filter.userId);
    const asked = questionWords(query, snowball).map(({ forms }) => {
      const frequencyIn = (document: Document): number =>
        Math.max(
          ...forms.map(
            ({ term, prefix, weight }) => weight * frequency(document, porterStem(term), prefix),
          ),
        );
      const holding = collection.filter((document) => frequencyIn(document) > 0);
      return { keys: holding.map(({ key }) => key), frequencyIn };
    });
    const counted = asked.map(({ keys }) => Math.min(keys.length, COUNTED_MAX));
    const isRanking = asked.map(
      (_, at) => asked.length <= RANKED_WORDS_MAX || rarestWords(counted)[at],
    );
    const ranking = asked.filter((_, at) => isRanking[at]);
    const words = weighWords(ranking, collection.length);
    const unranked = counted.filter((_, at) => !isRanking[at]);
    const holding = [...ranking.map(({ keys }) => keys.length), ...unranked];
    const rarity = totalRarity(holding, collection.length);
    const held = holding.filter((count) => count > 0);
    const known = totalRarity(held, collection.length) / rarity;
    const ranked = documents
      .filter((document) => this.#rules.passes(document.node, filter))
      .filter((document) => words.some(({ frequencyIn }) => frequencyIn(document) > 0))
      .map((document) => {
        let score = 0;
        for (const { rarity, frequencyIn } of words) {
          score += rarity * share(frequencyIn(document), lengthOf(document) / meanLength);
        }
        return { key: document.key, score, coverage: score / rarity, known };
      })
      .sort(this.#rules.bestFirst);
    return [...ranked.slice(0, k), ...ranked.slice(k).filter(({ key }) => others.includes(key))];
  }

  /** What the word index holds, of all owners. */
  #documents(): readonly Document[] {
    const around = new Map<Uuid, Surrounded<MemoryNode>>();
    for (const place of surroundings(conversations(this.#pack.nodes), DOCUMENT_REACH, isOfSame)) {
      around.set(place.turn.id, place);
    }
    return this.#findable()
      .filter(({ node }) => this.#pack.texts.has(node.id))
      .map(({ key, node }) => {
        const { before = [], after = [] } = around.get(node.id) ?? {};
        const beside = (turns: readonly MemoryNode[]) =>
          neighbourWords(
            turns.map(({ content }) => content),
            snowball,
          ).map(porterStem);
        const own = ownWords(node.content, node.eventTime, snowball).map(porterStem);
        return { key, node, own, previous: beside(before), next: beside(after) };
      });
  }

  async searchGraph(
    names: readonly string[],
    filter: CandidateFilter,
    reach: GraphReach,
  ): Promise<readonly Hit[]> {
    const wanted = namesToFind(names);
    const seeds = this.#findable()
      .filter(({ node }) => node.userId === filter.userId && node.nodeType === "entity")
      .sort((a, b) => newestFirst(a.node, b.node))
      .slice(0, ENTITIES_COMPARED)
      .filter(({ node }) => filter.scopes?.includes(node.scope) ?? true)
      .filter(({ node }) => isNamed(node.content, wanted))
      .slice(0, ENTITIES_FOUND);
    const keys = seeds.map(({ key }) => key);
    const reached = walk(keys, Math.min(reach.hops, HOPS_MAX), this.#linksFor(filter));
    return this.#passing(filter)
      .filter(({ key, node }) => reached.has(key) && holdsAt(node, filter))
      .sort((a, b) => surestFirst(a.node, b.node))
      .slice(0, reach.limit)
      .map(({ key }) => ({ key, score: this.#rules.proximity(reached.get(key) ?? 0) }));
  }

  /** The newest links of nodes, in both directions, within the owner. */
  #linksFor(filter: CandidateFilter): (keys: readonly number[]) => readonly Link[] {
    const { nodes } = this.#pack;
    const owned = new Map(
      nodes.flatMap(({ id, userId }, index) =>
        userId === filter.userId ? [[id, index + 1] as const] : [],
      ),
    );
    const edges = this.#newestEdges().map((edge, age) => ({ edge, age }));
    return (keys) =>
      keys
        .flatMap((near) =>
          (["sourceId", "targetId"] as const).flatMap((here) =>
            edges
              .filter(({ edge }) => owned.get(edge[here]) === near)
              .slice(0, EDGES_LOOKED_AT)
              .filter(
                ({ edge }) => edge.userId === filter.userId && this.#rules.isWalkable(edge, filter),
              )
              .map(({ edge, age }) => {
                const far = owned.get(here === "sourceId" ? edge.targetId : edge.sourceId);
                return { near, far: far ?? 0, age };
              })
              .filter(({ far }) => far > 0)
              .slice(0, NEIGHBOURS_MAX),
          ),
        )
        .sort((a, b) => a.age - b.age);
  }

  async pinned(filter: CandidateFilter): Promise<readonly NodeKey[]> {
    const claiming = this.#passing(filter)
      .filter(({ node }) => PIN_STATES.some((state) => state === node.lifecycleState))
      .sort((a, b) => newestFirst(a.node, b.node));
    const kinds = Object.values(PIN_KINDS);
    const chosen = kinds.flatMap((is) =>
      claiming.filter(({ node }) => is(node)).slice(0, PINS_MAX),
    );
    return claiming.filter((keyed) => chosen.includes(keyed)).map(({ key }) => key);
  }

  async contradictions(
    userId: string,
    keys: readonly NodeKey[],
  ): Promise<ReadonlyMap<NodeKey, Uuid>> {
    const owned = pick(this.#pack.nodes.filter((node) => node.userId === userId));
    const edges = this.#newestEdges()
      .filter((edge) => edge.edgeType === "contradicts" && edge.userId === userId)
      .filter(({ sourceId, targetId }) => owned.has(sourceId) && owned.has(targetId))
      .filter(({ sourceId, targetId }) => sourceId !== targetId);
    return new Map(
      this.#owned(userId, keys).flatMap(({ key, node }) => {
        if (node.lifecycleState !== "contested") return [];
        const outgoing = edges.find(({ sourceId }) => sourceId === node.id)?.targetId;
        const other = outgoing ?? edges.find(({ targetId }) => targetId === node.id)?.sourceId;
        return other === undefined ? [] : [[key, other] as const];
      }),
    );
  }

  async replacedNotes(
    userId: string,
    keys: readonly NodeKey[],
  ): Promise<ReadonlyMap<NodeKey, readonly Replacement[]>> {
    const owned = pick(this.#pack.nodes.filter((node) => node.userId === userId));
    const nextOf = ({ lifecycleState, supersededBy }: MemoryNode): MemoryNode | undefined =>
      isActive(lifecycleState) || supersededBy === undefined ? undefined : owned.get(supersededBy);
    return new Map(
      this.#owned(userId, keys).flatMap(({ key, node: note }) => {
        const isCited = ({ evidenceRefs }: MemoryNode): boolean =>
          evidenceRefs.some((id) => note.evidenceRefs.includes(id));
        const claims = [...owned.values()].filter((node) => isStatement(node) && isCited(node));
        const ways = claims.map((claim) => {
          const way = new Set<MemoryNode>();
          for (let next = nextOf(claim); next !== undefined && !way.has(next); next = nextOf(next))
            way.add(next);
          return [...way].filter((node) => !isCited(node) && node.nodeType !== "summary");
        });
        const isReplaced = ways.length > 0 && ways.every((way) => way.length > 0);
        if (note.nodeType !== "note" || !isReplaced) return [];
        const all = [...pick(ways.flat()).values()];
        return [[key, all.map(({ id, evidenceRefs }) => ({ id, evidenceRefs }))] as const];
      }),
    );
  }

  async nodesById(userId: string, ids: readonly Uuid[]): Promise<readonly KeyedNode[]> {
    return this.#findable().filter(({ node }) => node.userId === userId && ids.includes(node.id));
  }

  async nodesByKey(userId: string, keys: readonly NodeKey[]): Promise<readonly KeyedNode[]> {
    return this.#owned(userId, keys);
  }

  async sessionWindows(
    userId: string,
    keys: readonly NodeKey[],
    span: number,
  ): Promise<ReadonlyMap<NodeKey, SessionWindow>> {
    if (span <= 0) return new Map();
    const centres = this.#owned(userId, keys).filter(({ node }) => node.sessionId !== undefined);
    return new Map(
      centres.map(({ key, node }) => {
        const session = this.#findable()
          .filter((other) => isOfSame(other.node, node) && other.key !== key)
          .sort((a, b) => earliestFirst(a.node, b.node));
        const before = session.filter((other) => earliestFirst(other.node, node) < 0);
        const after = session.slice(before.length, before.length + span);
        return [key, { before: before.reverse().slice(0, span), after }];
      }),
    );
  }
}

/** Things by id, each once: all of them, or those with one of the ids. */
function pick<T extends { readonly id: Uuid }>(
  things: readonly T[],
  ids?: readonly Uuid[],
): ReadonlyMap<Uuid, T> {
  const wanted = ids && new Set(ids);
  return new Map(things.filter(({ id }) => wanted?.has(id) ?? true).map((each) => [each.id, each]));
}

/** The turns among the nodes, conversation by conversation. */
function conversations(nodes: readonly MemoryNode[]): readonly MemoryNode[] {
  const nameOf = ({ userId, sessionId, scope }: MemoryNode): string =>
    JSON.stringify([userId, sessionId, scope]);
  const turns = Map.groupBy(nodes.filter(isTurn), nameOf);
  return [...turns.values()].flatMap((session) => session.sort(earliestFirst));
}

function isStatement({ nodeType }: MemoryNode): boolean {
  return STATEMENTS.has(nodeType);
}

function isOfSame(one: MemoryNode, other: MemoryNode): boolean {
  const isOfOwner = one.userId === other.userId && one.scope === other.scope;
  return isOfOwner && one.sessionId === other.sessionId;
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, left, right] = [0, 0, 0];
  for (let index = 0; index < a.length; index += 1) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    product += x * y;
    left += x * x;
    right += y * y;
  }
  return product / Math.sqrt(left * right);
}

function lengthOf({ own, previous, next }: Document): number {
  return own.length + previous.length + next.length;
}

function frequency({ own, previous, next }: Document, stem: string, isPrefix: boolean): number {
  const count = (words: readonly string[]): number =>
    words.filter((word) => (isPrefix ? word.startsWith(stem) : word === stem)).length;
  return weightedFrequency({ own: count(own), previous: count(previous), next: count(next) });
}
