import type { ClaimSettings, Evidence } from "./api.ts";
import { isNegatedClaim, negatedClauses, type SpeechMode, segments, speechModes } from "./cues.ts";
import { contentWords, numbersAndDates } from "./words.ts";

/** A claim and what its wording implies. */
export type ClaimWording = {
  readonly text: string;
  readonly modes: ReadonlySet<SpeechMode>;
  /** It says that something is not, or is no longer, so. */
  readonly isNegated: boolean;
  readonly words: ReadonlySet<string>;
  readonly numbers: ReadonlySet<string>;
};

/** A piece of evidence and what its wording implies. */
export type ReadEvidence = {
  readonly evidence: Evidence;
  readonly segments: readonly ReadSegment[];
};

export type ReadSegment = {
  readonly text: string;
  readonly modes: ReadonlySet<SpeechMode>;
  readonly negatedClauses: readonly string[];
};

/** With fewer content words, a claim is too general to be refuted by words alone. */
const MIN_CONTENT_WORDS = 2;

export function wordingOf(text: string): ClaimWording {
  return {
    text,
    modes: speechModes(text),
    isNegated: isNegatedClaim(text),
    words: contentWords(text),
    numbers: numbersAndDates(text),
  };
}

export function readEvidence(evidence: Evidence): ReadEvidence {
  return {
    evidence,
    segments: segments(evidence.text).map((text) => ({
      text,
      modes: speechModes(text),
      negatedClauses: negatedClauses(text),
    })),
  };
}

/** Whether a group may support a claim: it is meant in the same way as the claim, and negates nothing that the claim does not. */
export function maySupport(claim: ClaimWording, group: readonly ReadEvidence[]): boolean {
  return (
    group.every((item) => isTypeCompatible(claim, item.evidence)) &&
    group.flatMap((item) => item.segments).every((segment) => maySegmentSupport(claim, segment))
  );
}

/** The same for one segment. */
export function maySegmentSupport(claim: ClaimWording, segment: ReadSegment): boolean {
  return (
    segment.modes.isSubsetOf(claim.modes) &&
    (claim.isNegated || segment.negatedClauses.length === 0)
  );
}

/** Whether the wording of a group confirms the contradiction that the model sees. */
export function isContradictionCorroborated(
  claim: ClaimWording,
  group: readonly ReadEvidence[],
): boolean {
  return (
    keepsModes(claim, group) &&
    (claim.isNegated || datesDiffer(claim, group) || hasNegationOverlap(claim, group))
  );
}

/** Whether a clause of the evidence explicitly denies what the claim says. */
export function isExplicitlyNegated(claim: ClaimWording, group: readonly ReadEvidence[]): boolean {
  return keepsModes(claim, group) && hasNegationOverlap(claim, group);
}

/** Whether the wording is checked under this policy, not the thresholds alone. */
export function isGuarded(settings: ClaimSettings, side: "support" | "refutation"): boolean {
  return side === "support"
    ? settings.entailmentPolicy === "speech_act_guarded"
    : settings.refutationPolicy === "explicit_corroboration";
}

function keepsModes(claim: ClaimWording, group: readonly ReadEvidence[]): boolean {
  return group.every(
    (item) =>
      isTypeCompatible(claim, item.evidence) &&
      item.segments.every(({ modes }) => modes.isSubsetOf(claim.modes)),
  );
}

/** Replaced memories count for nothing, and a supposition supports no more than a supposition. */
export function isTypeCompatible(
  { modes }: ClaimWording,
  { lifecycleState, epistemicType }: Evidence,
): boolean {
  switch (lifecycleState) {
    case "superseded":
    case "deprecated":
    case "archived":
      return false;
    default:
  }
  switch (epistemicType) {
    case "deprecated":
      return false;
    case "hypothetical":
      return modes.has("uncertainty") || modes.has("conditional");
    case "conditional":
      return modes.has("conditional");
    case "unverified":
      return modes.has("unverified") || modes.has("uncertainty");
    default:
      return true;
  }
}

function datesDiffer(claim: ClaimWording, group: readonly ReadEvidence[]): boolean {
  const stated = new Set(group.flatMap(({ evidence }) => [...numbersAndDates(evidence.text)]));
  return claim.numbers.size > 0 && stated.size > 0 && !areEqual(claim.numbers, stated);
}

function hasNegationOverlap(
  { isNegated, words }: ClaimWording,
  group: readonly ReadEvidence[],
): boolean {
  if (isNegated || words.size < MIN_CONTENT_WORDS) return false;
  const clauses = group.flatMap((item) => item.segments.flatMap((part) => part.negatedClauses));
  return clauses.map(contentWords).some((stated) =>
    // Two words easily occur together by chance, so there must be no other words.
    words.size === MIN_CONTENT_WORDS ? areEqual(words, stated) : words.isSubsetOf(stated),
  );
}

function areEqual(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && a.isSubsetOf(b);
}
