import { LIMITS, parseFilled, parseOptionalInteger } from "../../domain/arguments.ts";
import {
  ACTIVE_STATES,
  LIFECYCLE_STATES,
  type LifecycleState,
  NODE_TYPES,
  type NodeType,
  parseMember,
  RETRIEVAL_MODES,
  type RetrievalMode,
  SCOPES,
  type Scope,
} from "../../domain/enums.ts";
import {
  type Claim,
  epistemicExclusion,
  normaliseClaim,
  normalisePredicate,
  POSITIVE,
  readClaim,
} from "../../domain/epistemics.ts";
import { invalid } from "../../domain/errors.ts";
import { parseInstantInput, parseWindow } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import {
  type AssertionQuery,
  CLAIM_DIMENSIONS,
  type ExclusionCounts,
  QUANTITY_DIMENSIONS,
  type QuantityQuery,
  type RecordFilter,
  type StateQuery,
} from "../../domain/records/aggregation.ts";
import type { Instant } from "../../lib/instant.ts";
import { compareCodePoints, normaliseText } from "../../lib/text.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { EngineDeps } from "../deps.ts";
import { nodePages } from "../pages.ts";
import type {
  AssertionQueryInput,
  QuantityQueryInput,
  QuantityQuestionInput,
  StateQueryInput,
} from "./api.ts";

const DEFAULT_NODE_TYPES = ["fact", "decision", "preference"] as const satisfies NodeType[];
const DEFAULT_GROUPS = 1000;
const DEFAULT_SAMPLES = 10;
const DEFAULT_ENTRIES = 1000;

const STATE_MEMBERS = words(
  "userId subject predicate scope validAt knowledgeAt nodeTypes limit signal",
);
const QUESTION_MEMBERS = words("userId question signal");
const ASSERTION_MEMBERS = words(
  `userId subjects predicates objects polarities groupBy scopes nodeTypes lifecycleStates retrievalMode eventTimeFrom
  eventTimeTo validAt knowledgeAt groupLimit sampleLimit signal`,
);
const QUANTITY_MEMBERS = new Set([...ASSERTION_MEMBERS, "predicatePrefixes", "units"]);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

export function parseAssertionQuery(input: AssertionQueryInput): AssertionQuery {
  requireMembers(input, ASSERTION_MEMBERS);
  const groupBy = setOf(input.groupBy, "group_by", CLAIM_DIMENSIONS) ?? ["object"];
  return { ...parseFilter(input), groupBy: atLeastOne(groupBy, "group_by") };
}

export function parseQuantityQuery(input: QuantityQueryInput): QuantityQuery {
  requireMembers(input, QUANTITY_MEMBERS);
  const groupBy = setOf(input.groupBy, "group_by", QUANTITY_DIMENSIONS) ?? ["unit"];
  if (!groupBy.includes("unit")) {
    throw invalid("group_by", "must contain unit: amounts of different units are never added");
  }
  return {
    ...parseFilter(input),
    predicatePrefixes: texts(input.predicatePrefixes, "predicate_prefixes") ?? [],
    units: texts(input.units, "units") ?? [],
    groupBy,
  };
}

/** @throws SvcError invalid_argument if it is blank */
export function parseQuestion(input: QuantityQuestionInput): string {
  requireMembers(input, QUESTION_MEMBERS);
  return parseFilled(input.question, "question");
}

export function parseStateQuery(input: StateQueryInput): StateQuery {
  requireMembers(input, STATE_MEMBERS);
  const validAt = parseInstantInput(input.validAt, "valid_at");
  if (validAt === undefined) throw invalid("valid_at", "is required: the moment to look at");
  return {
    subject: parseFilled(input.subject, "subject"),
    predicate: parseFilled(input.predicate, "predicate"),
    scope: parseMember(SCOPES, input.scope, "scope"),
    validAt,
    knowledgeAt: parseInstantInput(input.knowledgeAt, "knowledge_at"),
    nodeTypes: parseNodeTypes(input.nodeTypes),
    limit: integer(input.limit, "limit", [1, LIMITS.stateEntriesMax]) ?? DEFAULT_ENTRIES,
  };
}

