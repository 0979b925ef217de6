import { QUANTITY_GROUNDING } from "../../../domain/quantity.ts";
import type {
  AssertionAggregation,
  AssertionState,
  QuantityAggregation,
  StateEntry,
  TextAggregation,
} from "../../../domain/records/aggregation.ts";
import { counted, EXCERPT_CHARS, json, listed, moment, oneLine } from "../core/tool-text.ts";

/** Reason for excluding a memory that states no claim in parts, or no amount. */
const NO_CLAIM = "missing_structured_assertion";
const NO_AMOUNT = "missing_quantity";
/** What makes a memory count; the amount must also be in its text. */
const CLAIM = { subject: "I", predicate: "spent", object: "$20" };
const AMOUNT = { value: "20", unit: "$", source_text: "$20", grounding: QUANTITY_GROUNDING };

/** The counts of claims, one line per group. */
export function tellAssertions(answer: AssertionAggregation): string {
  const { groups, distinctCount, matchedRecords } = answer;
  return [
    `${counted(matchedRecords, "claim", "claims")} in ${counted(distinctCount, "group", "groups")}; ${scanned(answer)}`,
    ...listed(groups, (group) => {
      const sample = group.sampleNodeIds[0];
      const times = counted(group.occurrenceCount, "time", "times");
      const sources = counted(group.evidenceCount, "source", "sources");
      return `${valuesOf(group.values)}: ${times}, ${sources}${sample === undefined ? "" : `, for example ${sample}`}`;
    }),
    ...unlisted(distinctCount - groups.length),
    ...(matchedRecords === 0 ? unclaimed(answer, CLAIM) : []),
  ].join("\n");
}

/** The sums, one line per unit or group. */
export function tellQuantities(answer: QuantityAggregation): string {
  const { groups, distinctCount, matchedQuantityRecords } = answer;
  return [
    `${counted(matchedQuantityRecords, "amount", "amounts")} in ${counted(distinctCount, "group", "groups")}; ${scanned(answer)}`,
    ...listed(groups, (group) => {
      const sample = group.samples[0]?.nodeId;
      const amounts = counted(group.valueCount, "amount", "amounts");
      return `${valuesOf(group.values)}: total ${group.total}, ${amounts} from ${group.minimum} to ${group.maximum}${sample === undefined ? "" : `, for example ${sample}`}`;
    }),
    ...unlisted(distinctCount - groups.length),
    ...(matchedQuantityRecords === 0 ? unclaimed(answer, { ...CLAIM, quantity: AMOUNT }) : []),
  ].join("\n");
}

/** The sum that a question asks for, and how it was understood. */
export function tellTextAggregation({ plan, aggregation }: TextAggregation): string {
  if (aggregation === undefined) {
    return `Not answered (${plan.reason}): only plain questions such as "How much did I spend?" are understood. Use memory_aggregate_quantities, or memory_retrieve.`;
  }
  const told = tellQuantities(aggregation);
  if (aggregation.matchedQuantityRecords === 0) return told;
  return `${told}\nassumed: ${plan.assumptions.join(", ")}`;
}

/** What is claimed about a subject; never which claim is true. */
export function tellState(state: AssertionState): string {
  const { currentValues, timeline, conflictCount } = state;
  const conflicts =
    conflictCount === 0 ? "" : `, ${counted(conflictCount, "conflict", "conflicts")}`;
  return [
    `${state.status}: ${counted(state.currentCandidateCount, "current claim", "current claims")}${conflicts}; ${scanned(state)}`,
    ...listed(currentValues, ({ object, polarity, candidateCount, sampleNodeIds }) => {
      return `${valuesOf({ object, polarity })}: ${counted(candidateCount, "claim", "claims")}, ${sampleNodeIds.join(", ")}`;
    }),
    ...(timeline.length === 0
      ? unclaimed(state, CLAIM)
      : ["timeline:", ...listed(timeline, entryLine)]),
  ].join("\n");
}

function entryLine(entry: StateEntry): string {
  const until = entry.validTo === undefined ? "" : ` to ${moment(entry.validTo)}`;
  const standing = entry.currentCandidate ? "current" : entry.exclusionReasons.join(", ");
  return `${moment(entry.validFrom)}${until} ${entry.nodeId} (${entry.lifecycleState}, ${standing}) ${oneLine(entry.content, EXCERPT_CHARS)}`;
}

/** Texts of memories, hence each as JSON on one line. */
function valuesOf(values: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${JSON.stringify(oneLine(value ?? "", EXCERPT_CHARS))}`)
    .join(", ");
}

function scanned({
  scannedNodes,
  exclusions,
}: Pick<AssertionAggregation, "scannedNodes" | "exclusions">): string {
  const left = Object.entries(exclusions).map(
    ([reason, count]) => `${reason === NO_CLAIM ? "without a claim" : reason} ${count}`,
  );
  const out = left.length === 0 ? "" : `, left out: ${left.join(", ")}`;
  return `${counted(scannedNodes, "memory", "memories")} looked at${out}`;
}

/** Explains that nothing was counted because no memory states its values in metadata. */
function unclaimed(
  { exclusions }: Pick<AssertionAggregation, "exclusions">,
  example: object,
): string[] {
  const isUnclaimed = (exclusions[NO_CLAIM] ?? 0) > 0 || (exclusions[NO_AMOUNT] ?? 0) > 0;
  if (!isUnclaimed) return [];
  const also = "quantity" in example ? "; its text has to state the amount as well" : "";
  return [
    `This is no zero: what texts say counts only where it is stored in parts too, as a fact with metadata ${json(example)}${also}. To read the texts use memory_retrieve.`,
  ];
}

function unlisted(count: number): string[] {
  return count > 0 ? [`… and ${count} groups beyond group_limit`] : [];
}
