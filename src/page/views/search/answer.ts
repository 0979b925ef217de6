import { explainRetrieval, getRetrievalReceipt, retrieve } from "../../client/sdk.gen.ts";
import type { Explanation, RetrievalReceipt, RetrieveRequest } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { sha256 } from "./checks.ts";

/** What is asked, with the conditions of the question. */
export type Question = Pick<
  RetrieveRequest,
  "query" | "limit" | "token_budget" | "scope" | "source_types" | "retrieval_mode" | "knowledge_at"
>;

/** How a context that is shown relates to the one that was sent. */
type Sameness =
  /** It is this answer's own. */
  | "own"
  /** Asked again, the hash is that of the receipt. */
  | "equal"
  /** Asked again, it is another. */
  | "other"
  /** This browser computes no hashes here. */
  | "unchecked";

type Explained = Explanation["in_context"][number];

/** An answer with all that explains it. */
export type Answer = {
  readonly receipt: RetrievalReceipt;
  readonly explanation: Explanation;
  readonly context: { readonly text: string; readonly sameness: Sameness };
  /** Memories in the context whose text is another now, or that are gone, with the text of today. */
  readonly changed: readonly Pick<Explained, "node_id" | "content">[];
  /** What this page asked for it; undefined for one that was asked before. */
  readonly request: RetrieveRequest | undefined;
  /** How long it took; undefined for one that was asked before. */
  readonly ms: number | undefined;
  /** Results that are merely the nearest there are. */
  readonly weak: ReadonlySet<string>;
};

/** Asks, without leaving a receipt: looking must not fill the activity. */
export async function ask(question: Question, userId: string): Promise<Answer> {
  const body = { ...question, user_id: userId, keep_receipt: false, explain: true };
  const { results, bundle, metrics, receipt, explanation } = await answered(retrieve({ body }));
  if (receipt === undefined || explanation === undefined) throw new Error("no explanation came");
  return {
    receipt,
    explanation,
    context: { text: bundle.rendered_context, sameness: "own" },
    changed: [],
    request: body,
    ms: metrics.timing_ms,
    weak: new Set(
      results.flatMap(({ node_id, strength }) => (strength === "weak" ? [node_id] : [])),
    ),
  };
}

/** An answer that was given before, by its receipt, asked again to see whether it is the same. */
export async function replay(requestId: string, userId: string): Promise<Answer> {
  const at = { path: { request_id: requestId }, query: { user_id: userId } };
  const [receipt, explanation] = await Promise.all([
    answered(getRetrievalReceipt(at)),
    answered(explainRetrieval(at)),
  ]);
  const again = await answered(retrieve({ body: requestOf(receipt, userId) }));
  const text = again.bundle.rendered_context;
  const hash = await sha256(text);
  const sameness =
    hash === undefined ? "unchecked" : hash === receipt.context_sha256 ? "equal" : "other";
  return {
    receipt,
    explanation,
    context: { text, sameness },
    changed: sameness === "other" ? await changedSince(receipt, explanation) : [],
    request: undefined,
    ms: undefined,
    weak: new Set(),
  };
}

/** The question of a receipt, word for word, at the time at which it was asked. */
function requestOf(receipt: RetrievalReceipt, userId: string): RetrieveRequest {
  const { parameters } = receipt.execution;
  return {
    query: receipt.query,
    user_id: userId,
    reference_time: receipt.reference_time,
    token_budget: receipt.packing.token_budget,
    limit: receipt.result_limit,
    min_score: receipt.min_score,
    min_fidelity: receipt.packing.min_fidelity,
    retrieval_mode: receipt.retrieval_mode,
    scope: receipt.scopes,
    time_from: receipt.time_from,
    time_to: receipt.time_to,
    knowledge_at: parameters.knowledge_at,
    event_time_from: parameters.event_time_from,
    event_time_to: parameters.event_time_to,
    include_cross_scope: parameters.include_cross_scope,
    max_per_source: parameters.max_per_source,
    max_per_evidence: parameters.max_per_evidence,
    exclude_node_types: parameters.exclude_node_types ?? null,
    source_types: parameters.source_types ?? null,
    ...(parameters.ranking_multipliers === null
      ? {}
      : { ranking_multipliers: parameters.ranking_multipliers }),
    keep_receipt: false,
  };
}

async function changedSince(
  receipt: RetrievalReceipt,
  { in_context }: Explanation,
): Promise<Answer["changed"]> {
  const texts = new Map(in_context.map(({ node_id, content }) => [node_id, content]));
  const changed: Answer["changed"][number][] = [];
  for (const { node_id, content_sha256, in_context: isInside } of receipt.candidates) {
    if (!isInside) continue;
    const content = texts.get(node_id) ?? null;
    if (content === null || (await sha256(content)) !== content_sha256) {
      changed.push({ node_id, content });
    }
  }
  return changed;
}
