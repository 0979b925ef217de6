import type { CandidateFilter } from "../../domain/candidate-filter.ts";
import { reasonCode, SvcError } from "../../domain/errors.ts";
import type { PackingSettings } from "../../domain/records/packing.ts";
import { PINS_MAX } from "../../domain/search/pins.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Hit, NodeKey, SearchIndex, TextHit } from "../../ports/store/search-index.ts";
import type { EngineDeps } from "../deps.ts";
import { pathsAtLimit } from "./coverage.ts";
import { scanTerms } from "./scan-terms.ts";

/** The searches that find candidates, in the order in which they are reported. */
export const BACKENDS = ["GRAPH", "VECTOR", "LEXICAL", "PINNED"] as const;
export type Backend = (typeof BACKENDS)[number];

/** Why a search returned nothing. */
export type SearchFailure = "backend_error" | "embedding_mismatch";

/** How many candidates each search may return. */
export type SearchLimits = {
  readonly vectorK: number;
  readonly lexicalK: number;
  readonly graphK: number;
  readonly graphHops: number;
  /** Whether pinned memories and open tasks are included, whatever the question. */
  readonly pins: boolean;
};

/** What is searched for by words and by meaning. */
export type SearchedText = {
  readonly text: string;
  /** Its vector; computed at most once. */
  readonly vector: () => Promise<Float32Array>;
};

/** Input of the searches. */
export type Question = {
  /** The question, and of a long one also what it asks: a memory counts by the text that it suits best. */
  readonly texts: readonly SearchedText[];
  /** Names and quoted texts of the question. */
  readonly entities: readonly string[];
  readonly isAggregation: boolean;
  readonly filter: CandidateFilter;
  /** False if the vectors of the configured model cannot be compared with the pack's. */
  readonly comparable: boolean;
};

/** What the searches found, and which of them failed. */
export type CandidateSets = {
  readonly hits: Readonly<Record<Exclude<Backend, "LEXICAL">, readonly Hit[]>> & {
    readonly LEXICAL: readonly TextHit[];
  };
  /** Found only by a word or pair of words of a question for a count or list. */
  readonly scanned: readonly NodeKey[];
  /** The score that either search gives to what only others found. */
  readonly completed: {
    readonly VECTOR: readonly Hit[];
    readonly LEXICAL: readonly TextHit[];
  };
  readonly failures: Readonly<Partial<Record<Backend | "LEXICAL_AGG", SearchFailure>>>;
  /** Searches that reached their limit. */
  readonly atLimit: readonly string[];
};

/** Hits of each word of a scan. */
const SCAN_HITS = 50;

/** Limits of a question; one that asks for a count or a complete list searches further. */
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

/**
 * Stage 2: queries graph, vectors, words and pins, with every filter inside the search. What one of them found gets the scores of
 * the others too: a memory that both rankings rate well beats one that merely happens to be on a single list. A failed search is
 * reported, and the answer is made from the others.
 */
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
  // These need no vector, so they run while the model embeds the question.
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
  const near = bestOf(nearest.map(counted)).slice(0, limits.vectorK);
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
  const found = new Set(unique([vector, byWords, graph, pinned]));
  return {
    hits: { GRAPH: graph, VECTOR: vector, LEXICAL: byWords, PINNED: pinned },
    scanned: unique([scan.hits]).filter((key) => !found.has(key)),
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

/** Runs searches and remembers which ones failed. */
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
      // The cause may contain memory text; only its category leaves this place.
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

/** What hits of the whole of a long question count beside those of what it asks. */
const WHOLE_COUNTS = 0.85;

function counted<Found extends Hit>(hits: readonly Found[], at: number, lists: readonly unknown[]) {
  const isWhole = at === 0 && lists.length > 1;
  return isWhole ? hits.map((hit) => ({ ...hit, score: hit.score * WHOLE_COUNTS })) : hits;
}

/** Hits of several lists, each with its best score, best first; those of one list as they are. */
function bestOf<Found extends Hit>(lists: readonly (readonly Found[])[]): readonly Found[] {
  const [only = [], ...others] = lists;
  if (others.every((list) => list.length === 0)) return only;
  const best = new Map<NodeKey, Found>();
  for (const hit of lists.flat()) {
    if (hit.score > (best.get(hit.key)?.score ?? Number.NEGATIVE_INFINITY)) best.set(hit.key, hit);
  }
  return [...best.values()].sort((a, b) => b.score - a.score || a.key - b.key);
}

/** The word search of each text; of several, a memory counts by the largest share of one that it explains. */
async function searchTexts(
  { store }: Pick<EngineDeps<SearchIndex>, "store">,
  { texts, filter }: Question,
  searches: Searches,
  k: number,
  others: readonly NodeKey[],
): Promise<readonly TextHit[]> {
  const found: (readonly TextHit[])[] = [];
  for (const { text } of texts) {
    // To search for many words takes a while: others come in between.
    if (found.length > 0) await nextTurn();
    found.push(await searches.run("LEXICAL", () => store.searchText(text, filter, k, others)));
  }
  if (found.length === 1) return found.flat();
  const known = found.flat().reduce((most, hit) => Math.max(most, hit.known), 0);
  return bestOf(found.map((hits) => hits.map((hit) => ({ ...hit, score: hit.coverage, known }))));
}

/** @property most the number of hits of the most frequent word */
type Scan = { readonly hits: readonly Hit[]; readonly most: number };
const NO_SCAN: Scan = { hits: [], most: 0 };

/** Searches for each word of a question by itself: what is to be counted need not resemble the whole question. */
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

function unscored(key: NodeKey): Hit {
  return { key, score: 0 };
}

function unique(lists: readonly (readonly Hit[])[]): NodeKey[] {
  return [...new Set(lists.flat().map(({ key }) => key))];
}
