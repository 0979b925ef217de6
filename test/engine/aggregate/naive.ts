import {
  type AssertionAggregation,
  type AssertionQuery,
  CLAIM_DIMENSIONS,
  type QuantityAggregation,
  type QuantityQuery,
  type RecordFilter,
} from "../../../src/domain/records/aggregation.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import type { Told } from "./claims-world.ts";

/**
 * What counts and sums come to, worked out from what was told about each memory: plain arrays, sorted again and again, and
 * whole numbers. Nothing here reads metadata, normalises or parses a decimal.
 */

/** A filter with its texts as they are compared. */
export type NaiveFilter = Omit<
  RecordFilter,
  "subjects" | "predicates" | "objects" | "polarities"
> & {
  readonly subjects: readonly string[];
  readonly predicates: readonly string[];
  readonly objects: readonly string[];
  readonly polarities: readonly string[];
};

const THRESHOLD = 0.3;

/** By code points, which the code units of UTF-8 are in the order of. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function scanned(told: readonly Told[], filter: NaiveFilter): Told[] {
  const active = ["tentative", "stable", "contested"];
  const states: readonly string[] | undefined =
    filter.lifecycleStates ?? (filter.retrievalMode === "explicit" ? undefined : active);
  const scopes = filter.scopes.length === 0 ? [undefined] : filter.scopes;
  return scopes.flatMap((scope) =>
    filter.nodeTypes.flatMap((type) =>
      told
        .filter(({ node }) => scope === undefined || node.scope === scope)
        .filter(({ node }) => node.nodeType === type)
        .filter(({ node }) => states === undefined || states.includes(node.lifecycleState))
        .sort((a, b) => byBytes(a.node.id, b.node.id)),
    ),
  );
}

/** What is not known to be so, with its detail. */
export function doubtAbout({ node, conditionState }: Told): string | undefined {
  if (node.epistemicType === "conditional" && conditionState !== "true") {
    const isKnown = conditionState === "false" || conditionState === "expired";
    return `condition_filtered:${isKnown ? conditionState : "unknown"}`;
  }
  if (node.epistemicType === "hypothetical" || node.epistemicType === "deprecated") {
    return `epistemic_filtered:${node.epistemicType}`;
  }
  const isLow = node.epistemicType === "unverified" && node.confidence <= THRESHOLD;
  return isLow ? `unverified_below_threshold:${node.confidence.toFixed(2)}<=0.30` : undefined;
}

function exclusionOf(
  told: Told,
  filter: NaiveFilter,
  prefixes: readonly string[],
): string | undefined {
  const doubt = filter.retrievalMode === "default" ? doubtAbout(told) : undefined;
  if (doubt !== undefined) return doubt.replace(/:.*/, "");
  const untimely = untimelyOf(told, filter);
  if (untimely !== undefined) return untimely;
  const parts = CLAIM_DIMENSIONS.map((name) => told[name].normal);
  if (parts.includes(undefined)) return "missing_structured_assertion";
  const chosen = (texts: readonly string[], name: (typeof CLAIM_DIMENSIONS)[number]) =>
    texts.length === 0 || texts.includes(told[name].normal ?? "");
  const predicate = told.predicate.normal ?? "";
  const isFamily = prefixes.some((prefix) => `${predicate}_`.startsWith(`${prefix}_`));
  const isPredicate =
    prefixes.length === 0
      ? chosen(filter.predicates, "predicate")
      : isFamily || filter.predicates.includes(predicate);
  const passes = [
    chosen(filter.subjects, "subject"),
    isPredicate,
    chosen(filter.objects, "object"),
    chosen(filter.polarities, "polarity"),
  ].every(Boolean);
  return passes ? undefined : "selector_mismatch";
}