function parseFilter(input: Omit<AssertionQueryInput, "groupBy">): RecordFilter {
  const { lifecycleStates: states = null, retrievalMode: mode = "default" } = input;
  const happened = parseWindow(input.eventTimeFrom, input.eventTimeTo, "event_time");
  return {
    subjects: texts(input.subjects, "subjects") ?? [],
    predicates: texts(input.predicates, "predicates") ?? [],
    objects: texts(input.objects, "objects") ?? [],
    polarities: texts(input.polarities, "polarities") ?? [POSITIVE],
    scopes: setOf(input.scopes, "scopes", SCOPES) ?? [],
    nodeTypes: parseNodeTypes(input.nodeTypes),
    lifecycleStates:
      states === null ? undefined : membersOf(states, "lifecycle_states", LIFECYCLE_STATES),
    retrievalMode: parseMember(RETRIEVAL_MODES, mode, "retrieval_mode"),
    eventTimeFrom: happened.from,
    eventTimeTo: happened.to,
    validAt: parseInstantInput(input.validAt, "valid_at"),
    knowledgeAt: parseInstantInput(input.knowledgeAt, "knowledge_at"),
    groupLimit:
      integer(input.groupLimit, "group_limit", [0, LIMITS.aggregationGroupsMax]) ?? DEFAULT_GROUPS,
    sampleLimit:
      integer(input.sampleLimit, "sample_limit", [0, LIMITS.aggregationSamplesMax]) ??
      DEFAULT_SAMPLES,
  };
}

function parseNodeTypes(value: unknown): readonly NodeType[] {
  return atLeastOne(setOf(value, "node_types", NODE_TYPES) ?? DEFAULT_NODE_TYPES, "node_types");
}

function requireMembers(input: unknown, members: ReadonlySet<string>): void {
  if (typeof input !== "object" || input === null) throw invalid("query", "must be an object");
  for (const name of Object.keys(input)) {
    if (!members.has(name)) throw invalid(name, "is not a known member of the query");
  }
}

/** Unlike elsewhere, `null` is refused: it could mean "any" or "none". */
function listOf(value: unknown, field: string): readonly unknown[] | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Set) return [...value];
  if (!Array.isArray(value)) throw invalid(field, "must be a list");
  return value;
}

function texts(value: unknown, field: string): readonly string[] | undefined {
  return listOf(value, field)?.map((item, index) => parseFilled(item, `${field}[${index}]`));
}

function membersOf<T extends string>(
  value: unknown,
  field: string,
  members: readonly T[],
): readonly T[] | undefined {
  return listOf(value, field)?.map((item, index) =>
    parseMember(members, item, `${field}[${index}]`),
  );
}

/** Without duplicates. */
function setOf<T extends string>(
  value: unknown,
  field: string,
  members: readonly T[],
): readonly T[] | undefined {
  const items = membersOf(value, field, members);
  const twice = items?.find((item, index) => items.indexOf(item) !== index);
  if (twice !== undefined) throw invalid(field, `${twice} is there twice`);
  return items;
}

function atLeastOne<T>(items: readonly T[], field: string): readonly T[] {
  if (items.length === 0) throw invalid(field, "must not be empty");
  return items;
}

function integer(
  value: unknown,
  field: string,
  [min, max]: readonly [number, number],
): number | undefined {
  if (value === null) throw invalid(field, `null is not an integer from ${min} to ${max}`);
  return parseOptionalInteger(value, field, min, max);
}

const PAGE = 500;

type Scan = {
  readonly userId: string;
  /** Empty: all. */
  readonly scopes: readonly Scope[];
  readonly nodeTypes: readonly NodeType[];
  /** Empty: nothing. */
  readonly lifecycleStates: readonly LifecycleState[];
  readonly signal: AbortSignal | undefined;
};

/** Visits an owner's memories by scope, type and id, one page at a time. @returns how many @throws the abort reason */
export async function scanRecords(
  { store }: Pick<EngineDeps<Graph>, "store">,
  { userId, scopes, nodeTypes, lifecycleStates, signal }: Scan,
  visit: (node: MemoryNode) => void,
): Promise<number> {
  signal?.throwIfAborted();
  if (lifecycleStates.length === 0) return 0;
  let scanned = 0;
  for (const scope of scopes.length === 0 ? [undefined] : scopes) {
    for (const nodeType of nodeTypes) {
      const page = { userId, scope, nodeType, lifecycleStates, limit: PAGE };
      for await (const nodes of nodePages(store, page)) {
        signal?.throwIfAborted();
        for (const node of nodes) visit(node);
        scanned += nodes.length;
      }
    }
  }
  return scanned;
}

type GroupedScan<R, T> = Omit<Scan, "lifecycleStates"> & {
  readonly lifecycleStates: readonly LifecycleState[] | undefined;
  readonly retrievalMode: RetrievalMode;
  readonly groupLimit: number;
  readonly read: (node: MemoryNode) => R | string;
  readonly begin: () => T;
  /** The values as written, and as compared. */
  readonly valuesOf: (record: R) => readonly [readonly string[], readonly string[]];
  readonly add: (group: T, node: MemoryNode, record: R) => void;
};

