import { SvcError } from "../../domain/errors.ts";
import type { ContextFormat } from "../../domain/records/packing.ts";
import type { Json, JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import {
  type AnswerabilityAction,
  type AnswerabilityVerdict,
  type AnswerRequirement,
  REQUIREMENT_STATUSES,
  type RequirementStatus,
} from "./api.ts";

export type StatedRequirement = {
  readonly requirement: string;
  readonly status: RequirementStatus;
  readonly evidenceRefs: readonly string[];
  readonly explanation: string;
};

export type StatedAnswer = {
  readonly requirements: readonly StatedRequirement[];
  readonly reasoning: string;
};

/** Requirements with checked citations, and the errors found in them. */
export type CheckedRequirements = {
  readonly requirements: readonly AnswerRequirement[];
  readonly citationErrors: readonly string[];
};

/** What may be cited: from reference to memory. */
export type References = ReadonlyMap<string, Uuid>;

/** @throws SvcError model_failed if the model's answer does not have the requested form */
export function parseStatedAnswer({ requirements, reasoning }: JsonObject): StatedAnswer {
  if (!Array.isArray(requirements) || requirements.length === 0 || typeof reasoning !== "string") {
    throw misshapen();
  }
  return { requirements: requirements.map(parseRequirement), reasoning };
}

function parseRequirement(entry: Json): StatedRequirement {
  if (entry === null || typeof entry !== "object" || !("requirement" in entry)) throw misshapen();
  const { requirement, status, evidence_refs: refs, explanation } = entry;
  const known = REQUIREMENT_STATUSES.find((member) => member === status);
  const isText = (ref: Json): ref is string => typeof ref === "string";
  if (
    typeof requirement !== "string" ||
    typeof explanation !== "string" ||
    known === undefined ||
    !Array.isArray(refs) ||
    !refs.every(isText)
  ) {
    throw misshapen();
  }
  return { requirement, status: known, evidenceRefs: refs, explanation };
}

function misshapen(): SvcError {
  return new SvcError("model_failed", "the language model's assessment has not the form asked for");
}

/**
 * Keeps for each requirement only citations of existing records, each memory once. A status that its citations do not justify
 * (one for `supported`, two memories for `conflicting`) becomes `unsupported`. Pure.
 */
export function checkRequirements(
  stated: readonly StatedRequirement[],
  references: References,
  format: ContextFormat,
): CheckedRequirements {
  const citationErrors: string[] = [];
  const requirements = stated.map((requirement, at) => {
    const report = (problem: string): void => {
      citationErrors.push(`requirement ${at + 1}: ${problem}`);
    };
    return checkRequirement(requirement, references, format, report);
  });
  return { requirements, citationErrors };
}

function checkRequirement(
  { requirement, status, evidenceRefs, explanation }: StatedRequirement,
  references: References,
  format: ContextFormat,
  report: (problem: string) => void,
): AnswerRequirement {
  const cited = new Map<Uuid, string>();
  for (const given of evidenceRefs) {
    const reference = normalized(given, format);
    const id = references.get(reference);
    if (id === undefined) report(`${JSON.stringify(reference)} is no record of the context`);
    else if (cited.has(id)) report(`${JSON.stringify(reference)} is cited more than once`);
    else cited.set(id, reference);
  }
  const needed = { supported: 1, conflicting: 2, unsupported: 0 }[status];
  if (cited.size < needed) report(`${status} with ${cited.size} of ${needed} records`);
  return {
    requirement,
    status: cited.size < needed ? "unsupported" : status,
    evidenceRefs: [...cited.values()],
    evidenceIds: [...cited.keys()],
    explanation,
  };
}

function normalized(reference: string, format: ContextFormat): string {
  const trimmed = reference.trim();
  const bracketed = format === "reader" ? /^\[(.*)\]$/s.exec(trimmed) : null;
  return bracketed?.[1]?.trim() ?? trimmed;
}

/** The verdict that follows from the requirements; `insufficient` without any. Pure. */
export function verdictOf(requirements: readonly Pick<AnswerRequirement, "status">[]): {
  readonly verdict: AnswerabilityVerdict;
  readonly recommendedAction: AnswerabilityAction;
} {
  const count = (wanted: RequirementStatus): number =>
    requirements.filter(({ status }) => status === wanted).length;
  if (count("conflicting") > 0) {
    return { verdict: "conflicting", recommendedAction: "surface_conflict" };
  }
  const supported = count("supported");
  if (supported === 0) return { verdict: "insufficient", recommendedAction: "abstain" };
  return supported === requirements.length
    ? { verdict: "answerable", recommendedAction: "answer" }
    : { verdict: "partial", recommendedAction: "answer_partially" };
}