function untimelyOf({ node }: Told, filter: NaiveFilter): string | undefined {
  const { knowledgeAt, validAt, eventTimeFrom: from, eventTimeTo: to } = filter;
  if (knowledgeAt !== undefined && node.createdAt > knowledgeAt) return "after_knowledge_cutoff";
  if (validAt !== undefined && !holdsAt(node, validAt)) return "outside_validity_window";
  if (from === undefined && to === undefined) return undefined;
  if (node.eventTime === undefined) return "missing_event_time";
  if (from !== undefined && node.eventTime < from) return "before_event_time_window";
  return to !== undefined && node.eventTime > to ? "after_event_time_window" : undefined;
}

/** From the begin on, up to the end without it. */
export function holdsAt(
  { validFrom, validTo }: { readonly validFrom: string; readonly validTo: string | undefined },
  moment: string,
): boolean {
  return !(validFrom > moment) && !(validTo !== undefined && validTo <= moment);
}

export function counts(names: readonly string[]): Record<string, number> {
  const sorted = [...new Set(names)].sort(byBytes);
  return Object.fromEntries(
    sorted.map((name) => [name, names.filter((other) => other === name).length]),
  );
}

type Grouped = {
  readonly written: readonly string[];
  readonly normal: readonly string[];
  readonly members: readonly Told[];
};

/** Groups in the order of their normalised values; members in the order of the scan. */
function grouped(records: readonly Told[], dimensions: readonly string[]): readonly Grouped[] {
  const spelling = (told: Told, name: string) =>
    name === "unit"
      ? told.amount?.unit
      : told[name as "subject" | "predicate" | "object" | "polarity"];
  const normalOf = (told: Told) => dimensions.map((name) => spelling(told, name)?.normal ?? "");
  const written = (told: Told, name: string) => {
    const text = spelling(told, name)?.written;
    return typeof text === "string" ? text.trim() : "positive";
  };
  const keys = new Map(records.map((told) => [JSON.stringify(normalOf(told)), normalOf(told)]));
  return [...keys]
    .sort(([, a], [, b]) => {
      const at = a.findIndex((part, index) => part !== b[index]);
      return at === -1 ? 0 : byBytes(a[at] ?? "", b[at] ?? "");
    })
    .map(([key, normal]) => {
      const members = records.filter((told) => JSON.stringify(normalOf(told)) === key);
      const first = members[0];
      if (first === undefined) throw new Error("a key without a member");
      return { normal, members, written: dimensions.map((name) => written(first, name)) };
    });
}

const named = (dimensions: readonly string[], values: readonly string[]) =>
  Object.fromEntries(dimensions.map((name, index) => [name, values[index] ?? ""]));

function eventsOf(members: readonly Told[]): Uuid[] {
  return [...new Set(members.flatMap(({ node }) => node.evidenceRefs))].sort(byBytes);
}

function timesOf(members: readonly Told[]) {
  const times = members.flatMap(({ node }) => node.eventTime ?? []).sort(byBytes);
  return { earliestEventTime: times[0], latestEventTime: times.at(-1) };
}

const COVERAGE = {
  schemaVersion: 1,
  storedSetExhaustive: true,
  sourceExtractionCoverage: "unknown",
  realWorldCoverage: "unknown",
  consistency: "complete_for_unchanged_store",
} as const;

export function naiveAssertions(
  told: readonly Told[],
  userId: string,
  query: AssertionQuery,
  filter: NaiveFilter,
): AssertionAggregation {
  const visited = scanned(told, filter);
  const reasons = visited.map((record) => exclusionOf(record, filter, []));
  const matched = visited.filter((_, index) => reasons[index] === undefined);
  const all = grouped(matched, query.groupBy);
  return {
    ...COVERAGE,
    userId,
    query,
    scannedNodes: visited.length,
    matchedRecords: matched.length,
    distinctCount: all.length,
    groupsTruncated: all.length > query.groupLimit,
    semanticEquivalence: "normalized_exact_only",
    exclusions: counts(reasons.filter((reason) => reason !== undefined)),
    groups: all.slice(0, query.groupLimit).map(({ written, normal, members }) => {
      const ids = members.map(({ node }) => node.id);
      const events = eventsOf(members);
      return {
        values: named(query.groupBy, written),
        normalizedValues: named(query.groupBy, normal),
        occurrenceCount: members.length,
        evidenceCount: events.length,
        sampleNodeIds: ids.slice(0, query.sampleLimit).sort(byBytes),
        sampleEvidenceRefs: events.slice(0, query.sampleLimit),
        samplesTruncated: Math.max(ids.length, events.length) > query.sampleLimit,
        ...timesOf(members),
      };
    }),
  };
}