/** Groups records; `read` returns why one is left out. */
export async function groupRecords<R extends object, T>(
  deps: Pick<EngineDeps<Graph>, "store">,
  scan: GroupedScan<R, T>,
) {
  const exclusions = createExclusions();
  const groups = createGroups<T>(scan.groupLimit, scan.begin);
  let matched = 0;
  const lifecycleStates = statesOf(scan);
  const scannedNodes = await scanRecords(deps, { ...scan, lifecycleStates }, (node) => {
    const record = scan.read(node);
    if (typeof record === "string") return exclusions.add(record);
    matched += 1;
    const group = groups.of(...scan.valuesOf(record));
    if (group !== undefined) scan.add(group, node, record);
  });
  return {
    matched,
    groups: groups.first(),
    counted: {
      scannedNodes,
      distinctCount: groups.count(),
      groupsTruncated: groups.count() > scan.groupLimit,
      exclusions: exclusions.counts(),
      storedSetExhaustive: true,
      sourceExtractionCoverage: "unknown",
      realWorldCoverage: "unknown",
      consistency: "complete_for_unchanged_store",
    },
  } as const;
}

/** Counts reasons of exclusion. */
export type Exclusions = {
  readonly add: (reason: string) => void;
  /** By name. */
  readonly counts: () => ExclusionCounts;
};

