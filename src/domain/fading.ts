import { addDays, type Instant } from "../lib/instant.ts";
import { decayed } from "./decay.ts";
import type { NodeType } from "./enums.ts";
import type { MemoryNode } from "./node.ts";

/** Whose memories decay: `own`: only what the organizer wrote itself; `original`: all, as the specification's tables have it. */
export const FADING_PROFILES = ["own", "original"] as const;
export type FadingProfile = (typeof FADING_PROFILES)[number];

/** When a memory has faded. All thresholds 0 to 1; values below count. */
export type FadingRules = {
  readonly fading: FadingProfile;
  /** Days without any use after which a memory of a type is archived; a missing type: never. */
  readonly fadeAfterDays: Readonly<Partial<Record<NodeType, number>>>;
  /** Salience and confidence below which together a memory is archived. */
  readonly archiveSalienceThreshold: number;
  readonly archiveConfidenceThreshold: number;
  /** Salience below which it is archived in any case. */
  readonly forceArchiveSalienceThreshold: number;
  /** Confidence below which it is archived, or deprecated if it is contested. */
  readonly deprecateConfidenceThreshold: number;
};

/** What becomes of a faded memory, by which rule, and its salience and confidence then. */
export type Fate = {
  readonly step: "archive" | "deprecate";
  readonly rule: "unused" | "salience" | "confidence" | "salience_and_confidence";
  readonly salience: number;
  readonly confidence: number;
};

/** Whether a memory decays. Pinned ones stay; in the original profile, entities and facts that are kept for ever do too. */
export function canFade(
  { pinned, nodeType, ttlDays, metadata }: MemoryNode,
  fading: FadingProfile,
): boolean {
  if (pinned) return false;
  return fading === "own"
    ? nodeType === "summary" && metadata?.["consolidation_summary"] === true
    : ttlDays !== undefined || (nodeType !== "entity" && nodeType !== "fact");
}

/** The moments before which the last use of a memory of these types must be for it to fade at a moment. */
export function unusedBefore(
  moment: Instant,
  days: FadingRules["fadeAfterDays"],
): ReadonlyMap<NodeType, Instant> {
  const types = Object.entries(days).flatMap(([type, count]) => {
    const before = addDays(moment, -count);
    // SAFETY: the keys of the record are types.
    return before === undefined ? [] : [[type as NodeType, before] as const];
  });
  return new Map(types);
}

/** Below which values, and before which last uses, memories may have faded at a moment. */
export type FadingMarks = {
  readonly now: Instant;
  readonly fading: FadingProfile;
  readonly salience: number;
  readonly confidence: number;
  readonly unusedBefore: ReadonlyMap<NodeType, Instant>;
};

/** Whether a memory is below any of the marks. */
export function mayHaveFaded(node: MemoryNode, marks: FadingMarks): boolean {
  const before = marks.unusedBefore.get(node.nodeType);
  if (before !== undefined && !node.pinned && node.lastReinforcedAt < before) return true;
  if (!canFade(node, marks.fading)) return false;
  const { salience, confidence } = decayed(node, marks.now);
  return salience < marks.salience || confidence < marks.confidence;
}

/**
 * What is to become of an active memory at a moment; undefined: it stays.
 * @param usedAt when it was last put into a context, if it was
 */
export function fateOf(
  given: MemoryNode,
  moment: Instant,
  rules: FadingRules,
  usedAt?: Instant,
): Fate | undefined {
  const isUsedLater = usedAt !== undefined && usedAt > given.lastReinforcedAt;
  const node = isUsedLater ? { ...given, lastReinforcedAt: usedAt } : given;
  if (node.pinned) return undefined;
  const { salience, confidence } = decayed(node, moment);
  const before = unusedBefore(moment, rules.fadeAfterDays).get(node.nodeType);
  if (before !== undefined && node.lastReinforcedAt < before) {
    return { step: "archive", rule: "unused", salience, confidence };
  }
  if (!canFade(node, rules.fading)) return undefined;
  if (salience < rules.forceArchiveSalienceThreshold) {
    return { step: "archive", rule: "salience", salience, confidence };
  }
  if (confidence < rules.deprecateConfidenceThreshold) {
    const step = node.lifecycleState === "contested" ? "deprecate" : "archive";
    return { step, rule: "confidence", salience, confidence };
  }
  const isFaint =
    salience < rules.archiveSalienceThreshold && confidence < rules.archiveConfidenceThreshold;
  return isFaint
    ? { step: "archive", rule: "salience_and_confidence", salience, confidence }
    : undefined;
}
