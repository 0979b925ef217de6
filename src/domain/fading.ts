import type { Instant } from "../lib/instant.ts";
import { decayed } from "./decay.ts";
import type { MemoryNode } from "./node.ts";

/** When a memory has faded. All 0 to 1; values below count. */
export type FadingRules = {
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
  readonly rule: "salience" | "confidence" | "salience_and_confidence";
  readonly salience: number;
  readonly confidence: number;
};

/** Whether a memory may fade away. Pinned ones stay, and so do entities and facts that are kept for ever. */
export function canFade({
  pinned,
  nodeType,
  ttlDays,
}: Pick<MemoryNode, "pinned" | "nodeType" | "ttlDays">): boolean {
  return !pinned && (ttlDays !== undefined || (nodeType !== "entity" && nodeType !== "fact"));
}

/** What is to become of an active memory at a moment; undefined: it stays. */
export function fateOf(node: MemoryNode, moment: Instant, rules: FadingRules): Fate | undefined {
  if (!canFade(node)) return undefined;
  const { salience, confidence } = decayed(node, moment);
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
