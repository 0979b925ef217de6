import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import type { RetrievalMode } from "../../domain/enums.ts";
import { epistemicExclusion } from "../../domain/epistemics.ts";
import { reasonCode, SvcError } from "../../domain/errors.ts";
import type { MemoryNode } from "../../domain/node.ts";
import type { Coverage, CoverageLimitation } from "../../domain/records/receipt.ts";
import type { CandidatePath, PackingSettings } from "../../domain/records/retrieval-record.ts";
import { keptFor } from "../../domain/replacement.ts";
import { PINS_MAX } from "../../domain/search/change.ts";
import { nextTurn } from "../../lib/pause.ts";
import type {
  Hit,
  KeyedNode,
  NodeKey,
  SearchIndex,
  TextHit,
} from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import type { AskedTime } from "./analyze.ts";
import type { Exclusion, MemoryBundle } from "./api.ts";

/** The searches, in the order of reports. */
export const BACKENDS = ["GRAPH", "VECTOR", "LEXICAL", "PINNED"] as const;
type Backend = (typeof BACKENDS)[number];

/** Why a search returned nothing. */
type SearchFailure = "backend_error" | "embedding_mismatch";

/** Candidates per search. */
export type SearchLimits = {
  readonly vectorK: number;
  readonly lexicalK: number;
  readonly graphK: number;
  readonly graphHops: number;
  /** Whether pinned memories and open tasks are always included. */
  readonly pins: boolean;
};

type SearchedText = {
  readonly text: string;
  /** Computed once. */
  readonly vector: () => Promise<Float32Array>;
};

export type Question = {
  /** The question, and its core if it is long; a memory counts by its best match. */
  readonly texts: readonly SearchedText[];
  readonly entities: readonly string[];
  readonly isAggregation: boolean;
  readonly askedTime?: AskedTime | undefined;
  readonly filter: CandidateFilter;
  /** False if the pack's vectors are of another model. */
  readonly comparable: boolean;
};

export type CandidateSets = {
  readonly hits: Readonly<Record<Exclude<Backend, "LEXICAL">, readonly Hit[]>> & {
    readonly LEXICAL: readonly TextHit[];
  };
  /** Found only by single words of a question for a count or list. */
  readonly scanned: readonly NodeKey[];
  /** Scores of memories that only other searches found. */
  readonly completed: { readonly VECTOR: readonly Hit[]; readonly LEXICAL: readonly TextHit[] };
  readonly failures: Readonly<Partial<Record<Backend | "LEXICAL_AGG", SearchFailure>>>;
  /** Searches that reached their limit. */
  readonly atLimit: readonly string[];
};

/** Hits per word of a scan. */
const SCAN_HITS = 50;

/** A question for a count or list searches further. */
export function limitsOf(settings: PackingSettings, isAggregation: boolean): SearchLimits {
  const { aggregationKMultiplier: factor, aggregationKMax: max } = settings;
  const widened = (k: number) =>
    isAggregation ? Math.max(k, Math.min(Math.floor(k * factor), max)) : k;
  return {
    vectorK: widened(settings.vectorK),
    lexicalK: widened(settings.lexicalK),
    graphK: widened(settings.graphMaxCandidates),
    graphHops: settings.graphMaxHops,
    pins: true,
  };
}

