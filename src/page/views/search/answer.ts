import { provenanceForm, type ScoreProvenance } from "../../../domain/records/score.ts";
import { replayScore, type ScoreParts, scoreParts } from "../../../domain/score-replay.ts";
import { FormError } from "../../../lib/form.ts";
import type { Json } from "../../../lib/json.ts";
import { explainRetrieval, getRetrievalReceipt, retrieve } from "../../client/sdk.gen.ts";
import type {
  Explanation,
  RetrievalReceipt,
  RetrieveRequest,
  RetrieveResponse,
} from "../../client/types.gen.ts";
import { hexOf } from "../../data/changes.ts";
import { answered } from "../../data/http.ts";
import { words } from "../../parts/format.ts";

export type Question = Pick<
  RetrieveRequest,
  "query" | "limit" | "token_budget" | "scope" | "source_types" | "retrieval_mode" | "knowledge_at"
>;

type Sameness = "own" | "equal" | "other" | "unchecked";

type Explained = Explanation["in_context"][number];

export type Answer = {
  readonly receipt: RetrievalReceipt;
  readonly explanation: Explanation;
  readonly context: { readonly text: string; readonly sameness: Sameness };
  /** Memories in the context whose text has changed since, or that are gone, with the current text; a lean receipt does not show this. */
  readonly changed: readonly Pick<Explained, "node_id" | "content">[];
  /** The page's own request; undefined for an earlier answer. */
  readonly request: RetrieveRequest | undefined;
  readonly ms: number | undefined;
  /** Results that are merely the nearest ones. */
  readonly weak: ReadonlySet<string>;
  /** What has become of results since the moment as of which was asked. */
  readonly became: ReadonlyMap<string, string>;
};

/** Asks without keeping a receipt: browsing must not fill the activity log. */
export async function ask(question: Question, userId: string): Promise<Answer> {
  const body = {
    ...question,
    limit: question.limit ?? 0,
    user_id: userId,
    keep_receipt: false,
    explain: true,
  };
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
    became: becameOf(results),
  };
}

function becameOf(results: RetrieveResponse["results"]): Answer["became"] {
  const names: Readonly<Record<string, string>> = words.state;
  const told = results.map(({ node_id, became }) => [node_id, became?.state] as const);
  return new Map(told.flatMap(([id, state]) => (state ? [[id, names[state] ?? state]] : [])));
}

/** An earlier answer, asked again from its receipt to see whether it is the same. */
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
    changed:
      sameness === "other" && receipt.detail !== "lean"
        ? await changedSince(receipt, explanation)
        : [],
    request: undefined,
    ms: undefined,
    weak: new Set(),
    became: becameOf(again.results),
  };
}

/** A receipt's question, verbatim, as of the time when it was asked. */
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

/** SHA-256 in 64 hex digits; undefined if the browser does not support it, as on a network address without TLS. */
async function sha256(text: string): Promise<string | undefined> {
  // The type claims that it always exists.
  const subtle: SubtleCrypto | undefined = crypto.subtle;
  if (subtle === undefined) return undefined;
  const digest = await subtle.digest("SHA-256", new TextEncoder().encode(text));
  return hexOf(new Uint8Array(digest));
}

export type Checked = {
  /** Whether the receipt is unchanged; undefined if that cannot be computed. */
  readonly isChecksumRight: boolean | undefined;
  /** Scores that differ from their records; 0: all are equal, to the last bit; undefined: a lean receipt has no records. */
  readonly wrongScores: number | undefined;
};

/** Scores recomputed before yielding. */
const SLICE = 50;

/** Recomputes the checksum and all scores, a few at a time, while the answer is already shown. */
export async function check({ checksum, ...receipt }: RetrievalReceipt): Promise<Checked> {
  const wrongScores = receipt.detail === "lean" ? undefined : await wrongScoresIn(receipt);
  const hash = await sha256(JSON.stringify(receipt));
  return { isChecksumRight: hash === undefined ? undefined : hash === checksum, wrongScores };
}

async function wrongScoresIn(receipt: Omit<RetrievalReceipt, "checksum">): Promise<number> {
  const { candidates } = receipt;
  let wrongScores = 0;
  for (let from = 0; from < candidates.length; from += SLICE) {
    await new Promise((resolve) => setTimeout(resolve));
    wrongScores += candidates.slice(from, from + SLICE).filter(({ node_id, score }) => {
      const provenance = provenanceOf(receipt, node_id);
      return provenance === undefined || !Object.is(replayScore(provenance), score);
    }).length;
  }
  return wrongScores;
}

/** The record of a memory's score, parsed as strictly as by the engine; undefined if unreadable. */
export function provenanceOf(
  { score_provenance }: Pick<RetrievalReceipt, "score_provenance">,
  id: string,
): ScoreProvenance | undefined {
  try {
    // SAFETY: it was received as JSON.
    return provenanceForm.read(score_provenance?.[id] as unknown as Json, id);
  } catch (error) {
    if (error instanceof FormError) return undefined;
    throw error;
  }
}

export type ScoreBar = ScoreParts & {
  readonly shares: readonly {
    readonly signal: string;
    readonly share: number;
    readonly isWeak: boolean;
  }[];
  readonly takenOff: number;
};

/** Below this a signal says hardly anything, whatever its rank contributes. */
const WEAK = 0.1;

export function barOf(provenance: ScoreProvenance, isNearestOnly: boolean): ScoreBar {
  const taken = scoreParts(provenance);
  const sum = taken.parts.reduce((total, { amount }) => total + amount, 0);
  const scale = sum > 0 ? taken.score / sum : 0;
  return {
    ...taken,
    shares: taken.parts.map(({ signal, amount }) => ({
      signal,
      share: amount * scale,
      isWeak:
        (signal === "lexical" && provenance.trace.lexicalRelevance < WEAK) ||
        (signal === "semantic" && isNearestOnly),
    })),
    takenOff: Math.max(0, sum - taken.score),
  };
}

const SEARCH_SEARCHES: Readonly<Record<string, string>> = {
  VECTOR: "meaning",
  LEXICAL: "words",
  GRAPH: "graph",
  PINNED: "pinned",
};

export const nameOf = (search: string): string => SEARCH_SEARCHES[search] ?? search.toLowerCase();
