import type { JsonObject } from "../../lib/json.ts";
import type { AnswerabilityAssessment } from "./api.ts";

/** An assessment as it is stored and hashed: snake_case names, null for absent values. Pure. */
export function assessmentRecord(
  assessment: Omit<AnswerabilityAssessment, "assessmentSha256">,
): JsonObject {
  return {
    schema_version: assessment.schemaVersion,
    verdict: assessment.verdict,
    recommended_action: assessment.recommendedAction,
    requirements: assessment.requirements.map((requirement) => ({
      requirement: requirement.requirement,
      status: requirement.status,
      evidence_refs: requirement.evidenceRefs,
      evidence_ids: requirement.evidenceIds,
      explanation: requirement.explanation,
    })),
    missing_information: assessment.missingInformation,
    conflicts: assessment.conflicts,
    citation_errors: assessment.citationErrors,
    reasoning: assessment.reasoning,
    provider: assessment.provider,
    model: assessment.model,
    prompt_version: assessment.promptVersion,
    prompt_sha256: assessment.promptSha256,
    configuration_sha256: assessment.configurationSha256,
    model_called: assessment.modelCalled,
    query_sha256: assessment.querySha256,
    context_sha256: assessment.contextSha256,
    answer_sha256: assessment.answerSha256 ?? null,
    evaluation_id: assessment.evaluationId,
  };
}
