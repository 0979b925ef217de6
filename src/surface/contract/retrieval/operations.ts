import { z } from "zod";
import { LIMITS } from "../../../domain/arguments.ts";
import {
  NODE_TYPES,
  parseMember,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  SCOPES,
} from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import { asksOfPerson } from "../../../domain/overview.ts";
import type { RetrieveInput } from "../../../engine/retrieve/api.ts";
import { instantIn, owner, sourceType, textOf } from "../core/fields.ts";
import { type CallContext, defineOperation, part, READS } from "../core/operation.ts";
import {
  type Body,
  field,
  httpField,
  type InputOf,
  optional,
  parsed,
  required,
  toolField,
  type Wire,
} from "../core/request.ts";
import { withTexts } from "../explanation.ts";
import {
  bounded,
  retrieveToolView,
  retrieveView,
  type ToldRetrieval,
  toToolAnswer,
} from "./answer.ts";
import { tellRetrieve } from "./text.ts";

const scope = z.enum(SCOPES);
const scopes = { description: "One scope or several; absent means all." };
const crossScope = z.boolean();

/** Members that may also be nested in `filters`. */
const filters = {
  scope: parsed(
    field(
      z
        .union([scope, z.array(scope).min(1)])
        .nullish()
        .meta(scopes),
      z
        .union([textOf(SCOPES), z.array(textOf(SCOPES))])
        .nullish()
        .meta(scopes),
    ),
    (given, name) =>
      typeof given === "string"
        ? parseMember(SCOPES, given, name)
        : given.map((value, index) => parseMember(SCOPES, value, `${name}[${index}]`)),
  ),
  time_from: optional(instantIn, "Stored at or after this moment."),
  time_to: optional(instantIn, "Stored at or before this moment."),
  as_of: past(
    "Answer as at this moment: what was known and valid then, retired memories included.",
  ),
  knowledge_at: past("Another name of as_of."),
  event_time_from: optional(instantIn, "Happened at or after this moment."),
  event_time_to: optional(instantIn, "Happened at or before this moment."),
  include_cross_scope: field(
    crossScope.optional().meta({
      description: "Hints from other scopes for embedded callers; this answer never holds them.",
      default: true,
    }),
    crossScope.nullish(),
  ),
  exclude_node_types: optional(z.array(z.enum(NODE_TYPES))),
  source_types: optional(z.array(sourceType), "Only these sources; an empty list allows none."),
};

function past(description: string) {
  return parsed(
    field(
      instantIn.nullish().meta({ description }),
      z.string().nullish().meta({ description, format: "date-time" }),
    ),
    // Some models send an empty text for absent.
    (moment) => (moment === "" ? undefined : moment),
  );
}

/** Six factors of one form. */
function multipliersOf(factor: z.ZodOptional<z.ZodNumber>) {
  return z.strictObject({
    semantic: factor,
    lexical: factor,
    graph: factor,
    recency: factor,
    salience: factor,
    confidence: factor,
  });
}

const checkedMultipliers = multipliersOf(z.number().min(0.25).max(4).optional()).meta({
  id: "RankingMultipliers",
  description: "Factors on the weights, each 0.25 to 4, default 1. Only with weighted fusion.",
});
const toldMultipliers = multipliersOf(z.number().optional()).meta({
  id: "ToolRankingMultipliers",
  description:
    "Factors 0.25 to 4 on semantic, lexical, graph, recency, salience, confidence; weighted fusion only.",
});

/** A number that HTTP checks; tools describe the rule, and the engine's message explains a rejection. */
function atLeast(
  number: z.ZodNumber,
  minimum: number,
  description: string,
  tool: string = description,
) {
  return field(
    number.min(minimum).nullish().meta({ description }),
    number.nullish().meta({ description: tool, minimum }),
  );
}

/** Results over HTTP if a request names neither a number nor a budget. */
const USUAL_RESULTS = 10;

export const retrieveRequest = {
  query: required(z.string().max(LIMITS.queryMaxChars), {
    description: "The question, in plain words.",
    examples: ["Who is the dentist of Ada?"],
  }),
  user_id: owner,
  reference_time: optional(instantIn, "The moment to take for now when recency counts."),
  token_budget: atLeast(
    z.int(),
    0,
    "Tokens of the context, at most 131072; default 4096.",
    "Tokens of the context.",
  ),
  limit: atLeast(
    z.int(),
    0,
    `Most results. Absent: ${USUAL_RESULTS}, or no cap if token_budget bounds the answer; 0: no cap.`,
    "Most results. Ask for 5 to 20.",
  ),
  max_per_source: atLeast(z.int(), 1, "Most results of one text from the same evidence."),
  max_per_evidence: atLeast(z.int(), 1, "Most results from the same evidence."),
  min_score: atLeast(z.number(), 0, "Leave out what scores lower."),
  ranking_multipliers: field(checkedMultipliers.nullish(), toldMultipliers.nullish()),
  min_fidelity: optional(
    z.enum(REPRESENTATION_LEVELS),
    "The shortest form in which a memory may enter the context.",
  ),
  retrieval_mode: optional(z.enum(RETRIEVAL_MODES), {
    description: "explicit also finds unverified, hypothetical and conditional memories.",
    default: "default",
  }),
  mode: optional(z.enum(RETRIEVAL_MODES), "Another name of retrieval_mode."),
  keep_receipt: httpField(
    z
      .boolean()
      .optional()
      .meta({ description: "false: no receipt is kept of this answer.", default: true }),
  ),
  explain: httpField(
    z.boolean().optional().meta({
      description:
        "true: the answer has the records of its context with their score traces, its stages, its receipt and its explanation, kept or not.",
      default: false,
    }),
  ),
  ...filters,
  node_types: toolField(
    z
      .array(z.enum(NODE_TYPES))
      .nullish()
      .meta({ description: "Only these, such as task for open tasks." }),
  ),
  include_context: toolField(
    z.boolean().nullish().meta({
      description: "Also return a context.",
      default: false,
    }),
  ),
};
type RetrieveRequest = InputOf<typeof retrieveRequest>;

