import { addDays, daysBetween, type Instant } from "../lib/instant.ts";
import type { DecayProfile, LifecycleState, NodeType } from "./enums.ts";
import type { MemoryNode } from "./node.ts";

/** Which memories decay: `own`: only those the organizer wrote itself; `original`: all, as in the specification's tables. */
export const FADING_PROFILES = ["own", "original"] as const;
export type FadingProfile = (typeof FADING_PROFILES)[number];

/** When a memory has faded. All thresholds 0 to 1; values below them count. */
export type FadingRules = {
  readonly fading: FadingProfile;
  /** Days without use after which a memory of a type is archived; a missing type: never. */
  readonly fadeAfterDays: Readonly<Partial<Record<NodeType, number>>>;
  /** Salience and confidence below which together a memory is archived. */
  readonly archiveSalienceThreshold: number;
  readonly archiveConfidenceThreshold: number;
  /** Salience below which it is archived in any case. */
  readonly forceArchiveSalienceThreshold: number;
  /** Confidence below which it is archived, or deprecated if it is contested. */
  readonly deprecateConfidenceThreshold: number;
};

/** What happens to a faded memory, by which rule, and its salience and confidence then. */
type Fate = {
  readonly step: "archive" | "deprecate";
  readonly rule: "unused" | "salience" | "confidence" | "salience_and_confidence";
  readonly salience: number;
  readonly confidence: number;
};

/** Whether a memory decays. Pinned ones do not; in the original profile, neither do entities and facts without a retention. */
export function canFade(
  { pinned, nodeType, ttlDays, metadata }: MemoryNode,
  fading: FadingProfile,
): boolean {
  if (pinned) return false;
  return fading === "own"
    ? nodeType === "summary" && metadata?.["consolidation_summary"] === true
    : ttlDays !== undefined || (nodeType !== "entity" && nodeType !== "fact");
}

/** For each type, the time after which a used memory cannot have faded at a moment. */
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

/** Values, and last uses, below which memories may have faded at a moment. */
export type FadingMarks = {
  readonly now: Instant;
  readonly fading: FadingProfile;
  readonly salience: number;
  readonly confidence: number;
  readonly unusedBefore: ReadonlyMap<NodeType, Instant>;
};

export function mayHaveFaded(node: MemoryNode, marks: FadingMarks): boolean {
  const before = marks.unusedBefore.get(node.nodeType);
  if (before !== undefined && !node.pinned && node.lastReinforcedAt < before) return true;
  if (!canFade(node, marks.fading)) return false;
  const { salience, confidence } = decayed(node, marks.now);
  return salience < marks.salience || confidence < marks.confidence;
}

/** What happens to an active memory at a moment; undefined: nothing. @param usedAt when it was last in a context, if ever */
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

/** Days for which a new memory of a type is kept by default; a missing type: unlimited. */
export type TtlDefaults = Readonly<Partial<Record<NodeType, number>>>;

/** Those of the specification. By default no type has one. */
export const ORIGINAL_TTL_DAYS: TtlDefaults = {
  event: 365,
  decision: 180,
  task: 90,
  summary: 365,
  note: 90,
};

/** The retention of a new memory. @param given undefined: the type's default, null: unlimited, a number: that many days */
export function initialTtlDays(
  nodeType: NodeType,
  given: number | null | undefined,
  defaults: TtlDefaults,
): number | undefined {
  if (given === null) return undefined;
  return given ?? defaults[nodeType];
}

/** When a memory's retention ends: `ttlDays` days after it was stored. Undefined: never, as for pinned memories. */
export function retentionEnd(
  given: Pick<MemoryNode, "pinned" | "ttlDays" | "createdAt">,
): Instant | undefined {
  const { pinned, ttlDays, createdAt } = given;
  return pinned || ttlDays === undefined ? undefined : addDays(createdAt, ttlDays);
}

/** Whether the retention of memories is over at a moment. For many memories: the calendar is consulted once per retention length. */
export function expiredAt(
  now: Instant,
): (node: Pick<MemoryNode, "pinned" | "ttlDays" | "createdAt">) => boolean {
  const cutoffs = new Map<number, Instant | undefined>();
  const cutoffOf = (ttlDays: number): Instant | undefined => {
    if (!cutoffs.has(ttlDays)) cutoffs.set(ttlDays, addDays(now, -ttlDays));
    return cutoffs.get(ttlDays);
  };
  return ({ pinned, ttlDays, createdAt }) => {
    if (pinned || ttlDays === undefined) return false;
    const cutoff = cutoffOf(ttlDays);
    return cutoff !== undefined && createdAt < cutoff;
  };
}

export const DECAY_RATES: Readonly<Record<DecayProfile, number>> = {
  permanent: 0,
  slow: 0.005,
  medium: 0.02,
  fast: 0.07,
  rapid: 0.2,
};

/** Decay of a reinforcement's boost per day, for every profile. */
const REINFORCEMENT_RATE = 0.1;
/** Days for which an observed memory keeps its confidence. */
const OBSERVED_CONFIDENCE_DAYS = 180;
const SETTLED_STATES: readonly LifecycleState[] = ["archived", "deprecated"];

/** Salience and confidence at some moment, each 0 to 1. */
type Decayed = Pick<MemoryNode, "salience" | "confidence">;

/**
 * Salience and confidence at a moment: exponential decay since the last reinforcement, confidence at half the rate. An earlier moment is
 * treated as that of the reinforcement. Pinned, permanent, archived and deprecated memories do not fade. Pure; nothing is written back.
 */
export function decayed(
  node: Pick<
    MemoryNode,
    | "pinned"
    | "decayProfile"
    | "lifecycleState"
    | "epistemicType"
    | "salienceBase"
    | "confidenceBase"
    | "reinforcementBoost"
    | "lastReinforcedAt"
  >,
  moment: Instant,
): Decayed {
  const { salienceBase, confidenceBase, reinforcementBoost } = node;
  const settled = SETTLED_STATES.includes(node.lifecycleState);
  if (node.pinned || settled || node.decayProfile === "permanent") {
    return { salience: salienceBase, confidence: confidenceBase };
  }
  const rate = DECAY_RATES[node.decayProfile];
  const days = Math.max(0, daysBetween(node.lastReinforcedAt, moment));
  const keepsConfidence = node.epistemicType === "observed" && days < OBSERVED_CONFIDENCE_DAYS;
  return {
    salience: toUnit(
      salienceBase * Math.exp(-rate * days) +
        reinforcementBoost * Math.exp(-REINFORCEMENT_RATE * days),
    ),
    confidence: keepsConfidence
      ? confidenceBase
      : toUnit(confidenceBase * Math.exp((-rate / 2) * days)),
  };
}

function toUnit(value: number): number {
  return Math.min(1, Math.max(0, value));
}