/** Counts by the part before the first colon. */
export function createExclusions(): Exclusions {
  const counts = new Map<string, number>();
  return {
    add: (reason) => {
      const colon = reason.indexOf(":");
      const name = colon === -1 ? reason : reason.slice(0, colon);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    },
    // Names are ASCII: their order by units is that by code points.
    counts: () => Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** As written, and as compared. */
export type SpelledClaim = { readonly claim: Claim; readonly normal: Claim };

/** Returns the claim, else the first reason against it. */
type ClaimReader = (node: MemoryNode) => SpelledClaim | string;

function statesOf(
  filter: Pick<RecordFilter, "lifecycleStates" | "retrievalMode">,
): readonly LifecycleState[] {
  if (filter.lifecycleStates !== undefined) return filter.lifecycleStates;
  return filter.retrievalMode === "explicit" ? LIFECYCLE_STATES : ACTIVE_STATES;
}

/** The start is inclusive, the end exclusive. */
export function isValidAt(
  { validFrom, validTo }: Pick<MemoryNode, "validFrom" | "validTo">,
  moment: Instant,
): boolean {
  return validFrom <= moment && (validTo === undefined || moment < validTo);
}

/** @param prefixes a predicate also passes if it equals one of them or continues it with `_` */
export function createClaimReader(
  filter: RecordFilter,
  unverifiedThreshold: number,
  prefixes: readonly string[] = [],
): ClaimReader {
  const limits = { unverifiedThreshold, excludesThreshold: true };
  const isSelected = createSelector(filter, prefixes);
  return (node) => {
    if (filter.retrievalMode === "default") {
      const reason = epistemicExclusion(node, limits);
      if (reason !== undefined) return reason;
    }
    const untimely = timeExclusion(node, filter);
    if (untimely !== undefined) return untimely;
    const claim = readClaim(node.metadata);
    if (claim === undefined) return "missing_structured_assertion";
    const normal = normaliseClaim(claim);
    return isSelected(normal) ? { claim, normal } : "selector_mismatch";
  };
}

function timeExclusion(node: MemoryNode, filter: RecordFilter): string | undefined {
  const { knowledgeAt, validAt, eventTimeFrom, eventTimeTo } = filter;
  if (knowledgeAt !== undefined && node.createdAt > knowledgeAt) return "after_knowledge_cutoff";
  if (validAt !== undefined && !isValidAt(node, validAt)) return "outside_validity_window";
  if (eventTimeFrom === undefined && eventTimeTo === undefined) return undefined;
  if (node.eventTime === undefined) return "missing_event_time";
  if (eventTimeFrom !== undefined && node.eventTime < eventTimeFrom) {
    return "before_event_time_window";
  }
  return eventTimeTo !== undefined && node.eventTime > eventTimeTo
    ? "after_event_time_window"
    : undefined;
}

function createSelector(filter: RecordFilter, prefixes: readonly string[]) {
  const subjects = choiceOf(filter.subjects.map(normaliseText));
  const objects = choiceOf(filter.objects.map(normaliseText));
  const polarities = choiceOf(filter.polarities.map(normaliseText));
  const predicates = new Set(filter.predicates.map(normalisePredicate));
  const families = prefixes.map(normalisePredicate);
  const isAnyPredicate = predicates.size === 0 && families.length === 0;
  return ({ subject, predicate, object, polarity }: Claim): boolean =>
    polarities(polarity) &&
    subjects(subject) &&
    objects(object) &&
    (isAnyPredicate ||
      predicates.has(predicate) ||
      families.some((family) => predicate === family || predicate.startsWith(`${family}_`)));
}

/** Without texts, every text is chosen. */
export function choiceOf(texts: readonly string[]): (text: string) => boolean {
  const chosen = new Set(texts);
  return chosen.size === 0 ? () => true : (text) => chosen.has(text);
}

export type Group<T> = {
  readonly values: readonly string[];
  readonly normal: readonly string[];
  readonly gathered: T;
};

type Groups<T> = {
  /** The group of these values, created if new; undefined if beyond the limit. */
  readonly of: (values: readonly string[], normal: readonly string[]) => T | undefined;
  /** Including those not shown. */
  readonly count: () => number;
  /** The first by normalized values in code-point order. */
  readonly first: () => readonly Group<T>[];
};

/** Groups held beyond the limit before pruning. */
const SLACK = 1000;

/** Groups of which the first `limit` are shown; for the others only keys are kept. */
export function createGroups<T>(limit: number, begin: () => T): Groups<T> {
  const keys = new Set<string>();
  const held = new Map<string, Group<T>>();
  let last: readonly string[] | undefined;

  const inOrder = () => [...held].sort(([, a], [, b]) => compareTuples(a.normal, b.normal));
  const thinOut = () => {
    const ordered = inOrder();
    for (const [key] of ordered.slice(limit)) held.delete(key);
    last = ordered[limit - 1]?.[1].normal;
  };
  return {
    of: (values, normal) => {
      const key = normal.length === 1 ? (normal[0] ?? "") : JSON.stringify(normal);
      const known = held.get(key);
      if (known !== undefined) return known.gathered;
      keys.add(key);
      const isBehind = last !== undefined && compareTuples(normal, last) > 0;
      if (limit === 0 || isBehind) return undefined;
      const gathered = begin();
      held.set(key, { values, normal, gathered });
      if (held.size > limit + Math.max(limit, SLACK)) thinOut();
      return gathered;
    },
    count: () => keys.size,
    first: () =>
      inOrder()
        .slice(0, limit)
        .map(([, group]) => group),
  };
}

/** Lexicographic, by code points. */
function compareTuples(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const order = compareCodePoints(part, b[index] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

/** Cited events, and the times of what they state. */
export type CitedEvents = {
  readonly events: Set<Uuid>;
  earliest: Instant | undefined;
  latest: Instant | undefined;
};

export function noneCited(): CitedEvents {
  return { events: new Set(), earliest: undefined, latest: undefined };
}

export function addCited(
  evidence: CitedEvents,
  { evidenceRefs, eventTime }: Pick<MemoryNode, "evidenceRefs" | "eventTime">,
): void {
  for (const event of evidenceRefs) evidence.events.add(event);
  if (eventTime === undefined) return;
  const { earliest, latest } = evidence;
  if (earliest === undefined || eventTime < earliest) evidence.earliest = eventTime;
  if (latest === undefined || eventTime > latest) evidence.latest = eventTime;
}

export type Sampled = CitedEvents & { count: number; readonly nodeIds: Uuid[] };

export function noneSampled(): Sampled {
  return { ...noneCited(), count: 0, nodeIds: [] };
}

export function addSample(group: Sampled, node: MemoryNode, samples: number): void {
  group.count += 1;
  if (group.nodeIds.length < samples) group.nodeIds.push(node.id);
  addCited(group, node);
}

/** The smallest ids of a set, ascending, without sorting all of a large one, which would block other work. */
export function smallestIds(ids: Iterable<Uuid>, wanted: number): readonly Uuid[] {
  const smallest: Uuid[] = [];
  for (const id of ids) {
    let rank = smallest.length;
    while (rank > 0 && id < (smallest[rank - 1] ?? "")) rank -= 1;
    if (rank >= wanted) continue;
    smallest.splice(rank, 0, id);
    if (smallest.length > wanted) smallest.pop();
  }
  return smallest;
}

/** Ids are ASCII: their order by units is that by code points. */
export function sortedIds(ids: Iterable<Uuid>): Uuid[] {
  return [...ids].sort();
}

/** In the order of the dimensions. */
export function byDimension<D extends string>(
  dimensions: readonly D[],
  values: readonly string[],
): Partial<Record<D, string>> {
  const named: Partial<Record<D, string>> = {};
  for (const [index, dimension] of dimensions.entries()) named[dimension] = values[index] ?? "";
  return named;
}
