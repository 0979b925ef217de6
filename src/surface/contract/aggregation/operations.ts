import { QUANTITY_GROUNDING } from "../../../domain/quantity.ts";
import {
  type AssertionAggregation,
  assertionAggregationForm,
  assertionStateForm,
  quantityAggregationForm,
  textAggregationForm,
} from "../../../domain/records/aggregation.ts";
import { defineOperation, part } from "../core/operation.ts";
import { READS } from "../core/operation-parts.ts";
import { json } from "../core/tool-text.ts";
import {
  assertionsRequest,
  quantitiesRequest,
  queryBody,
  questionRequest,
  stateRequest,
} from "./request.ts";

/** What makes a memory count. */
const CLAIM = json({ subject: "I", predicate: "spent", object: "$20" });
/** The amount must also be in its text. */
const QUANTITY = { value: "20", unit: "$", source_text: "$20", grounding: QUANTITY_GROUNDING };
const AMOUNT = `${json({ ...JSON.parse(CLAIM), quantity: QUANTITY })}; its text has to state the amount as well`;

/** Explains that nothing was counted because no memory states its values in metadata. */
function unclaimed(
  { exclusions }: Pick<AssertionAggregation, "exclusions">,
  counted: number,
  example: string,
): string | undefined {
  const isUnclaimed = ["missing_structured_assertion", "missing_quantity"].some(
    (reason) => (exclusions[reason] ?? 0) > 0,
  );
  if (counted > 0 || !isUnclaimed) return undefined;
  return `This is no zero: what texts say counts only where it is stored in parts too, as a fact with metadata ${example}. To read the texts use memory_retrieve.`;
}

const aggregateAssertionsOperation = defineOperation({
  name: "aggregate_assertions",
  summary: "Count stored claims",
  description:
    "Counts and groups what memories state as subject, predicate and object, exactly and over all of them. Texts are compared after normalisation, never by meaning.",
  request: assertionsRequest,
  run: ({ engine, signal }, input) => engine().aggregateAssertions({ ...input, signal }),
  answer: assertionAggregationForm,
  http: {
    route: "post /v1/assertions/aggregate",
    body: queryBody("AssertionAggregationRequest", "AssertionQueryRequest"),
  },
  mcp: {
    tool: "memory_aggregate_assertions",
    title: "Count claims",
    description:
      "Count and group all stored claims (subject, predicate, object) exactly: how often, how many different ones. " +
      "Texts match after normalisation, never by meaning; to find by meaning use memory_retrieve.",
    silentArguments: ["group_limit", "sample_limit"],
    annotations: READS,
    says: (answer) => unclaimed(answer, answer.matchedRecords, CLAIM),
  },
});

const assertionStateOperation = defineOperation({
  name: "assertion_state",
  summary: "What is claimed about a subject",
  description:
    "The claims about a subject that hold at a moment, the conflicts among them, and how they came about; never which of them is true.",
  request: stateRequest,
  run: ({ engine, signal }, input) => engine().getAssertionState({ ...input, signal }),
  answer: assertionStateForm,
  http: {
    route: "post /v1/assertions/state",
    body: queryBody("AssertionStateRequest", "StateQueryRequest", true),
  },
  mcp: {
    tool: "memory_get_assertion_state",
    title: "State of a claim",
    description:
      "Read what is claimed about one subject and predicate at a moment, the conflicts, and the timeline: for `what was it then?`. It never says which claim is true.",
    annotations: READS,
    says: (answer) => unclaimed(answer, answer.timeline.length, CLAIM),
  },
});

const aggregateQuantitiesOperation = defineOperation({
  name: "aggregate_quantities",
  summary: "Sum stored amounts",
  description:
    "Total, least and greatest of the amounts that claims hold, as exact decimals by unit; units are never converted. An amount counts only when the text of its memory bears it out.",
  request: quantitiesRequest,
  run: ({ engine, signal }, input) => engine().aggregateQuantities({ ...input, signal }),
  answer: quantityAggregationForm,
  http: {
    route: "post /v1/quantities/aggregate",
    body: queryBody("QuantityAggregationRequest", "QuantityQueryRequest"),
  },
  mcp: {
    tool: "memory_aggregate_quantities",
    title: "Sum amounts",
    description:
      "Sum the amounts that stored claims hold: total, least and greatest by unit, as exact decimals; units are never converted. Use it instead of adding up search results.",
    silentArguments: ["group_limit", "sample_limit"],
    annotations: READS,
    says: (answer) => unclaimed(answer, answer.matchedQuantityRecords, AMOUNT),
  },
});

const aggregateTextOperation = defineOperation({
  name: "aggregate_quantities_from_text",
  summary: "Sum the amounts that a question asks for",
  description:
    "Understands complete questions such as `How much did I spend?` from a fixed table; any other question is answered as unsupported, without a scan.",
  request: questionRequest,
  run: ({ engine, signal }, input) => engine().aggregateQuantitiesFromText({ ...input, signal }),
  answer: textAggregationForm,
  http: { route: "post /v1/quantities/aggregate-text", body: "TextAggregationRequest" },
  mcp: {
    tool: "memory_aggregate_quantities_from_text",
    title: "Answer how much",
    description:
      "Sum amounts for one plain question about `I` or `we`, without names, dates or conditions. Any other question comes back as unsupported: then use memory_aggregate_quantities.",
    annotations: READS,
    says: ({ aggregation }) =>
      aggregation === undefined
        ? 'Only plain questions such as "How much did I spend?" are understood. Use memory_aggregate_quantities, or memory_retrieve.'
        : unclaimed(aggregation, aggregation.matchedQuantityRecords, AMOUNT),
  },
});

/** The operations that count and sum stored claims. */
export const AGGREGATION_OPERATIONS = part(
  "aggregation",
  aggregateAssertionsOperation,
  assertionStateOperation,
  aggregateQuantitiesOperation,
  aggregateTextOperation,
);
