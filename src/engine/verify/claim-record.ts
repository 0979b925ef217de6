import { sha256Hex } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import type {
  ClaimSettings,
  ClaimVerification,
  Evidence,
  EvidenceGroup,
  LocalizedAssessment,
} from "./api.ts";
import { recordSha256 } from "./hashes.ts";

/** The hashes of the inputs of a check. */
export type ClaimHashes = Pick<
  ClaimVerification,
  "configurationSha256" | "claimSha256" | "evidenceSha256" | "evaluationId"
>;

export function claimHashes(input: {
  readonly claim: string;
  readonly evidence: readonly Evidence[];
  readonly requiresCompleteSet: boolean;
  readonly model: string;
  readonly settings: ClaimSettings;
}): ClaimHashes {
  const { settings } = input;
  const configurationSha256 = recordSha256({
    model: input.model,
    requested_revision: settings.revision ?? null,
    entailment_threshold: settings.entailmentThreshold,
    contradiction_threshold: settings.contradictionThreshold,
    batch_size: settings.batchSize,
    max_evidence: settings.maxEvidence,
    max_group_size: settings.maxGroupSize,
    group_candidate_limit: settings.groupCandidateLimit,
    entailment_policy: settings.entailmentPolicy,
    refutation_policy: settings.refutationPolicy,
  });
  const claimSha256 = sha256Hex(input.claim);
  const evidenceSha256 = recordSha256({ evidence: input.evidence.map(evidenceRecord) });
  const evaluationId = recordSha256({
    schema_version: 3,
    configuration_sha256: configurationSha256,
    claim_sha256: claimSha256,
    evidence_sha256: evidenceSha256,
    requires_complete_set: input.requiresCompleteSet,
  });
  return { configurationSha256, claimSha256, evidenceSha256, evaluationId };
}

function evidenceRecord(evidence: Evidence): JsonObject {
  return {
    reference: evidence.reference,
    memory_id: evidence.memoryId,
    text: evidence.text,
    source_type: evidence.sourceType ?? null,
    epistemic_type: evidence.epistemicType ?? null,
    lifecycle_state: evidence.lifecycleState ?? null,
    event_time: evidence.eventTime ?? null,
    valid_from: evidence.validFrom ?? null,
    valid_to: evidence.validTo ?? null,
  };
}

/** A verification as it is stored and hashed: snake_case names, null for absent values. Pure. */
export function verificationRecord(result: Omit<ClaimVerification, "resultSha256">): JsonObject {
  return {
    schema_version: result.schemaVersion,
    claim: result.claim,
    status: result.status,
    supporting_group: optionalGroup(result.supportingGroup),
    refuting_group: optionalGroup(result.refutingGroup),
    supporting_basis: result.supportingBasis ?? null,
    refuting_basis: result.refutingBasis ?? null,
    group_scores: result.groupScores.map((score) => ({
      ...groupRecord(score),
      entailment: score.entailment,
      contradiction: score.contradiction,
      neutral: score.neutral,
    })),
    localized_assessments: result.localizedAssessments.map(localizedRecord),
    limitations: result.limitations,
    model: result.model,
    requested_revision: result.requestedRevision ?? null,
    resolved_revision: result.resolvedRevision ?? null,
    model_called: result.modelCalled,
    configuration_sha256: result.configurationSha256,
    claim_sha256: result.claimSha256,
    evidence_sha256: result.evidenceSha256,
    evaluation_id: result.evaluationId,
  };
}

function localizedRecord(assessment: LocalizedAssessment): JsonObject {
  return {
    ...groupRecord(assessment),
    included_segment_numbers: assessment.includedSegmentNumbers,
    premise_sha256: assessment.premiseSha256 ?? null,
    model_called: assessment.modelCalled,
    entailment: assessment.scores?.entailment ?? null,
    contradiction: assessment.scores?.contradiction ?? null,
    neutral: assessment.scores?.neutral ?? null,
  };
}

function optionalGroup(group: EvidenceGroup | undefined): JsonObject | null {
  return group === undefined ? null : groupRecord(group);
}

function groupRecord({ references, memoryIds }: EvidenceGroup): JsonObject {
  return { references, memory_ids: memoryIds };
}
