import type { EpistemicType, LifecycleState, SourceType } from "../../domain/enums.ts";
import { constant, flag, list, member, nullable, object, text, uuid } from "../../lib/form.ts";
import type { Instant } from "../../lib/instant.ts";
import type { ValueOf } from "../../lib/view.ts";
import type { Entailment } from "../../ports/text-pairs.ts";
import type { MemoryBundle } from "../retrieve/api.ts";

/** Input of the checks of evidence, their settings, and their results. */

/** How the language model of the answerability check is asked. */
export type AnswerabilitySettings = {
  /** Part of the record of a check; undefined: the provider's own. */
  readonly baseUrl: string | undefined;
  /** Retries if an answer does not have the requested form, 0 to 10. */
  readonly maxRetries: number;
  /** Milliseconds for the whole check. */
  readonly timeoutMs: number;
  /** 0 to 2. */
  readonly temperature: number;
  /** Undefined: not sent. */
  readonly reasoningEffort: "none" | "low" | "medium" | "high" | undefined;
};

export const REQUIREMENT_STATUSES = ["supported", "unsupported", "conflicting"] as const;
export type RequirementStatus = (typeof REQUIREMENT_STATUSES)[number];

/** One of the smallest facts that an answer needs. */
const requirement = object({
  requirement: text,
  status: member(REQUIREMENT_STATUSES),
  /** As written in the context: `m3`, or full ids in the auditable format. */
  evidenceRefs: list(text),
  /** The memories they refer to, in the same order. */
  evidenceIds: list(uuid),
  explanation: text,
});
export type AnswerRequirement = ValueOf<typeof requirement>;

/** What is hashed of an assessment. Every hash is SHA-256, 64 hexadecimal digits. */
export const assessmentForm = object({
  schemaVersion: constant(1),
  verdict: member(["answerable", "partial", "insufficient", "conflicting"]),
  recommendedAction: member(["answer", "answer_partially", "abstain", "surface_conflict"]),
  requirements: list(requirement),
  /** The requirements without support. */
  missingInformation: list(text),
  /** The requirements on which memories disagree. */
  conflicts: list(text),
  citationErrors: list(text),
  reasoning: text,
  provider: text,
  model: text,
  promptVersion: text,
  promptSha256: text,
  /** Of the settings, without the key. */
  configurationSha256: text,
  /** False for a context with nothing to cite. */
  modelCalled: flag,
  querySha256: text,
  contextSha256: text,
  answerSha256: nullable(text),
  /** Hash of the hashes of all inputs: equal for equal checks. */
  evaluationId: text,
});

/** Whether a context contains what an answer needs. */
export type AnswerabilityAssessment = ValueOf<typeof assessmentForm> & {
  /** The recommended action is to abstain or to point out a conflict. */
  readonly shouldAbstain: boolean;
  /** Hash of the canonical record without this member. */
  readonly assessmentSha256: string;
};
export type AnswerabilityVerdict = AnswerabilityAssessment["verdict"];
export type AnswerabilityAction = AnswerabilityAssessment["recommendedAction"];

/** How claims are verified. */
export type ClaimSettings = {
  /** Requested branch, tag or commit. */
  readonly revision: string | undefined;
  /** 0.5 to 1. */
  readonly entailmentThreshold: number;
  readonly contradictionThreshold: number;
  /** Pairs per call of the model, 1 to 256. */
  readonly batchSize: number;
  /** Maximum evidence of one check, 1 to 256. */
  readonly maxEvidence: number;
  /** Memories that may support or refute a claim together, 1 to 3. */
  readonly maxGroupSize: number;
  /** Best pieces of evidence that are combined, 2 to 16. */
  readonly groupCandidateLimit: number;
  /** `speech_act_guarded`: a plan, wish or question supports no statement of fact. */
  readonly entailmentPolicy: "speech_act_guarded" | "model_only";
  /** `explicit_corroboration`: the wording must show the contradiction that the model sees. */
  readonly refutationPolicy: "explicit_corroboration" | "model_only";
};

