import { z } from "zod";
import { LIMITS } from "../../../domain/limits.ts";
import { CLAIM_DIMENSIONS, QUANTITY_DIMENSIONS } from "../../../domain/records/aggregation.ts";
import {
  instantIn,
  lifecycleState,
  nodeType,
  retrievalMode,
  scope,
  userIdIn,
} from "../core/fields.ts";

const DEFAULT_NODE_TYPES = ["fact", "decision", "preference"];

/** Compared after normalisation; blank entries are refused by the engine, which names them. */
const selectorIn = z.array(z.string()).optional();
const nodeTypesIn = z
  .array(nodeType)
  .optional()
  .meta({ minItems: 1, uniqueItems: true, default: DEFAULT_NODE_TYPES });

const filterIn = {
  subjects: selectorIn.meta({ description: "Any of these; empty: any.", default: [] }),
  predicates: selectorIn.meta({
    description: "As subjects; blanks and hyphens count as underscores.",
    default: [],
  }),
  objects: selectorIn.meta({ description: "As subjects.", default: [] }),
  polarities: selectorIn.meta({ description: "Empty: any.", default: ["positive"] }),
  scopes: z.array(scope).optional().meta({
    description: "Empty: all.",
    uniqueItems: true,
    default: [],
  }),
  node_types: nodeTypesIn,
  lifecycle_states: z.array(lifecycleState).nullish().meta({
    description: "Absent: the active ones, in explicit mode all. Empty: nothing.",
  }),
  retrieval_mode: retrievalMode.optional().meta({
    description:
      "default leaves out hypothetical, conditional and doubtful memories; explicit leaves out nothing.",
    default: "default",
  }),
  event_time_from: instantIn.nullish().meta({ description: "Inclusive." }),
  event_time_to: instantIn.nullish().meta({ description: "Inclusive." }),
  valid_at: instantIn.nullish().meta({ description: "Keep what is valid at this moment." }),
  knowledge_at: instantIn.nullish().meta({
    description: "Keep what was stored at or before this moment.",
  }),
  group_limit: z.int().min(0).max(LIMITS.aggregationGroupsMax).optional().meta({ default: 1000 }),
  sample_limit: z.int().min(0).max(LIMITS.aggregationSamplesMax).optional().meta({ default: 10 }),
};

const claimDimension = z.enum(CLAIM_DIMENSIONS);
const quantityDimension = z.enum(QUANTITY_DIMENSIONS);

const assertionQueryIn = z
  .strictObject({
    ...filterIn,
    group_by: z
      .array(claimDimension)
      .optional()
      .meta({ minItems: 1, uniqueItems: true, default: ["object"] }),
  })
  .meta({ id: "AssertionQueryRequest" });

const quantityQueryIn = z
  .strictObject({
    ...filterIn,
    predicate_prefixes: selectorIn.meta({
      description:
        "A prefix stands for itself and for itself followed by an underscore and more; beside predicates.",
      default: [],
    }),
    units: selectorIn.meta({ description: "Never converted; empty: any.", default: [] }),
    group_by: z
      .array(quantityDimension)
      .optional()
      .meta({
        description: "Has unit.",
        minItems: 1,
        uniqueItems: true,
        default: ["unit"],
      }),
  })
  .meta({ id: "QuantityQueryRequest" });

const stateQueryIn = z
  .strictObject({
    subject: z.string().meta({ examples: ["Ada"] }),
    predicate: z.string().meta({ examples: ["lives in"] }),
    scope,
    valid_at: instantIn.meta({ description: "The moment to look at." }),
    knowledge_at: instantIn.nullish().meta({
      description: "Leave out what was stored after this moment.",
    }),
    node_types: nodeTypesIn,
    limit: z
      .int()
      .min(1)
      .max(LIMITS.stateEntriesMax)
      .optional()
      .meta({ description: "Entries of each list.", default: 1000 }),
  })
  .meta({ id: "StateQueryRequest" });

export const assertionsBodySchema = z
  .strictObject({ user_id: userIdIn, query: assertionQueryIn.optional() })
  .meta({ id: "AssertionAggregationRequest" });
export const quantitiesBodySchema = z
  .strictObject({ user_id: userIdIn, query: quantityQueryIn.optional() })
  .meta({ id: "QuantityAggregationRequest" });
export const questionBodySchema = z
  .strictObject({
    user_id: userIdIn,
    question: z
      .string()
      .min(1)
      .meta({
        description: "One plain question about an amount.",
        examples: ["How much did Ada spend on tea?"],
      }),
  })
  .meta({ id: "TextAggregationRequest" });
export const stateBodySchema = z
  .strictObject({ user_id: userIdIn, query: stateQueryIn })
  .meta({ id: "AssertionStateRequest" });
