import {
  type AssertionsBody,
  assertionsBodySchema,
  type QuantitiesBody,
  quantitiesBodySchema,
  questionBodySchema,
  type StateBody,
  stateBodySchema,
  toAssertionInput,
  toQuantityInput,
  toStateInput,
} from "./aggregation-query-wire.ts";
import {
  assertionAggregationSchema,
  quantityAggregationSchema,
  textAggregationSchema,
  toAssertionAggregationWire,
  toQuantityAggregationWire,
  toTextAggregationWire,
} from "./aggregation-wire.ts";
import { requireOwner } from "./caller.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { assertionStateSchema, toStateWire } from "./state-wire.ts";
import { parseWire } from "./wire-issues.ts";

const aggregateAssertionsOperation = defineOperation({
  name: "aggregate_assertions",
  summary: "Count stored claims",
  description:
    "Counts and groups what memories state as subject, predicate and object, exactly and over all of them. Texts are compared after normalisation, never by meaning.",
  run: ({ engine, caller, signal }, { user_id, query = {} }: AssertionsBody) =>
    engine().aggregateAssertions({
      ...toAssertionInput(query, requireOwner(caller, user_id)),
      signal,
    }),
  http: {
    method: "post",
    path: "/v1/assertions/aggregate",
    request: { body: assertionsBodySchema },
    response: assertionAggregationSchema,
    statuses: [],
    read: (parts) => parseWire(assertionsBodySchema, parts.body, "body"),
    write: toAssertionAggregationWire,
  },
});

const assertionStateOperation = defineOperation({
  name: "assertion_state",
  summary: "What is claimed about a subject",
  description:
    "The claims about a subject that hold at a moment, the conflicts among them, and how they came about; never which of them is true.",
  run: ({ engine, caller, signal }, body: StateBody) =>
    engine().getAssertionState({
      ...toStateInput(body, requireOwner(caller, body.user_id)),
      signal,
    }),
  http: {
    method: "post",
    path: "/v1/assertions/state",
    request: { body: stateBodySchema },
    response: assertionStateSchema,
    statuses: [],
    read: (parts) => parseWire(stateBodySchema, parts.body, "body"),
    write: toStateWire,
  },
});

const aggregateQuantitiesOperation = defineOperation({
  name: "aggregate_quantities",
  summary: "Sum stored amounts",
  description:
    "Total, least and greatest of the amounts that claims hold, as exact decimals by unit; units are never converted. An amount counts only when the text of its memory bears it out.",
  run: ({ engine, caller, signal }, { user_id, query = {} }: QuantitiesBody) =>
    engine().aggregateQuantities({
      ...toQuantityInput(query, requireOwner(caller, user_id)),
      signal,
    }),
  http: {
    method: "post",
    path: "/v1/quantities/aggregate",
    request: { body: quantitiesBodySchema },
    response: quantityAggregationSchema,
    statuses: [],
    read: (parts) => parseWire(quantitiesBodySchema, parts.body, "body"),
    write: toQuantityAggregationWire,
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
    response: textAggregationSchema,
    statuses: [],
    read: (parts) => parseWire(questionBodySchema, parts.body, "body"),
    write: toTextAggregationWire,
  },
});

/** What counts and sums stored claims. */
export const AGGREGATION_OPERATIONS: readonly Operation[] = [
  aggregateAssertionsOperation,
  assertionStateOperation,
  aggregateQuantitiesOperation,
  aggregateTextOperation,
];
