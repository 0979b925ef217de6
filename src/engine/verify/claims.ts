import { parseFilled } from "../../domain/arguments.ts";
import { SvcError } from "../../domain/errors.ts";
import { sha256OfJson } from "../../lib/hashing.ts";
import type { Entailment, EntailmentModel } from "../../ports/text-pairs.ts";
import type { MemoryBundle } from "../retrieve/api.ts";
import type {
  ClaimLimitation,
  ClaimSettings,
  ClaimStatus,
  ClaimVerification,
  Evidence,
  GroupScore,
  LocalizedAssessment,
  RefutingBasis,
  SupportingBasis,
  VerifyBundleOptions,
  VerifyClaimOptions,
} from "./api.ts";
import { claimHashes, verificationView } from "./claim-record.ts";
import { bundleEvidence, parseEvidence } from "./evidence.ts";
import {
  bestFinding,
  type Finding,
  groupsOf,
  namesOf,
  type PremiseGroup,
  premiseOf,
} from "./groups.ts";
import {
  type ClaimWording,
  isContradictionCorroborated,
  isExplicitlyNegated,
  isGuarded,
  maySupport,
  readEvidence,
  wordingOf,
} from "./guards.ts";
import { createJudge, type Judge } from "./judge.ts";
import { localize } from "./localize.ts";

export type ClaimDeps = {
  /** Undefined: the check is off. */
  readonly entailment: EntailmentModel | undefined;
  readonly settings: ClaimSettings;
};

/**
 * Whether evidence supports or refutes a claim, according to a local model of natural-language inference, guarded by the wording
 * of both. Pieces are read alone first; only if none decides, small groups of the strongest are read together.
 * @throws SvcError unsupported without an entailment model; invalid_argument for a blank claim, too much evidence, or a
 *   duplicate reference or memory; model_failed
 */
export async function verifyClaim(
  deps: ClaimDeps,
  claim: string,
  evidence: readonly Evidence[],
  options: VerifyClaimOptions = {},
): Promise<ClaimVerification> {
  const model = requireModel(deps);
  parseFilled(claim, "claim");
  const pieces = parseEvidence(evidence, deps.settings.maxEvidence);
  const requiresCompleteSet = options.requiresCompleteSet ?? false;
  const judge = createJudge(model, claim, deps.settings.batchSize);
  const findings = requiresCompleteSet
    ? nothing(["complete_set_requires_structured_aggregation"])
    : await search(judge, wordingOf(claim), pieces, deps.settings);
  const { model: name } = model;
  const result = {
    schemaVersion: 3,
    claim,
    status: requiresCompleteSet ? "incomplete" : statusOf(findings),
    ...describe(findings),
    model: name,
    requestedRevision: deps.settings.revision,
    resolvedRevision: model.revision,
    modelCalled: judge.wasAsked(),
    ...claimHashes({
      claim,
      evidence: pieces,
      requiresCompleteSet,
      model: name,
      settings: deps.settings,
    }),
  } as const;
  return { ...result, resultSha256: sha256OfJson(verificationView.json(result)) };
}

/**
 * The same for the records of a context, as they are rendered there.
 * @throws SvcError as `verifyClaim`; invalid_argument for an unknown reference, and for records that cannot be cited
 */
export async function verifyBundle(
  deps: ClaimDeps,
  claim: string,
  bundle: MemoryBundle,
  options: VerifyBundleOptions = {},
): Promise<ClaimVerification> {
  requireModel(deps);
  return verifyClaim(deps, claim, bundleEvidence(bundle, options.evidenceRefs), options);
}

function requireModel({ entailment }: ClaimDeps): EntailmentModel {
  if (entailment !== undefined) return entailment;
  throw new SvcError(
    "unsupported",
    "no entailment model is set, so claims cannot be verified: set entailment.model",
  );
}

type Findings = {
  readonly supports: readonly Finding<SupportingBasis>[];
  readonly refutes: readonly Finding<RefutingBasis>[];
  readonly groupScores: readonly GroupScore[];
  readonly localized: readonly LocalizedAssessment[];
  readonly limitations: readonly ClaimLimitation[];
};

function nothing(limitations: readonly ClaimLimitation[]): Findings {
  return { supports: [], refutes: [], groupScores: [], localized: [], limitations };
}

/** Single pieces first, then groups of two, then of three, until a size decides. */
async function search(
  judge: Judge,
  claim: ClaimWording,
  evidence: readonly Evidence[],
  settings: ClaimSettings,
): Promise<Findings> {
  const items = evidence.map(readEvidence);
  const singles = items.map((item) => [item]);
  const scores = await judgeGroups(judge, singles);
  let findings = await weigh(judge, claim, singles, scores, settings);
  const scored = items.map((item, at) => ({ item, scores: scores[at] ?? NEUTRAL }));
  for (let size = 2; size <= settings.maxGroupSize && !decides(findings); size += 1) {
    const groups = groupsOf(scored, size, settings.groupCandidateLimit);
    const found = await weigh(judge, claim, groups, await judgeGroups(judge, groups), settings);
    findings = joined(findings, found);
  }
  return findings;
}

