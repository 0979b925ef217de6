import { normaliseText } from "../../../lib/normal-text.ts";
import { foldCase } from "../../../lib/text.ts";
import type { NodeType } from "../../enums.ts";
import { canReplace } from "../../lifecycle.ts";
import type { MemoryNode } from "../../node.ts";
import type { ExtractionResult } from "../result.ts";
import type { PlannedClaim } from "./claims.ts";
import type { KnownClaim, KnownMemories } from "./context.ts";
import { effectiveTime } from "./nodes.ts";

/** Predicates that say the same. */
const CLASSES: readonly ReadonlySet<string>[] = [
  new Set(["works_at", "employed_by", "employed_at", "joined"]),
  new Set(["lives_in", "resides_in", "located_in"]),
  new Set(["role", "position", "title"]),
];
/** Words of an old value that a shorter name may stand for. */
const OLD_WORDS_MAX = 4;

/** The values by which a store has to look for known claims before a plan is made: only such a claim can be merged or replaced. */
export function valuesToFind({ claims }: ExtractionResult): readonly string[] {
  const values = claims.flatMap(({ object, replacesObject }) => [object, replacesObject ?? object]);
  return [...new Set(values)];
}

/** A value in the forms in which `merge` and `replacedBy` compare it, between blanks. */
export type ValueForms = readonly [plain: string, normal: string];

export function formsOf(value: string): ValueForms {
  const plain = foldCase(value.trim()).split(/\s+/).join(" ");
  return [` ${plain} `, ` ${normaliseText(value.replaceAll("_", " "))} `];
}

/** Whether a claim with this value may be one that a sought value is about. True for some that are not. */
export function mayMean([plain, normal]: ValueForms, sought: readonly ValueForms[]): boolean {
  return sought.some((one) => plain.includes(one[0]) || normal.includes(one[1]));
}

/**
 * The known claims that a new one states to hold no more, in its own words: an update that names the value which it replaces. None if
 * several values could be meant.
 */
export function replacedBy(
  planned: PlannedClaim,
  known: readonly KnownClaim[],
): readonly MemoryNode[] {
  const target = targetOf(planned);
  const { entityId } = planned.subject;
  if (target === undefined || entityId === undefined) return [];
  const candidates = known
    .filter(({ subjectIds }) => subjectIds.includes(entityId))
    .map(({ node }) => node)
    .filter((node) => isReplaceable(node, planned) && meansValue(node, target));
  const values = new Set(candidates.map((node) => foldCase(textOf(node, "object").trim())));
  if (values.size > 1) return [];
  return candidates.filter((node) => effectiveTime(node) <= effectiveTime(planned.node));
}

/** The memory that the model was shown and that its turn corrects, if it still may be. */
export function correctedBy(
  { claim, node }: PlannedClaim,
  { shown }: KnownMemories,
): MemoryNode | undefined {
  const target = claim.replacesNodeId === undefined ? undefined : shown.get(claim.replacesNodeId);
  if (target === undefined || !isUpdate(claim) || !isCorrectable(target)) return undefined;
  const isSame =
    target.userId === node.userId &&
    target.scope === node.scope &&
    target.sourceType === node.sourceType;
  return isSame && effectiveTime(target) <= effectiveTime(node) ? target : undefined;
}

/** Types of memories that later turns may correct. */
export const STATEMENTS: ReadonlySet<NodeType> = new Set(["fact", "decision", "preference"]);

/** Whether a later turn may correct a memory: a statement that holds now, without condition. */
export function isCorrectable(node: MemoryNode): boolean {
  return STATEMENTS.has(node.nodeType) && canReplace(node.lifecycleState) && isUnconditional(node);
}

function isUnconditional({ epistemicType, metadata }: MemoryNode): boolean {
  const isKnown = epistemicType === "observed" || epistemicType === "asserted";
  return isKnown && (metadata?.["condition"] ?? null) === null;
}

function isUpdate(claim: PlannedClaim["claim"]): boolean {
  const isKnown = claim.epistemicType === "observed" || claim.epistemicType === "asserted";
  return claim.temporalIntent === "update" && claim.condition === undefined && isKnown;
}

/** The value that an update ends. */
function targetOf({ claim }: PlannedClaim): string | undefined {
  if (!isUpdate(claim)) return undefined;
  return claim.replacesObject ?? (claim.polarity === "negative" ? claim.object : undefined);
}

function isReplaceable(old: MemoryNode, { claim, node }: PlannedClaim): boolean {
  const isOpen =
    old.sourceType === node.sourceType &&
    old.nodeType === node.nodeType &&
    old.scope === node.scope &&
    old.userId === node.userId &&
    canReplace(old.lifecycleState) &&
    isUnconditional(old);
  if (!isOpen || !isSamePredicate(old, claim, node)) return false;
  return claim.polarity === "negative"
    ? textOf(old, "polarity") === "positive"
    : foldCase(textOf(old, "object").trim()) !== foldCase(claim.object.trim());
}

function isSamePredicate(
  old: MemoryNode,
  { predicate, polarity }: PlannedClaim["claim"],
  { nodeType }: MemoryNode,
): boolean {
  const one = textOf(old, "predicate").trim().toLowerCase();
  const other = predicate.trim().toLowerCase();
  if (one === other || CLASSES.some((same) => same.has(one) && same.has(other))) return true;
  const isUse = one === "uses" || one === "use";
  const isSwitch = other === "switched_to" && polarity === "positive" && nodeType === "fact";
  return isSwitch && isUse && textOf(old, "polarity") === "positive";
}

/** Whether an old value is the one named, or has its name as a run of words: `pump` for `insulin pump`. */
function meansValue(old: MemoryNode, target: string): boolean {
  const value = foldCase(textOf(old, "object").trim());
  const named = foldCase(target.trim());
  if (value === named) return true;
  const words = value.split(/\s+/);
  const sought = named.split(/\s+/);
  const isShorter = sought.length < words.length && words.length <= OLD_WORDS_MAX;
  const areWords =
    words.every((word) => /^[\p{L}\p{M}]+$/u.test(word)) &&
    sought.every((word) => /^[\p{L}\p{M}]{3,}$/u.test(word));
  return isShorter && areWords && ` ${words.join(" ")} `.includes(` ${sought.join(" ")} `);
}

function textOf({ metadata }: MemoryNode, name: string): string {
  const value = metadata?.[name];
  return typeof value === "string" ? value : "";
}
