import { QUERY_INTENTS } from "../../domain/enums.ts";
import { type RetrievalReceipt, receiptForm } from "../../domain/records/receipt.ts";
import {
  count,
  decimal,
  dictionary,
  type Form,
  FormError,
  flag,
  instant,
  list,
  member,
  nullable,
  object,
  omitted,
  text,
  uuid,
} from "../../lib/form.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Json } from "../../lib/json.ts";
import { CANDIDATE_PATHS, type SectionName } from "../retrieve/api.ts";
import {
  type FilteredOut,
  type NotPacked,
  PACKING_REASONS,
  type RetrievalRecord,
  type SelectedOut,
} from "./api.ts";

/** Every section of a context. */
export const SECTION_NAMES = [
  "entity_snapshots",
  "stable_facts",
  "recent_decisions",
  "active_tasks",
  "provenance_refs",
  "contested_claims",
  "system_instructions",
  "summaries",
] as const satisfies readonly SectionName[];

const OUTCOMES = ["applied", "timeout", "failed"] as const;

/** What stands beside a receipt, in the same form. */
export const recordForm: Form<RetrievalRecord> = object<RetrievalRecord>({
  intent: member(QUERY_INTENTS),
  queryTimeFrom: nullable(instant),
  queryTimeTo: nullable(instant),
  candidatesGenerated: dictionary(count),
  candidatesFiltered: count,
  candidatesIncluded: count,
  backendsUsed: list(text),
  embeddingMismatch: flag,
  backendFailures: dictionary(text),
  reranker: nullable(member(OUTCOMES)),
  reformulation: nullable(member(OUTCOMES)),
  tokensUsed: count,
  scoringConfigVersion: text,
  crossScopeHintCount: count,
  paths: list(list(member(CANDIDATE_PATHS))),
  context: list(
    object<RetrievalRecord["context"][number]>({ nodeId: uuid, section: member(SECTION_NAMES) }),
  ),
  notPacked: list(
    object<NotPacked>({
      nodeId: uuid,
      reason: member(PACKING_REASONS),
      foldedInto: nullable(uuid),
    }),
  ),
  filteredOut: list(object<FilteredOut>({ nodeId: uuid, reason: text })),
  selectedOut: list(
    object<SelectedOut>({
      nodeId: uuid,
      reason: text,
      score: decimal,
      semanticRelevance: omitted(decimal),
    }),
  ),
});

/** A receipt as canonical JSON. @throws FormError for a number that JSON does not have */
export function receiptText(receipt: RetrievalReceipt): string {
  return JSON.stringify(receiptForm.json(receipt));
}

/** SHA-256 of canonical JSON, 64 lower-case hex digits: what a receipt is known by. */
export function receiptChecksum(canonical: string): string {
  return sha256Hex(canonical);
}

/**
 * Reads canonical JSON: no key too many or too few, none out of place, no number written otherwise.
 * @throws FormError naming the place
 */
export function parseReceipt(canonical: string): RetrievalReceipt {
  const receipt = receiptForm.read(parseJson(canonical), "receipt");
  if (receiptText(receipt) !== canonical) throw new FormError("receipt: is not canonical");
  return receipt;
}

function parseJson(json: string): Json {
  try {
    return JSON.parse(json);
  } catch {
    throw new FormError("receipt: is not JSON");
  }
}