const NEUTRAL: Entailment = { entailment: 0, contradiction: 0, neutral: 1 };

function judgeGroups(
  judge: Judge,
  groups: readonly PremiseGroup[],
): Promise<readonly Entailment[]> {
  return judge.judge(groups.map((group) => premiseOf(group.map(({ evidence }) => evidence.text))));
}

function decides({ supports, refutes }: Findings): boolean {
  return supports.length > 0 || refutes.length > 0;
}

function joined(a: Findings, b: Findings): Findings {
  return {
    supports: [...a.supports, ...b.supports],
    refutes: [...a.refutes, ...b.refutes],
    groupScores: [...a.groupScores, ...b.groupScores],
    localized: [...a.localized, ...b.localized],
    limitations: [...a.limitations, ...b.limitations],
  };
}

/** The conclusion from the model's probabilities and the wording of groups of one size. */
async function weigh(
  judge: Judge,
  claim: ClaimWording,
  groups: readonly PremiseGroup[],
  scores: readonly Entailment[],
  settings: ClaimSettings,
): Promise<Findings> {
  const read = groups.map((group, at) => ({ group, scores: scores[at] ?? NEUTRAL }));
  const entailed = read.filter((entry) => entry.scores.entailment >= settings.entailmentThreshold);
  const isFree = ({ group }: { readonly group: PremiseGroup }): boolean =>
    !isGuarded(settings, "support") || maySupport(claim, group);
  const blocked = entailed.filter((entry) => !isFree(entry));
  const localized = await localize(
    judge,
    claim,
    blocked.map(({ group }) => group),
  );
  const rescued = blocked.flatMap(({ group }, at) => {
    const probability = localized[at]?.scores?.entailment ?? 0;
    const basis: SupportingBasis = "localized_model_entailment";
    return probability >= settings.entailmentThreshold ? [{ group, probability, basis }] : [];
  });
  const refutation = read.map((entry) => refutationOf(claim, entry.group, entry.scores, settings));
  return {
    supports: [
      ...entailed.filter(isFree).map((entry) => ({
        group: entry.group,
        probability: entry.scores.entailment,
        basis: "model_entailment" as const,
      })),
      ...rescued,
    ],
    refutes: refutation.flatMap((found) => (typeof found === "object" ? [found] : [])),
    groupScores: read.map((entry) => ({ ...namesOf(entry.group), ...entry.scores })),
    localized,
    limitations: [
      ...(rescued.length < blocked.length ? (["uncorroborated_model_entailment"] as const) : []),
      ...(refutation.includes("uncorroborated")
        ? (["uncorroborated_model_contradiction"] as const)
        : []),
    ],
  };
}

function refutationOf(
  claim: ClaimWording,
  group: PremiseGroup,
  { contradiction }: Entailment,
  settings: ClaimSettings,
): Finding<RefutingBasis> | "uncorroborated" | "none" {
  const found = (basis: RefutingBasis) => ({ group, probability: contradiction, basis });
  const isSeen = contradiction >= settings.contradictionThreshold;
  if (!isGuarded(settings, "refutation")) return isSeen ? found("model_contradiction") : "none";
  if (isSeen && isContradictionCorroborated(claim, group)) return found("model_contradiction");
  if (isExplicitlyNegated(claim, group)) return found("explicit_negation_overlap");
  return isSeen ? "uncorroborated" : "none";
}

function statusOf({ supports, refutes }: Findings): ClaimStatus {
  if (supports.length > 0) return refutes.length > 0 ? "contested" : "supported";
  return refutes.length > 0 ? "refuted" : "insufficient";
}

const LIMITATIONS: readonly ClaimLimitation[] = [
  "complete_set_requires_structured_aggregation",
  "uncorroborated_model_entailment",
  "uncorroborated_model_contradiction",
];

function describe(findings: Findings) {
  const support = bestFinding(findings.supports);
  const refutation = bestFinding(findings.refutes);
  return {
    supportingGroup: support === undefined ? undefined : namesOf(support.group),
    refutingGroup: refutation === undefined ? undefined : namesOf(refutation.group),
    supportingBasis: support?.basis,
    refutingBasis: refutation?.basis,
    groupScores: findings.groupScores,
    localizedAssessments: findings.localized,
    limitations: LIMITATIONS.filter((limitation) => findings.limitations.includes(limitation)),
  };
}
