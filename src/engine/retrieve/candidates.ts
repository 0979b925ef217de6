import { reasonCode } from "../../domain/errors.ts";
import type { Hit } from "../../ports/store.ts";
import type { EngineDeps } from "../deps.ts";
import type { RetrievalRequest } from "./request.ts";

/** The searches that find candidates. */
export const BACKENDS = ["VECTOR", "LEXICAL"] as const;
export type Backend = (typeof BACKENDS)[number];

/** What each search found, and which of them failed. */
export type CandidateSets = {
  readonly hits: Readonly<Record<Backend, readonly Hit[]>>;
  /** The score that each search gives to what only the other one found. */
  readonly completed: Readonly<Record<Backend, readonly Hit[]>>;
  readonly failures: Readonly<Partial<Record<Backend, "backend_error" | "embedding_mismatch">>>;
};

/**
 * Stage 2: asks the indexes, with every filter inside the search. What one search found and the other ranks below its
 * own list gets the other's score too: a memory that both think well of beats one that a single list happens to hold.
 * A search that fails is reported and the answer is made from the others.
 * @param comparable false when the configured model's vectors cannot be compared with the pack's
 */
export async function generateCandidates(
  deps: EngineDeps,
  request: RetrievalRequest,
  comparable: boolean,
): Promise<CandidateSets> {
  const { vectorK, lexicalK } = deps.settings.packing;
  const failures: Partial<Record<Backend, "backend_error" | "embedding_mismatch">> = {};
  const attempt = async (backend: Backend, search: () => Promise<readonly Hit[]>) => {
    try {
      return await search();
    } catch (error) {
      // The cause may hold memory text; its category is all that leaves this place.
      const reason = reasonCode(error);
      failures[backend] = reason === "embedding_mismatch" ? reason : "backend_error";
      deps.warn(`retrieve: the ${backend} search failed (${reason})`);
      return [];
    }
  };
  if (!comparable) failures.VECTOR = "embedding_mismatch";
  const { store, embedder } = deps;
  const { query, filter } = request;
  let question: Float32Array | undefined;
  const vector = await attempt("VECTOR", async () => {
    if (!comparable || vectorK === 0) return [];
    question = await embedder.embedQuery(query);
    return store.searchVectors(question, filter, vectorK);
  });
  const found = new Set(vector.map(({ key }) => key));
  const lexical = await attempt("LEXICAL", () =>
    store.searchText(query, filter, lexicalK, [...found]),
  );
  const missing = lexical.map(({ key }) => key).filter((key) => !found.has(key));
  const cosines = await attempt("VECTOR", async () =>
    question === undefined ? [] : store.cosines(question, filter.userId, missing),
  );
  return {
    hits: { VECTOR: vector, LEXICAL: lexical.slice(0, lexicalK) },
    completed: { VECTOR: cosines, LEXICAL: lexical.slice(lexicalK) },
    failures,
  };
}
