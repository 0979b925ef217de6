import { parseUserId } from "../../domain/arguments.ts";
import type { MemoryNode } from "../../domain/node.ts";
import {
  PLAN_ASSUMPTIONS,
  planQuestion,
  type Quantity,
  readQuantity,
} from "../../domain/quantity.ts";
import type {
  AssertionAggregation,
  AssertionGroup,
  AssertionQuery,
  QuantityAggregation,
  QuantityGroup,
  QuantityPlan,
  QuantityQuery,
  QuantitySample,
  TextAggregation,
} from "../../domain/records/aggregation.ts";
import { addDecimals, compareDecimals, type Decimal, formatDecimal } from "../../lib/decimal.ts";
import { normaliseText } from "../../lib/text.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import type { AssertionQueryInput, QuantityQueryInput, QuantityQuestionInput } from "./api.ts";
import {
  addCited,
  addSample,
  byDimension,
  type CitedEvents,
  choiceOf,
  createClaimReader,
  type Group,
  groupRecords,
  noneCited,
  noneSampled,
  parseAssertionQuery,
  parseQuantityQuery,
  parseQuestion,
  type Sampled,
  type SpelledClaim,
  smallestIds,
  sortedIds,
} from "./claims.ts";

type Deps = Pick<EngineDeps<Graph>, "store" | "settings">;

/**
 * Counts and groups an owner's claims, exactly. Holds one page, the groups shown and all group keys.
 * @throws SvcError invalid_argument; the abort reason
 */
export async function aggregateAssertions(
  deps: Deps,
  input: AssertionQueryInput,
): Promise<AssertionAggregation> {
  const query = parseAssertionQuery(input);
  const userId = parseUserId(input.userId);
  const { matched, groups, counted } = await groupRecords(deps, {
    ...query,
    userId,
    signal: input.signal,
    read: createClaimReader(query, deps.settings.unverifiedConfidenceThreshold),
    begin: noneSampled,
    valuesOf: ({ claim, normal }) => [
      query.groupBy.map((dimension) => claim[dimension]),
      query.groupBy.map((dimension) => normal[dimension]),
    ],
    add: (group, node) => addSample(group, node, query.sampleLimit),
  });
  return {
    schemaVersion: 1,
    userId,
    query,
    matchedRecords: matched,
    groups: groups.map((group) => toCount(group, query)),
    semanticEquivalence: "normalized_exact_only",
    ...counted,
  };
}

function toCount(
  { values, normal, gathered }: Group<Sampled>,
  { groupBy, sampleLimit }: AssertionQuery,
): AssertionGroup {
  const { count, nodeIds, events } = gathered;
  return {
    values: byDimension(groupBy, values),
    normalizedValues: byDimension(groupBy, normal),
    occurrenceCount: count,
    evidenceCount: events.size,
    sampleNodeIds: sortedIds(nodeIds),
    sampleEvidenceRefs: smallestIds(events, sampleLimit),
    samplesTruncated: count > sampleLimit || events.size > sampleLimit,
    earliestEventTime: gathered.earliest,
    latestEventTime: gathered.latest,
  };
}

const ZERO: Decimal = { coefficient: 0n, exponent: 0 };

type Amounts = CitedEvents & {
  count: number;
  /** A sum starts with the decimal places of its first value. */
  total: Decimal;
  minimum: Decimal;
  maximum: Decimal;
  readonly samples: QuantitySample[];
};

type ReadQuantity = SpelledClaim & { readonly quantity: Quantity; readonly normalUnit: string };

/** Sums an owner's amounts by unit, exactly, without conversion; an amount counts if the text of its memory confirms it. */
export async function aggregateQuantities(
  deps: Deps,
  input: QuantityQueryInput,
): Promise<QuantityAggregation> {
  const query = parseQuantityQuery(input);
  return sumQuantities(deps, query, { userId: parseUserId(input.userId), signal: input.signal });
}

