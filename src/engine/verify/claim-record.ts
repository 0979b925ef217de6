import { EPISTEMIC_TYPES, LIFECYCLE_STATES, SOURCE_TYPES } from "../../domain/enums.ts";
import { snakeJson } from "../../lib/case.ts";
import { instant, member, nullable, object, text } from "../../lib/form.ts";
import { sha256Hex, sha256OfJson } from "../../lib/hashing.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { ClaimSettings, ClaimVerification, Evidence } from "./api.ts";

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
  const { revision, ...settings } = input.settings;
  const configurationSha256 = sha256OfJson(
    snakeJson({
      model: input.model,
      requestedRevision: revision,
      ...settings,
    }),
  );
  const claimSha256 = sha256Hex(input.claim);
  const evidenceSha256 = sha256OfJson({ evidence: input.evidence.map(evidenceForm.json) });
  const evaluationId = sha256OfJson({
    schema_version: 3,
    configuration_sha256: configurationSha256,
    claim_sha256: claimSha256,
    evidence_sha256: evidenceSha256,
    requires_complete_set: input.requiresCompleteSet,
  });
  return { configurationSha256, claimSha256, evidenceSha256, evaluationId };
}

const evidenceForm = object<Evidence>({
  reference: text,
  memoryId: text,
  text,
  sourceType: nullable(member(SOURCE_TYPES)),
  epistemicType: nullable(member(EPISTEMIC_TYPES)),
  lifecycleState: nullable(member(LIFECYCLE_STATES)),
  eventTime: nullable(instant),
  validFrom: nullable(instant),
  validTo: nullable(instant),
});

/** A verification as it is stored and hashed: snake_case names, null for absent values. Pure. */
export function verificationRecord(result: Omit<ClaimVerification, "resultSha256">): JsonObject {
  return snakeJson({
    ...result,
    localizedAssessments: result.localizedAssessments.map(({ scores, ...assessment }) => ({
      ...assessment,
      entailment: scores?.entailment,
      contradiction: scores?.contradiction,
      neutral: scores?.neutral,
    })),
  });
}