/** Stage 2: searches graph, vectors, words and pins; what one search finds is scored by the others too. A failed search is reported. */
export async function generateCandidates(
  deps: EngineDeps<SearchIndex>,
  question: Question,
  limits: SearchLimits,
): Promise<CandidateSets> {
  const { store } = deps;
  const { filter } = question;
  const searches = new Searches(deps);
  const vectors = question.texts.map((searched) =>
    searches.run("VECTOR", () => searchVectors(deps, question, searched, limits)),
  );
  // These need no vector: they run while the model embeds the question.
  const [graph, pinned, scan] = await Promise.all([
    searches.run("GRAPH", async () =>
      question.entities.length === 0 || limits.graphK === 0
        ? []
        : store.searchGraph(question.entities, filter, {
            hops: limits.graphHops,
            limit: limits.graphK,
          }),
    ),
    searches.run("PINNED", async () =>
      limits.pins ? (await store.pinned(filter)).map(unscored) : [],
    ),
    question.isAggregation ? scanWords(deps, question, searches) : NO_SCAN,
  ]);
  const nearest = await Promise.all(vectors);
  const within = await searches.run("VECTOR", () => searchTime(deps, question, limits));
  const near = unitedHits(bestOf(nearest.map(counted)).slice(0, limits.vectorK), within);
  const elsewhere = unique([near, graph, pinned, scan.hits]);
  const lexical = await searchTexts(deps, question, searches, limits.lexicalK, elsewhere);
  const byWords = lexical.slice(0, limits.lexicalK);
  const all = unique([near, byWords, graph, pinned, scan.hits]);
  const compared = await Promise.all(
    question.texts.map(({ vector }, at) => {
      const isNear = new Set(nearest[at]?.map(({ key }) => key));
      const missing = all.filter((key) => !isNear.has(key));
      return searches.run("VECTOR", async () =>
        searches.failures.VECTOR !== undefined || limits.vectorK === 0
          ? []
          : store.cosines(await vector(), filter.userId, missing),
      );
    }),
  );
  const byVector = new Set(near.map(({ key }) => key));
  const cosines = bestOf([...nearest.map(counted), ...compared.map(counted)]);
  const vector = cosines.filter(({ key }) => byVector.has(key));
  return {
    hits: { GRAPH: graph, VECTOR: vector, LEXICAL: byWords, PINNED: pinned },
    scanned: scan.hits.length === 0 ? [] : foundOnlyBy(scan, [vector, byWords, graph, pinned]),
    completed: {
      VECTOR: cosines.filter(({ key }) => !byVector.has(key)),
      LEXICAL: lexical.slice(limits.lexicalK),
    },
    failures: searches.failures,
    atLimit: pathsAtLimit(
      {
        GRAPH: graph.length,
        VECTOR: vector.length,
        LEXICAL: byWords.length,
        PINNED: pinned.length,
        LEXICAL_AGG: scan.most,
      },
      {
        GRAPH: limits.graphK,
        VECTOR: limits.vectorK,
        LEXICAL: limits.lexicalK,
        PINNED: PINS_MAX,
        LEXICAL_AGG: SCAN_HITS,
      },
    ),
  };
}

class Searches {
  readonly failures: Partial<Record<Backend | "LEXICAL_AGG", SearchFailure>> = {};
  readonly #deps: EngineDeps<SearchIndex>;

  constructor(deps: EngineDeps<SearchIndex>) {
    this.#deps = deps;
  }

  async run<Found extends Hit>(
    backend: Backend | "LEXICAL_AGG",
    search: () => Promise<readonly Found[]>,
  ): Promise<readonly Found[]> {
    try {
      return await search();
    } catch (error) {
      // The message could contain memory text: only the code is reported.
      const reason = reasonCode(error);
      this.failures[backend] = reason === "embedding_mismatch" ? reason : "backend_error";
      this.#deps.warn(`retrieve: the ${backend} search failed (${reason})`);
      return [];
    }
  }
}

async function searchVectors(
  { store }: EngineDeps<SearchIndex>,
  question: Question,
  { vector }: SearchedText,
  { vectorK }: SearchLimits,
): Promise<readonly Hit[]> {
  if (!question.comparable) {
    throw new SvcError("embedding_mismatch", "the stored vectors come from another model");
  }
  if (vectorK === 0) return [];
  return store.searchVectors(await vector(), question.filter, vectorK);
}

/** The memories of the time that a question asks for: too many others may match its few words as well. */
async function searchTime(
  deps: EngineDeps<SearchIndex>,
  question: Question,
  limits: SearchLimits,
): Promise<readonly Hit[]> {
  const { askedTime, filter, texts } = question;
  const [text] = texts;
  if (askedTime === undefined || text === undefined) return [];
  const { eventTimeFrom, eventTimeTo } = filter;
  const from = eventTimeFrom === undefined || eventTimeFrom < askedTime.from;
  const to = eventTimeTo === undefined || eventTimeTo > askedTime.until;
  const within = {
    ...filter,
    eventTimeFrom: from ? askedTime.from : eventTimeFrom,
    eventTimeTo: to ? askedTime.until : eventTimeTo,
  };
  return searchVectors(deps, { ...question, filter: within }, text, limits);
}

