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
  readonly failures: Readonly<Partial<Record<Backend, "backend_error" | "embedding_mismatch">>>;
};

/**
 * Stage 2: asks the indexes, in parallel, with every filter inside the search.
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
      failures[backend] = "backend_error";
      deps.warn(`retrieve: the ${backend} search failed (${reasonCode(error)})`);
      return [];
    }
  };
  if (!comparable) failures.VECTOR = "embedding_mismatch";
  const [vector, lexical] = await Promise.all([
    attempt("VECTOR", async () => {
      if (!comparable || vectorK === 0 || request.query.trim() === "") return [];
      const question = await deps.embedder.embedQuery(request.query);
      return deps.store.searchVectors(question, request.filter, vectorK);
    }),
    attempt("LEXICAL", () => deps.store.searchText(request.query, request.filter, lexicalK)),
  ]);
  return { hits: { VECTOR: vector, LEXICAL: lexical }, failures };
}
