import { z } from "zod";
import { LIMITS } from "../../../domain/arguments.ts";
import {
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  RETRIEVAL_MODES,
  SCOPES,
} from "../../../domain/enums.ts";
import { CLAIM_DIMENSIONS, QUANTITY_DIMENSIONS } from "../../../domain/records/aggregation.ts";
import { instantIn, owner, textOf } from "../core/fields.ts";
import { type Body, type Field, field, optional, parsed, required } from "../core/request.ts";

/**
 * The queries. Those of tools are looser where the engine checks. The members of closed sets are in the schemas of everyday tools,
 * and in the message about a wrong one.
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

export const assertionsRequest = { ...filter, group_by: groupBy(CLAIM_DIMENSIONS, "object") };

export const quantitiesRequest = {
  ...filter,
  predicate_prefixes: selector(
    "A prefix stands for itself and for itself followed by an underscore and more; beside predicates.",
    [],
    "`spent` also stands for `spent_on`.",
  ),
  units: selector("Never converted; empty: any.", [], "Never converted."),
  group_by: groupBy(QUANTITY_DIMENSIONS, "unit", "Has unit."),
};

export const stateRequest = {
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

export const questionRequest = {
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

/** A body of an owner and a query. @param names of the body and of the query in the OpenAPI document */
export function queryBody(id: string, queryId: string, isRequired = false): Body {
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