function unitedHits(hits: readonly Hit[], more: readonly Hit[]): readonly Hit[] {
  if (more.length === 0) return hits;
  const known = new Set(hits.map(({ key }) => key));
  return [...hits, ...more.filter(({ key }) => !known.has(key))];
}

/** Weight of hits of the whole text of a long question. */
const WHOLE_COUNTS = 0.85;

function counted<Found extends Hit>(hits: readonly Found[], at: number, lists: readonly unknown[]) {
  const isWhole = at === 0 && lists.length > 1;
  return isWhole ? hits.map((hit) => ({ ...hit, score: hit.score * WHOLE_COUNTS })) : hits;
}

/** Hits of several lists, each with its best score, best first. */
function bestOf<Found extends Hit>(lists: readonly (readonly Found[])[]): readonly Found[] {
  const [only = [], ...others] = lists;
  if (others.every((list) => list.length === 0)) return only;
  const best = new Map<NodeKey, Found>();
  for (const hit of lists.flat()) {
    if (hit.score > (best.get(hit.key)?.score ?? Number.NEGATIVE_INFINITY)) best.set(hit.key, hit);
  }
  return [...best.values()].sort((a, b) => b.score - a.score || a.key - b.key);
}

/** The word search of each text; of several, the best coverage counts. */
async function searchTexts(
  { store }: Pick<EngineDeps<SearchIndex>, "store">,
  { texts, filter }: Question,
  searches: Searches,
  k: number,
  others: readonly NodeKey[],
): Promise<readonly TextHit[]> {
  const found: (readonly TextHit[])[] = [];
  for (const { text } of texts) {
    // Searching for many words takes long: yield to other calls.
    if (found.length > 0) await nextTurn();
    found.push(await searches.run("LEXICAL", () => store.searchText(text, filter, k, others)));
  }
  if (found.length === 1) return found.flat();
  const known = found.flat().reduce((most, hit) => Math.max(most, hit.known), 0);
  return bestOf(found.map((hits) => hits.map((hit) => ({ ...hit, score: hit.coverage, known }))));
}

/** `most`: hits of the most frequent word. */
type Scan = { readonly hits: readonly Hit[]; readonly most: number };
const NO_SCAN: Scan = { hits: [], most: 0 };

/** Searches for single words: items to be counted need not resemble the question. */
async function scanWords(
  { store }: EngineDeps<SearchIndex>,
  question: Question,
  searches: Searches,
): Promise<Scan> {
  const hits: Hit[] = [];
  let most = 0;
  for (const term of scanTerms(question.texts.at(-1)?.text ?? "")) {
    const found = await searches.run("LEXICAL_AGG", () =>
      store.searchText(term, question.filter, SCAN_HITS),
    );
    hits.push(...found);
    most = Math.max(most, found.length);
  }
  return { hits, most };
}

function foundOnlyBy({ hits }: Scan, others: readonly (readonly Hit[])[]): readonly NodeKey[] {
  const found = new Set(unique(others));
  return unique([hits]).filter((key) => !found.has(key));
}

function unscored(key: NodeKey): Hit {
  return { key, score: 0 };
}

function unique(lists: readonly (readonly Hit[])[]): NodeKey[] {
  const keys = new Set<NodeKey>();
  for (const list of lists) for (const { key } of list) keys.add(key);
  return [...keys];
}

/** Words that do not describe what is counted. */
const EMPTY_WORDS: ReadonlySet<string> = new Set(
  `how many much total did do does have has the and or in on at to of for with from last past all what list count
  number been was were are is my me few spend spent any some each every a an that this those these it its`.split(
    /\s+/,
  ),
);
const WORDS_MAX = 5;

/** The words, and pairs of adjacent words, to scan for. */
function scanTerms(question: string): readonly string[] {
  const words = (question.toLowerCase().match(/[a-z]{3,}/g) ?? [])
    .filter((word) => !EMPTY_WORDS.has(word))
    .slice(0, WORDS_MAX);
  const pairs = words.slice(1).map((word, index) => `${words[index]} ${word}`);
  return [...new Set([...words, ...pairs])];
}

