import {
  assertionAggregationForm,
  quantityAggregationForm,
  textAggregationForm,
} from "../../../domain/records/aggregation.ts";
import { assertionStateForm } from "../../../domain/records/claim-state.ts";
import type {
  AssertionQueryInput,
  QuantityQueryInput,
  StateQueryInput,
} from "../../../engine/aggregate/api.ts";
import { camelKeys } from "../../../lib/case.ts";
import { requireOwner } from "../core/caller.ts";
import { defineOperation, type Operation } from "../core/operation.ts";
import { READS } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import {
  assertionsBodySchema,
  quantitiesBodySchema,
  questionBodySchema,
  stateBodySchema,
} from "./query-wire.ts";
import { tellAssertions, tellQuantities, tellState, tellTextAggregation } from "./text.ts";
import {
  assertionsToolSchema,
  fromAssertionsTool,
  fromQuantitiesTool,
  fromStateTool,
  quantitiesToolSchema,
  questionToolSchema,
  stateToolSchema,
} from "./tool-wire.ts";

/** A query and its owner. */
type Owned<T> = {
  readonly userId: string | null | undefined;
  /** @throws SvcError invalid_argument for what no schema checks */
  readonly query: (userId: string) => T;
};

const aggregateAssertionsOperation = defineOperation({
  name: "aggregate_assertions",
  summary: "Count stored claims",
  description:
    "Counts and groups what memories state as subject, predicate and object, exactly and over all of them. Texts are compared after normalisation, never by meaning.",
  run: async ({ engine, caller, signal }, { userId, query }: Owned<AssertionQueryInput>) =>
    await engine().aggregateAssertions({ ...query(requireOwner(caller, userId)), signal }),
  http: {
    method: "post",
    path: "/v1/assertions/aggregate",
    request: { body: assertionsBodySchema },
    response: assertionAggregationForm,
    statuses: [],
    read: (parts) => {
      const { user_id: userId, query = {} } = parseWire(assertionsBodySchema, parts.body, "body");
      return { userId, query: (owner) => ({ ...camelKeys(query), userId: owner }) };
    },
  },
  mcp: {
    tool: "memory_aggregate_assertions",
    title: "Count claims",
    description:
      "Count and group all stored claims (subject, predicate, object) exactly: how often, how many different ones. " +
      "Texts match after normalisation, never by meaning; to find by meaning use memory_retrieve.",
    toolSet: "full",
    annotations: READS,
    input: assertionsToolSchema,
    output: assertionAggregationForm,
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(assertionsToolSchema, args, "arguments");
      return { userId: wire.user_id, query: (userId) => ({ ...fromAssertionsTool(wire), userId }) };
    },
    tell: tellAssertions,
  },
});

const assertionStateOperation = defineOperation({
  name: "assertion_state",
  summary: "What is claimed about a subject",
  description:
    "The claims about a subject that hold at a moment, the conflicts among them, and how they came about; never which of them is true.",
  run: async ({ engine, caller, signal }, { userId, query }: Owned<StateQueryInput>) =>
    await engine().getAssertionState({ ...query(requireOwner(caller, userId)), signal }),
  http: {
    method: "post",
    path: "/v1/assertions/state",
    request: { body: stateBodySchema },
    response: assertionStateForm,
    statuses: [],
    read: (parts) => {
      const wire = parseWire(stateBodySchema, parts.body, "body");
      return {
        userId: wire.user_id,
        query: (owner) => ({ ...camelKeys(wire.query), userId: owner }),
      };
    },
  },
  mcp: {
    tool: "memory_get_assertion_state",
    title: "State of a claim",
    description:
      "Read what is claimed about one subject and predicate at a moment, the conflicts, and the timeline: for `what was it then?`. It never says which claim is true.",
    toolSet: "full",
    annotations: READS,
    input: stateToolSchema,
    output: assertionStateForm,
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(stateToolSchema, args, "arguments");
      return { userId: wire.user_id, query: (userId) => ({ ...fromStateTool(wire), userId }) };
    },
    tell: tellState,
  },
});

const aggregateQuantitiesOperation = defineOperation({
  name: "aggregate_quantities",
  summary: "Sum stored amounts",
  description:
    "Total, least and greatest of the amounts that claims hold, as exact decimals by unit; units are never converted. An amount counts only when the text of its memory bears it out.",
  run: async ({ engine, caller, signal }, { userId, query }: Owned<QuantityQueryInput>) =>
    await engine().aggregateQuantities({ ...query(requireOwner(caller, userId)), signal }),
  http: {
    method: "post",
    path: "/v1/quantities/aggregate",
    request: { body: quantitiesBodySchema },
    response: quantityAggregationForm,
    statuses: [],
    read: (parts) => {
      const { user_id: userId, query = {} } = parseWire(quantitiesBodySchema, parts.body, "body");
      return { userId, query: (owner) => ({ ...camelKeys(query), userId: owner }) };
    },
  },
  mcp: {
    tool: "memory_aggregate_quantities",
    title: "Sum amounts",
    description:
      "Sum the amounts that stored claims hold: total, least and greatest by unit, as exact decimals; units are never converted. Use it instead of adding up search results.",
    toolSet: "full",
    annotations: READS,
    input: quantitiesToolSchema,
    output: quantityAggregationForm,
    needsOwner: true,
    read: (args) => {
      const wire = parseWire(quantitiesToolSchema, args, "arguments");
      return { userId: wire.user_id, query: (userId) => ({ ...fromQuantitiesTool(wire), userId }) };
    },
    tell: tellQuantities,
  },
});

const aggregateTextOperation = defineOperation({
  name: "aggregate_quantities_from_text",
  summary: "Sum the amounts that a question asks for",
  description:
    "Understands complete questions such as `How much did I spend?` from a fixed table; any other question is answered as unsupported, without a scan.",
  run: (
    { engine, caller, signal },
    body: { readonly user_id?: string | null | undefined; readonly question: string },
  ) =>
    engine().aggregateQuantitiesFromText({
      userId: requireOwner(caller, body.user_id),
      question: body.question,
      signal,
    }),
  http: {
    method: "post",
    path: "/v1/quantities/aggregate-text",
    request: { body: questionBodySchema },
    response: textAggregationForm,
    statuses: [],
    read: (parts) => parseWire(questionBodySchema, parts.body, "body"),
  },
  mcp: {
    tool: "memory_aggregate_quantities_from_text",
    title: "Answer how much",
    description:
      "Sum amounts for one plain question about `I` or `we`, without names, dates or conditions. Any other question comes back as unsupported: then use memory_aggregate_quantities.",
    toolSet: "full",
    annotations: READS,
    input: questionToolSchema,
    output: textAggregationForm,
    needsOwner: true,
    read: (args) => parseWire(questionToolSchema, args, "arguments"),
    tell: tellTextAggregation,
  },
});

/** The operations that count and sum stored claims. */
export const AGGREGATION_OPERATIONS: readonly Operation[] = [
  aggregateAssertionsOperation,
  assertionStateOperation,
  aggregateQuantitiesOperation,
  aggregateTextOperation,
];
