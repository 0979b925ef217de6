import { EPISTEMIC_TYPES, LIFECYCLE_STATES, SOURCE_TYPES } from "../../domain/enums.ts";
import { snakeCase } from "../../lib/case.ts";
import {
  constant,
  decimal,
  flag,
  instant,
  list,
  member,
  nullable,
  object,
  text,
} from "../../lib/form.ts";
import { sha256Hex, sha256OfJson } from "../../lib/hashing.ts";
import { told, view } from "../../lib/view.ts";
import type { Entailment } from "../../ports/text-pairs.ts";
import type {
  ClaimSettings,
  ClaimVerification,
  Evidence,
  EvidenceGroup,
  GroupScore,
  LocalizedAssessment,
} from "./api.ts";

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
    Object.fromEntries(
      Object.entries({ model: input.model, requestedRevision: revision ?? null, ...settings }).map(
        ([name, value]) => [snakeCase(name), value],
      ),
    ),
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

const group = object<EvidenceGroup>({ references: list(text), memoryIds: list(text) });
const scoreOf = (name: keyof Entailment) =>
  told(nullable(decimal), ({ scores }: LocalizedAssessment) => scores?.[name]);

/** A verification as it is stored and hashed. */
export const verificationView = view<Omit<ClaimVerification, "resultSha256">>()({
  schemaVersion: constant(3),
  claim: text,
  status: text,
  supportingGroup: nullable(group),
  refutingGroup: nullable(group),
  supportingBasis: nullable(text),
  refutingBasis: nullable(text),
  groupScores: list(
    object<GroupScore>({
      references: list(text),
      memoryIds: list(text),
      entailment: decimal,
      contradiction: decimal,
      neutral: decimal,
    }),
  ),
  localizedAssessments: list(
    view<LocalizedAssessment>()({
      references: list(text),
      memoryIds: list(text),
      includedSegmentNumbers: list(decimal),
      premiseSha256: nullable(text),
      modelCalled: flag,
      entailment: scoreOf("entailment"),
      contradiction: scoreOf("contradiction"),
      neutral: scoreOf("neutral"),
    }),
  ),
  limitations: list(text),
  model: text,
  requestedRevision: nullable(text),
  resolvedRevision: nullable(text),
  modelCalled: flag,
  configurationSha256: text,
  claimSha256: text,
  evidenceSha256: text,
  evaluationId: text,
});