/** A candidate's search scores: of several questions the largest counts. */
export const CANDIDATE_SIGNALS = [
  "semantic",
  "lexical",
  "coverage",
  "certainty",
  "graph",
] as const satisfies (keyof Candidate)[];

/** A memory that was found, with its signals. */
export type Candidate = {
  readonly key: NodeKey;
  readonly node: KeyedNode["node"];
  readonly paths: readonly CandidatePath[];
  /** Cosine, 0 to 1; undefined without a vector. */
  readonly semantic: number | undefined;
  /** BM25 rescaled over all hits: best 1, weakest 0; undefined without a matching word. */
  readonly lexical: number | undefined;
  /** BM25 as a share of the rarity of all words of the question, 0 to 1. */
  readonly coverage: number | undefined;
  /** How specifically the words point to a few memories, 0 to 1. */
  readonly certainty: number | undefined;
  /** 1, 0.7 or 0.4 by hops from an entity of the question; else 0. */
  readonly graph: number;
};

/** Without repeats. */
export const foundKeys = keptFor(({ hits, scanned }: CandidateSets): readonly NodeKey[] => {
  const keys = unique(Object.values(hits));
  return scanned.length === 0 ? keys : [...new Set([...keys, ...scanned])];
});

type Signals = {
  /** A bit for each path. */
  paths: number;
  semantic: number | undefined;
  lexical: number | undefined;
  coverage: number | undefined;
  graph: number;
};

/** Stage 3: one candidate per active memory, with the union of its paths. */
export function merge(sets: CandidateSets, nodes: readonly KeyedNode[]): Candidate[] {
  const { GRAPH, VECTOR, LEXICAL, PINNED } = sets.hits;
  const byWords = [...LEXICAL, ...sets.completed.LEXICAL];
  const found = new Map<NodeKey, Signals>();
  const of = (key: NodeKey): Signals => {
    let signals = found.get(key);
    if (signals === undefined) {
      const none = undefined;
      signals = { paths: 0, semantic: none, lexical: none, coverage: none, graph: 0 };
      found.set(key, signals);
    }
    return signals;
  };
  for (const list of [VECTOR, sets.completed.VECTOR]) {
    for (const { key, score } of list) of(key).semantic = Math.max(0, score);
  }
  const rescale = rescaled(byWords);
  for (const { key, score, coverage } of byWords) {
    const signals = of(key);
    signals.lexical = rescale(score);
    signals.coverage = Math.fround(Math.min(1, coverage));
  }
  for (const { key, score } of GRAPH) of(key).graph = Math.max(0, score);
  for (const [bit, list] of [GRAPH, VECTOR, LEXICAL, PINNED].entries()) {
    for (const { key } of list) of(key).paths |= 1 << bit;
  }
  for (const key of sets.scanned) of(key).paths |= 1 << PATHS.indexOf("LEXICAL");
  const certainty = certaintyOf(byWords);
  const pathsOf = pathLists();
  return nodes.map(({ key, node }) => {
    const { paths, semantic, lexical, coverage, graph } = of(key);
    const isSaid = lexical !== undefined;
    return {
      key,
      node,
      paths: pathsOf(paths),
      semantic,
      lexical,
      coverage,
      certainty: isSaid ? certainty : undefined,
      graph,
    };
  });
}

const PATHS = ["GRAPH", "VECTOR", "LEXICAL", "PINNED"] as const satisfies CandidatePath[];

/** The paths of a mask; candidates of the same paths share one list. */
function pathLists(): (mask: number) => readonly CandidatePath[] {
  const lists: (readonly CandidatePath[])[] = [];
  return (mask) => (lists[mask] ??= PATHS.filter((_, bit) => mask & (1 << bit)));
}

/** A word said once is indexed in five turns: its own and two on each side. */
const FEW = 5;

/** 1 if all words are known and the best hit is far above the sixth; each share counts from a half, fully from four fifths. */
function certaintyOf(hits: readonly TextHit[]): number {
  const coverages = hits.map(({ coverage }) => coverage).sort((a, b) => b - a);
  const [best = 0, sixth = 0] = [coverages[0], coverages[FEW]];
  const lead = best === 0 ? 0 : 1 - sixth / best;
  return Math.fround(beyondHalf(hits[0]?.known ?? 0) * beyondHalf(lead));
}