/** A body whose filters may be nested in `filters`. */
export const retrieveBody: Body = {
  schema: (shape) => {
    const nested = Object.entries(shape).filter(([name]) => Object.hasOwn(filters, name));
    const filtersSchema = z
      .strictObject(Object.fromEntries(nested))
      .meta({ id: "RetrieveFilters" });
    return z
      .strictObject({ ...shape, filters: filtersSchema.nullish() })
      .meta({ id: "RetrieveRequest" });
  },
  flatten: (body) => {
    const { limit, ...flat } = flattenFilters(body);
    const most = limit ?? (isGiven(flat["token_budget"]) ? 0 : USUAL_RESULTS);
    return { ...flat, ...(most !== 0 && { limit: most }) };
  },
};

/** @throws SvcError invalid_argument if a filter is given twice with different values */
function flattenFilters({ filters: given, ...flat }: Wire): Wire {
  const nested = Object.entries(given ?? {}).filter(([, value]) => isGiven(value));
  for (const [key, value] of nested) {
    const beside = flat[key];
    if (isGiven(beside) && JSON.stringify(value) !== JSON.stringify(beside)) {
      throw invalid(`filters.${key}`, `differs from ${key} beside it; give one of them`);
    }
  }
  return { ...flat, ...Object.fromEntries(nested) };
}

/** Whether a member of a request has a value. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** @throws SvcError invalid_argument for two different modes */
export function toRetrieveInput(
  { mode, includeContext: _shown, nodeTypes, ...input }: RetrieveRequest,
  { signal, client }: Pick<CallContext, "signal" | "client">,
): RetrieveInput {
  const { retrievalMode } = input;
  if (retrievalMode && mode && retrievalMode !== mode) {
    throw invalid(
      "mode",
      `${JSON.stringify(mode)} differs from retrieval_mode ${JSON.stringify(retrievalMode)}; give one of them`,
    );
  }
  const others = nodeTypes && NODE_TYPES.filter((type) => !nodeTypes.includes(type));
  const excludeNodeTypes = others
    ? [...others, ...(input.excludeNodeTypes ?? [])]
    : input.excludeNodeTypes;
  return { ...input, excludeNodeTypes, retrievalMode: retrievalMode ?? mode, client, signal };
}

/** UTF-16 units of texts in a tool's answer, which contains them twice: as an object and as its JSON. */
const TOOL_CHARS = LIMITS.pageChars / 4;

function askerOf({ caller }: CallContext, { userId }: RetrieveRequest): string {
  return caller.boundUserId ?? userId;
}

async function answer(context: CallContext, input: RetrieveRequest): Promise<ToldRetrieval> {
  const engine = context.engine();
  const response = await engine.retrieve(toRetrieveInput(input, context));
  const { explained } = response;
  if (explained === undefined) return bounded(response, LIMITS.pageChars);
  const room = LIMITS.pageChars / 2;
  const { explanation: why } = explained;
  const explanation = await withTexts(engine, why, askerOf(context, input), room);
  return { ...bounded(response, room), explanation, isWhole: true };
}

export const retrieveOperation = defineOperation({
  name: "retrieve",
  summary: "Find memories for a question",
  description:
    "Ranks the memories that answer a question and packs the best into a context of at most token_budget tokens.",
  request: retrieveRequest,
  run: async (context, input) => {
    const answered = await answer(context, input);
    if (!asksOfPerson(input.query)) return answered;
    const { text } = await context.engine().overview({ userId: askerOf(context, input) });
    return { ...answered, overview: text || undefined };
  },
  answer: retrieveView,
  // It has no place for an overview.
  http: { route: "post /v1/retrieve", body: retrieveBody, run: answer },
  mcp: {
    tool: "memory_retrieve",
    title: "Search memories",
    description:
      "Find what is remembered. Call it before you answer what earlier conversations may have settled; ask in plain words, one topic a call. " +
      "Returns the best matches first, each with id, state, age and source; not needed for what this conversation already says.",
    toolSet: "core",
    coreArguments: [
      "query",
      "scope",
      "limit",
      "node_types",
      "time_from",
      "as_of",
      "include_context",
    ],
    silentArguments: ["mode", "include_cross_scope", "exclude_node_types"],
    annotations: READS,
    output: retrieveToolView,
    write: (response, { includeContext, limit }) =>
      retrieveToolView.json(
        toToolAnswer(
          bounded(response, TOOL_CHARS),
          includeContext === true,
          limit,
          response.metadata.referenceTime,
        ),
      ),
    tell: tellRetrieve,
    isEmpty: ({ results }) => results.length === 0,
  },
});

/** The operations that find memories. */
export const RETRIEVAL_OPERATIONS = part("retrieval", retrieveOperation);