/** One piece of evidence. */
export type Evidence = {
  /** The caller's name for it; no two are equal. */
  readonly reference: string;
  readonly memoryId: string;
  readonly text: string;
  readonly sourceType?: SourceType | undefined;
  readonly epistemicType?: EpistemicType | undefined;
  readonly lifecycleState?: LifecycleState | undefined;
  readonly eventTime?: Instant | undefined;
  readonly validFrom?: Instant | undefined;
  readonly validTo?: Instant | undefined;
};

export type VerifyClaimOptions = {
  /** The claim is about a complete list or a count, which no single record can prove. Default false. */
  readonly requiresCompleteSet?: boolean | undefined;
};

export type VerifyBundleOptions = VerifyClaimOptions & {
  /** The records to examine, in this order. Default: all that can be cited, in the order of the context. */
  readonly evidenceRefs?: readonly string[] | undefined;
};

export type ClaimStatus = "supported" | "refuted" | "contested" | "insufficient" | "incomplete";

export type ClaimLimitation =
  | "complete_set_requires_structured_aggregation"
  | "uncorroborated_model_entailment"
  | "uncorroborated_model_contradiction";

export type SupportingBasis = "model_entailment" | "localized_model_entailment";
export type RefutingBasis = "model_contradiction" | "explicit_negation_overlap";

/** Evidence that was read together. */
export type EvidenceGroup = {
  readonly references: readonly string[];
  readonly memoryIds: readonly string[];
};

export type GroupScore = EvidenceGroup & Entailment;

/** A second reading of the parts of the evidence that may support the claim. */
export type LocalizedAssessment = EvidenceGroup & {
  /** From 1, over all segments of the group. */
  readonly includedSegmentNumbers: readonly number[];
  /** Undefined if nothing was left to read. */
  readonly premiseSha256: string | undefined;
  readonly modelCalled: boolean;
  /** Undefined without a call. */
  readonly scores: Entailment | undefined;
};

/** Result of checking evidence against a claim. Every hash is SHA-256, 64 hexadecimal digits. */
export type ClaimVerification = {
  readonly schemaVersion: 3;
  readonly claim: string;
  readonly status: ClaimStatus;
  readonly supportingGroup: EvidenceGroup | undefined;
  readonly refutingGroup: EvidenceGroup | undefined;
  readonly supportingBasis: SupportingBasis | undefined;
  readonly refutingBasis: RefutingBasis | undefined;
  /** Each piece of evidence alone, then the groups, in the order in which they were read. */
  readonly groupScores: readonly GroupScore[];
  readonly localizedAssessments: readonly LocalizedAssessment[];
  /** In a fixed order, without duplicates. */
  readonly limitations: readonly ClaimLimitation[];
  readonly model: string;
  readonly requestedRevision: string | undefined;
  /** The version of the weights, as far as known. */
  readonly resolvedRevision: string | undefined;
  readonly modelCalled: boolean;
  readonly configurationSha256: string;
  readonly claimSha256: string;
  readonly evidenceSha256: string;
  /** Hash of the hashes of all inputs: equal for equal checks. */
  readonly evaluationId: string;
  /** Hash of the canonical record without this member. */
  readonly resultSha256: string;
};

export type AnswerabilityInput = {
  readonly query: string;
  readonly bundle: MemoryBundle;
  /** A draft, whose statements are checked as well. */
  readonly answer?: string | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Checks of a context, and of claims against it. */
export type VerifyMethods = {
  /**
   * Whether the context of a retrieval contains what an answer needs, according to a language model. Needs a context whose
   * records can be cited (`packing.context_citations`).
   * @throws SvcError unsupported without such a model in the settings; model_failed; model_timeout
   */
  assessAnswerability(input: AnswerabilityInput): Promise<AnswerabilityAssessment>;
  /**
   * Whether evidence supports or refutes a claim, according to a local model.
   * @throws SvcError unsupported without such a model in the settings; model_failed
   */
  verifyClaim(
    claim: string,
    evidence: readonly Evidence[],
    options?: VerifyClaimOptions,
  ): Promise<ClaimVerification>;
  /** The same with the records of a context as evidence; they must be citable. */
  verifyBundle(
    claim: string,
    bundle: MemoryBundle,
    options?: VerifyBundleOptions,
  ): Promise<ClaimVerification>;
};