/** 0 up to a half, 1 from four fifths, linear in between. */
function beyondHalf(share: number): number {
  return Math.min(1, Math.max(0, (share - 0.5) / 0.3));
}

/** In single precision, like cosines: more digits would only make receipts larger. */
function rescaled(hits: readonly Hit[]): (score: number) => number {
  const values = hits.map(({ score }) => score);
  const min = Math.min(...values);
  const range = Math.max(...values) - min;
  return (score) => (range === 0 ? 1 : Math.fround((score - min) / range));
}

export type FilterRules = {
  readonly mode: RetrievalMode;
  /** Unverified memories below this confidence are excluded, 0 to 1. */
  readonly unverifiedThreshold: number;
  /** Expired memories are excluded. */
  readonly isExpired: (node: MemoryNode) => boolean;
};

/** Stage 4: excludes hypothetical, conditional, doubtful and expired memories, with reasons. */
export function filterEpistemic<T extends { readonly node: MemoryNode }>(
  candidates: readonly T[],
  rules: FilterRules,
): { readonly kept: T[]; readonly excluded: Exclusion[] } {
  const kept: T[] = [];
  const excluded: Exclusion[] = [];
  for (const candidate of candidates) {
    const reason = exclusionReason(candidate.node, rules);
    if (reason === undefined) kept.push(candidate);
    else excluded.push({ nodeId: candidate.node.id, reason, compositeScore: undefined });
  }
  return { kept, excluded };
}

/** `explicit` mode excludes nothing. */
export function exclusionReason(node: MemoryNode, rules: FilterRules): string | undefined {
  if (rules.mode === "explicit") return undefined;
  if (rules.isExpired(node)) return "retention_filtered:expired";
  const { unverifiedThreshold } = rules;
  return epistemicExclusion(node, { unverifiedThreshold, excludesThreshold: false });
}

export type CoverageFacts = {
  /** After expansion, before selection. */
  readonly candidateCount: number;
  readonly selectedCount: number;
  /** What selection dropped. */
  readonly excluded: readonly Pick<Exclusion, "reason">[];
  readonly backendFailures: Readonly<Record<string, string>>;
  readonly candidateLimitPaths: readonly string[];
  readonly bundle: Pick<MemoryBundle, "includedCount" | "excludedIds" | "blankIds" | "folded">;
};

/** How complete the answer to a count or list question can be. */
export function aggregationCoverage(facts: CoverageFacts): Coverage {
  const { bundle, candidateLimitPaths } = facts;
  const dropped = (reason: string) => facts.excluded.some((one) => one.reason === reason);
  const conditions: readonly (readonly [CoverageLimitation, boolean])[] = [
    ["semantic_matching", true],
    ["candidate_limit", candidateLimitPaths.length > 0],
    ["backend_failure", Object.keys(facts.backendFailures).length > 0],
    ["score_floor", dropped("below_threshold")],
    ["result_limit", dropped("result_limit") || dropped("one_sided")],
    ["token_budget", bundle.excludedIds.length > bundle.blankIds.length + bundle.folded.size],
  ];
  const limitations = conditions.filter(([, holds]) => holds).map(([name]) => name);
  return {
    status: statusOf(limitations),
    exhaustive: false,
    candidateCount: facts.candidateCount,
    selectedCount: facts.selectedCount,
    contextCount: bundle.includedCount,
    limitations,
    candidateLimitPaths,
  };
}

function statusOf(limitations: readonly CoverageLimitation[]): Coverage["status"] {
  if (limitations.includes("token_budget")) return "context_limited";
  return limitations.length > 1 ? "candidate_limited" : "semantic_candidates";
}

/** The searches that reached their limit. */
export function pathsAtLimit(
  found: Readonly<Record<string, number>>,
  limits: Readonly<Record<string, number>>,
): readonly string[] {
  return Object.entries(limits)
    .filter(([path, limit]) => limit > 0 && (found[path] ?? 0) >= limit)
    .map(([path]) => path);
}