/** Plain notation of a number of units of 10^-40, with a number of places. */
function plain(units: bigint, places: number): string {
  const digits = String(units < 0n ? -units : units).padStart(41, "0");
  const text = `${digits.slice(0, -40)}.${digits.slice(-40)}`;
  const cut = text.slice(0, text.length - 40 + Math.max(0, places)).replace(/\.$/, "");
  return units < 0n ? `-${cut}` : cut;
}

export function naiveQuantities(
  told: readonly Told[],
  userId: string,
  query: QuantityQuery,
  naive: {
    readonly filter: NaiveFilter;
    readonly prefixes: readonly string[];
    readonly units: readonly string[];
  },
): QuantityAggregation {
  const { filter, prefixes, units } = naive;
  const visited = scanned(told, filter);
  const reasons = visited.map((record) => {
    const reason = exclusionOf(record, filter, prefixes);
    if (reason !== undefined) return reason;
    if (record.amount === undefined) return "missing_quantity";
    const { worth, unit } = record.amount;
    if (worth === undefined) return "invalid_quantity";
    return units.length === 0 || units.includes(unit.normal ?? "") ? undefined : "unit_mismatch";
  });
  const matched = visited.filter((_, index) => reasons[index] === undefined);
  const all = grouped(matched, query.groupBy);
  return {
    ...COVERAGE,
    userId,
    query,
    scannedNodes: visited.length,
    matchedQuantityRecords: matched.length,
    distinctCount: all.length,
    groupsTruncated: all.length > query.groupLimit,
    unitConversion: "none",
    semanticEquivalence:
      prefixes.length === 0 ? "normalized_exact_only" : "normalized_exact_and_predicate_prefix",
    exclusions: counts(reasons.filter((reason) => reason !== undefined)),
    groups: all.slice(0, query.groupLimit).map((group) => naiveSum(group, query)),
  };
}

function naiveSum({ written, normal, members }: Grouped, query: QuantityQuery) {
  const worths = members.map(({ amount }) => amount?.worth ?? { units: 0n, places: 0 });
  const places = Math.max(...worths.map((worth) => worth.places));
  const total = worths.reduce((sum, { units }) => sum + units, 0n);
  // Of equal values the one that was scanned first; sorting is stable.
  const ascending = [...worths].sort((a, b) =>
    a.units === b.units ? 0 : a.units < b.units ? -1 : 1,
  );
  const least = ascending[0] ?? { units: 0n, places: 0 };
  const most = ascending.find(({ units }) => units === ascending.at(-1)?.units) ?? least;
  return {
    values: named(query.groupBy, written),
    normalizedValues: named(query.groupBy, normal),
    valueCount: members.length,
    total: plain(total, places),
    minimum: plain(least.units, least.places),
    maximum: plain(most.units, most.places),
    evidenceCount: eventsOf(members).length,
    samples: members.slice(0, query.sampleLimit).map(({ node, amount }) => ({
      nodeId: node.id,
      value: plain(amount?.worth?.units ?? 0n, amount?.worth?.places ?? 0),
      unit: String(amount?.unit.written),
      sourceText: amount?.text ?? "",
      evidenceRefs: [...node.evidenceRefs].sort(byBytes),
    })),
    samplesTruncated: members.length > query.sampleLimit,
    ...timesOf(members),
  };
}
