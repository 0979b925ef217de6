import { parseFilled, parseOptionalInteger } from "../../domain/arguments.ts";
import { POSITIVE } from "../../domain/claims.ts";
import {
  LIFECYCLE_STATES,
  NODE_TYPES,
  type NodeType,
  parseMember,
  RETRIEVAL_MODES,
  SCOPES,
} from "../../domain/enums.ts";
import { invalid } from "../../domain/errors.ts";
import { LIMITS } from "../../domain/limits.ts";
import {
  type AssertionQuery,
  CLAIM_DIMENSIONS,
  QUANTITY_DIMENSIONS,
  type QuantityQuery,
  type RecordFilter,
} from "../../domain/records/aggregation.ts";
import type { StateQuery } from "../../domain/records/claim-state.ts";
import { parseInstantInput, parseWindow } from "../../domain/validity.ts";
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

/** Every member of an input: a missing member is a type error. */
type MembersOf<T> = Readonly<Record<keyof T, true>>;

const ASSERTION_MEMBERS: MembersOf<AssertionQueryInput> = {
  userId: true,
  subjects: true,
  predicates: true,
  objects: true,
  polarities: true,
  groupBy: true,
  scopes: true,
  nodeTypes: true,
  lifecycleStates: true,
  retrievalMode: true,
  eventTimeFrom: true,
  eventTimeTo: true,
  validAt: true,
  knowledgeAt: true,
  groupLimit: true,
  sampleLimit: true,
  signal: true,
};
const QUANTITY_MEMBERS: MembersOf<QuantityQueryInput> = {
  ...ASSERTION_MEMBERS,
  predicatePrefixes: true,
  units: true,
};
const QUESTION_MEMBERS: MembersOf<QuantityQuestionInput> = {
  userId: true,
  question: true,
  signal: true,
};
const STATE_MEMBERS: MembersOf<StateQueryInput> = {
  userId: true,
  subject: true,
  predicate: true,
  scope: true,
  validAt: true,
  knowledgeAt: true,
  nodeTypes: true,
  limit: true,
  signal: true,
};

/**
 * Checks a query for claims and fills in its defaults.
 * @throws SvcError invalid_argument
 */
export function parseAssertionQuery(input: AssertionQueryInput): AssertionQuery {
  requireMembers(input, ASSERTION_MEMBERS);
  const groupBy = setOf(input.groupBy, "group_by", CLAIM_DIMENSIONS) ?? ["object"];
  return { ...parseFilter(input), groupBy: atLeastOne(groupBy, "group_by") };
}

/**
 * Checks a query for amounts and fills in its defaults.
 * @throws SvcError invalid_argument
 */
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

/**
 * The question.
 * @throws SvcError invalid_argument if it is blank
 */
export function parseQuestion(input: QuantityQuestionInput): string {
  requireMembers(input, QUESTION_MEMBERS);
  return parseFilled(input.question, "question");
}

/**
 * Checks a query for the state of a claim and fills in its defaults.
 * @throws SvcError invalid_argument
 */
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

function requireMembers(input: unknown, members: Readonly<Record<string, true>>): void {
  if (typeof input !== "object" || input === null) throw invalid("query", "must be an object");
  for (const name of Object.keys(input)) {
    if (!Object.hasOwn(members, name)) throw invalid(name, "is not a known member of the query");
  }
}

/** A list; undefined when absent. Unlike elsewhere, `null` is refused: it could mean "any" or "none". */
function listOf(value: unknown, field: string): readonly unknown[] | undefined {
  if (value === undefined) return undefined;
  if (value instanceof Set) return [...value];
  if (!Array.isArray(value)) throw invalid(field, "must be a list");
  return value;
}

function texts(value: unknown, field: string): readonly string[] | undefined {
  return listOf(value, field)?.map((item, index) => parseFilled(item, `${field}[${index}]`));
}

/** Members of a closed set. */
function membersOf<T extends string>(
  value: unknown,
  field: string,
  members: readonly T[],
): readonly T[] | undefined {
  return listOf(value, field)?.map((item, index) =>
    parseMember(members, item, `${field}[${index}]`),
  );
}

/** Members of a closed set, without duplicates. */
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

/** An integer; undefined when absent. `null` does not count as absent. */
function integer(
  value: unknown,
  field: string,
  [min, max]: readonly [number, number],
): number | undefined {
  if (value === null) throw invalid(field, `null is not an integer from ${min} to ${max}`);
  return parseOptionalInteger(value, field, min, max);
}