async function sumQuantities(
  deps: Deps,
  query: QuantityQuery,
  { userId, signal }: { readonly userId: string; readonly signal: AbortSignal | undefined },
): Promise<QuantityAggregation> {
  const { matched, groups, counted } = await groupRecords(deps, {
    ...query,
    userId,
    signal,
    read: createQuantityReader(query, deps.settings.unverifiedConfidenceThreshold),
    begin: beginAmounts,
    valuesOf: ({ claim, normal, quantity, normalUnit }) => [
      query.groupBy.map((name) => (name === "unit" ? quantity.unit : claim[name])),
      query.groupBy.map((name) => (name === "unit" ? normalUnit : normal[name])),
    ],
    add: (group, node, { quantity }) => addAmount(group, node, quantity, query.sampleLimit),
  });
  return {
    schemaVersion: 1,
    userId,
    query,
    matchedQuantityRecords: matched,
    groups: groups.map((group) => toSum(group, query)),
    unitConversion: "none",
    semanticEquivalence:
      query.predicatePrefixes.length === 0
        ? "normalized_exact_only"
        : "normalized_exact_and_predicate_prefix",
    ...counted,
  };
}

function beginAmounts(): Amounts {
  const none = { count: 0, total: ZERO, minimum: ZERO, maximum: ZERO, samples: [] };
  return { ...noneCited(), ...none };
}

function createQuantityReader(
  query: QuantityQuery,
  unverifiedThreshold: number,
): (node: MemoryNode) => ReadQuantity | string {
  const readClaim = createClaimReader(query, unverifiedThreshold, query.predicatePrefixes);
  const isUnit = choiceOf(query.units.map(normaliseText));
  return (node) => {
    const read = readClaim(node);
    if (typeof read === "string") return read;
    const quantity = readQuantity(node, read.claim.object);
    if (typeof quantity === "string") return `${quantity}_quantity`;
    const normalUnit = normaliseText(quantity.unit);
    return isUnit(normalUnit) ? { ...read, quantity, normalUnit } : "unit_mismatch";
  };
}

function addAmount(
  group: Amounts,
  node: MemoryNode,
  { value, unit, sourceText }: Quantity,
  sampleLimit: number,
): void {
  const isFirst = group.count === 0;
  group.total = isFirst ? value : addDecimals(group.total, value);
  if (isFirst || compareDecimals(value, group.minimum) < 0) group.minimum = value;
  if (isFirst || compareDecimals(value, group.maximum) > 0) group.maximum = value;
  group.count += 1;
  addCited(group, node);
  if (group.samples.length < sampleLimit) {
    const evidenceRefs = sortedIds(node.evidenceRefs);
    group.samples.push({
      nodeId: node.id,
      value: formatDecimal(value),
      unit,
      sourceText,
      evidenceRefs,
    });
  }
}

function toSum(
  { values, normal, gathered }: Group<Amounts>,
  { groupBy }: QuantityQuery,
): QuantityGroup {
  return {
    values: byDimension(groupBy, values),
    normalizedValues: byDimension(groupBy, normal),
    valueCount: gathered.count,
    total: formatDecimal(gathered.total),
    minimum: formatDecimal(gathered.minimum),
    maximum: formatDecimal(gathered.maximum),
    evidenceCount: gathered.events.size,
    samples: gathered.samples,
    samplesTruncated: gathered.count > gathered.samples.length,
    earliestEventTime: gathered.earliest,
    latestEventTime: gathered.latest,
  };
}

/** Answers a plain question with the sum that it asks for; does not scan for an unsupported question. */
export async function aggregateFromText(
  deps: Pick<EngineDeps<Graph>, "store" | "settings">,
  input: QuantityQuestionInput,
): Promise<TextAggregation> {
  const question = parseQuestion(input);
  const userId = parseUserId(input.userId);
  const plan = planOf(question, userId);
  const aggregation =
    plan.query && (await sumQuantities(deps, plan.query, { userId, signal: input.signal }));
  return { schemaVersion: 1, plan, aggregation };
}

function planOf(question: string, userId: string): QuantityPlan {
  const plan = planQuestion(question);
  const { status, reason, action } = plan;
  const understood = { schemaVersion: 1, question, status, reason, action } as const;
  if (plan.status === "unsupported") return { ...understood, query: undefined, assumptions: [] };
  const { subject, predicatePrefixes, units } = plan;
  const query = parseQuantityQuery({ userId, subjects: [subject], predicatePrefixes, units });
  return { ...understood, query, assumptions: PLAN_ASSUMPTIONS };
}
