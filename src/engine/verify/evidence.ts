import { parseOptionalMember, parseText } from "../../domain/arguments.ts";
import { EPISTEMIC_TYPES, LIFECYCLE_STATES, SOURCE_TYPES } from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import type { MemoryBundle } from "../retrieve/api.ts";
import type { Evidence } from "./api.ts";
import { citableRecords } from "./citable.ts";

/**
 * Checked evidence.
 * @throws SvcError invalid_argument for too much of it, for duplicate references or memories, and for blank ones
 */
export function parseEvidence(evidence: readonly Evidence[], max: number): readonly Evidence[] {
  if (evidence.length > max) {
    throw invalid(
      "evidence",
      `${evidence.length} pieces are more than ${max}; choose the ones to look at`,
    );
  }
  const parsed = evidence.map(parsePiece);
  for (const member of ["reference", "memoryId"] as const) {
    const twice = repeated(parsed.map((piece) => piece[member]));
    const what = member === "reference" ? "reference" : "memory";
    if (twice !== undefined) {
      throw invalid("evidence", `holds the ${what} ${JSON.stringify(twice)} twice`);
    }
  }
  return parsed;
}

function parsePiece(piece: Evidence): Evidence {
  const field = "evidence";
  const reference = parseText(piece.reference, `${field}.reference`);
  const memoryId = parseText(piece.memoryId, `${field}.memory_id`);
  if (reference.trim() === "") throw invalid(`${field}.reference`, "must not be blank");
  if (memoryId.trim() === "") throw invalid(`${field}.memory_id`, "must not be blank");
  parseText(piece.text, `${field}.text`);
  parseOptionalMember(SOURCE_TYPES, piece.sourceType, `${field}.source_type`);
  parseOptionalMember(EPISTEMIC_TYPES, piece.epistemicType, `${field}.epistemic_type`);
  parseOptionalMember(LIFECYCLE_STATES, piece.lifecycleState, `${field}.lifecycle_state`);
  return piece;
}

function repeated(values: readonly string[]): string | undefined {
  return values.find((value, at) => values.indexOf(value) < at);
}

/**
 * The records of a context as evidence, as rendered there; `refs` selects and orders them.
 * @throws SvcError invalid_argument for an unknown reference, and for a context whose records cannot be cited
 */
export function bundleEvidence(
  bundle: MemoryBundle,
  refs: readonly string[] | undefined,
): readonly Evidence[] {
  const citable = new Map(
    citableRecords(bundle).map(({ reference, record }) => {
      const { node } = record.candidate;
      const evidence: Evidence = {
        reference,
        memoryId: node.id,
        text: record.renderedText,
        sourceType: node.sourceType,
        epistemicType: node.epistemicType,
        lifecycleState: node.lifecycleState,
        eventTime: node.eventTime,
        validFrom: node.validFrom,
        validTo: node.validTo,
      };
      return [reference, evidence];
    }),
  );
  return (refs ?? [...citable.keys()]).map((reference) => {
    const evidence = citable.get(reference);
    if (evidence !== undefined) return evidence;
    throw invalid(
      "evidence_refs",
      `${JSON.stringify(reference)} is no citable record of the context`,
    );
  });
}
