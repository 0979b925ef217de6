import { z } from "zod";
import { LIMITS } from "../../domain/arguments.ts";
import {
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  RETRIEVAL_MODES,
  SCOPES,
} from "../../domain/enums.ts";
import { QUANTITY_GROUNDING } from "../../domain/quantity.ts";
import {
  type AssertionAggregation,
  assertionAggregationForm,
  assertionStateForm,
  CLAIM_DIMENSIONS,
  QUANTITY_DIMENSIONS,
  quantityAggregationForm,
  textAggregationForm,
} from "../../domain/records/aggregation.ts";
import { instantIn, owner, textOf } from "./core/fields.ts";
import { defineOperation, part, READS } from "./core/operation.ts";
import { type Body, type Field, field, optional, parsed, required } from "./core/request.ts";
import { json } from "./core/tool-text.ts";

/**
 * The queries. Tool schemas are looser where the engine checks. Closed sets are listed in the schemas of everyday tools, and in the error
 * message.
 */

const texts = z.array(z.string());

/** Texts, compared after normalisation; the engine refuses blank ones and names them. */
function selector(description: string, preset: readonly string[] = [], tool?: string) {
  return field(
    texts.optional().meta({ description, default: preset }),
    texts.nullish().meta({ ...(tool !== undefined && { description: tool }), default: preset }),
  );
}

/** Members of a closed set. */
function choices<const T extends string>(
  members: readonly T[],
  http: z.ZodType<T[] | null | undefined>,
  tool: z.ZodType<string[] | null | undefined> = texts.nullish(),
): Field<T[] | undefined> {
  return parsed(field(http, tool), (values, name) =>
    values.map((value, index) => parseMember(members, value, `${name}[${index}]`)),
  );
}

const DEFAULT_NODE_TYPES = { default: ["fact", "decision", "preference"] };

const nodeTypes = choices(
  NODE_TYPES,
  z
    .array(z.enum(NODE_TYPES))
    .optional()
    .meta({ minItems: 1, uniqueItems: true, ...DEFAULT_NODE_TYPES }),
  texts.nullish().meta(DEFAULT_NODE_TYPES),
);

/** A number that the engine checks for tools. */
function wholeNumber(max: number, preset: number) {
  return field(
    z.int().min(0).max(max).optional().meta({ default: preset }),
    z.int().nullish().meta({ default: preset }),
  );
}

function groupBy<const T extends string>(
  dimensions: readonly T[],
  preset: T,
  description?: string,
) {
  const said = description === undefined ? {} : { description };
  const members = z.array(z.enum(dimensions));
  return field(
    members.optional().meta({ ...said, minItems: 1, uniqueItems: true, default: [preset] }),
    members.nullish().meta({ ...said, default: [preset] }),
  );
}

const filter = {
  user_id: owner,
  subjects: selector("Any of these; empty: any.", [], "Any of these; empty: any."),
  predicates: selector("As subjects; blanks and hyphens count as underscores."),
  objects: selector("As subjects."),
  polarities: selector("Empty: any.", ["positive"], "[] for any."),
  scopes: choices(
    SCOPES,
    z.array(z.enum(SCOPES)).optional().meta({
      description: "Empty: all.",
      uniqueItems: true,
      default: [],
    }),
    texts.nullish().meta({ default: [] }),
  ),
  node_types: nodeTypes,
  lifecycle_states: choices(
    LIFECYCLE_STATES,
    z.array(z.enum(LIFECYCLE_STATES)).nullish().meta({
      description: "Absent: the active ones, in explicit mode all. Empty: nothing.",
    }),
  ),
  retrieval_mode: parsed(
    field(
      z.enum(RETRIEVAL_MODES).optional().meta({
        description:
          "default leaves out hypothetical, conditional and doubtful memories; explicit leaves out nothing.",
        default: "default",
      }),
      textOf(RETRIEVAL_MODES).nullish().meta({ default: "default" }),
    ),
    (mode, name) => parseMember(RETRIEVAL_MODES, mode, name),
  ),
  event_time_from: optional(instantIn, "Inclusive.", {}),
  event_time_to: optional(instantIn, "Inclusive.", {}),
  valid_at: optional(instantIn, "Keep what is valid at this moment.", {}),
  knowledge_at: optional(instantIn, "Keep what was stored at or before this moment.", {}),
  group_limit: wholeNumber(LIMITS.aggregationGroupsMax, 1000),
  sample_limit: wholeNumber(LIMITS.aggregationSamplesMax, 10),
};

const assertionsRequest = { ...filter, group_by: groupBy(CLAIM_DIMENSIONS, "object") };

const quantitiesRequest = {
  ...filter,
  predicate_prefixes: selector(
    "A prefix stands for itself and for itself followed by an underscore and more; beside predicates.",
    [],
    "`spent` also stands for `spent_on`.",
  ),
  units: selector("Never converted; empty: any.", [], "Never converted."),
  group_by: groupBy(QUANTITY_DIMENSIONS, "unit", "Has unit."),
};

const stateRequest = {
  user_id: owner,
  subject: required(z.string(), { examples: ["Ada"] }, {}),
  predicate: required(z.string(), { examples: ["lives in"] }, {}),
  scope: parsed(field(z.enum(SCOPES), textOf(SCOPES)), (value, name) =>
    parseMember(SCOPES, value, name),
  ),
  valid_at: required(instantIn, "The moment to look at."),
  knowledge_at: optional(
    instantIn,
    "Leave out what was stored after this moment.",
    "Ignore what was stored later.",
  ),
  node_types: nodeTypes,
  limit: field(
    z
      .int()
      .min(1)
      .max(LIMITS.stateEntriesMax)
      .optional()
      .meta({ description: "Entries of each list.", default: 1000 }),
    z.int().nullish().meta({ default: 1000 }),
  ),
};

const questionRequest = {
  user_id: owner,
  question: field(
    z
      .string()
      .min(1)
      .meta({
        description: "One plain question about an amount.",
        examples: ["How much did Ada spend on tea?"],
      }),
    z.string().meta({ description: "Such as: How much did I spend?" }),
  ),
};

/** A body with an owner and a query. @param names of the body and of the query in the OpenAPI document */
function queryBody(id: string, queryId: string, isRequired = false): Body {
  return {
    schema: ({ user_id, ...shape }) => {
      const query = z.strictObject(shape).meta({ id: queryId });
      return z
        .strictObject({
          user_id: user_id ?? z.never(),
          query: isRequired ? query : query.optional(),
        })
        .meta({ id });
    },
    flatten: ({ user_id, query }) => ({ user_id, ...Object(query) }),
  };
}

/** Conditions for counting a memory. */
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
