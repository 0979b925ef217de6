import { z } from "zod";
import {
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseMember,
  RETRIEVAL_MODES,
  SCOPES,
} from "../../../domain/enums.ts";
import { CLAIM_DIMENSIONS, QUANTITY_DIMENSIONS } from "../../../domain/records/aggregation.ts";
import type {
  AssertionQueryInput,
  QuantityQueryInput,
  StateQueryInput,
} from "../../../engine/aggregate/api.ts";
import { camelKeys, given } from "../../../lib/case.ts";
import { instantIn, retrievalModeText, scopeText, userIdIn } from "../core/fields.ts";
import { present } from "../core/operation-parts.ts";

/**
 * The queries of tools: flat, and loose where the engine checks. The members of closed sets are in the schemas of everyday tools,
 * and in the message about a wrong one.
 */

const texts = z.array(z.string()).nullish();
const selector = texts.meta({ default: [] });
const nodeTypes = texts.meta({ default: ["fact", "decision", "preference"] });

const filterShape = {
  user_id: userIdIn,
  subjects: texts.meta({ description: "Any of these; empty: any.", default: [] }),
  predicates: selector,
  objects: selector,
  polarities: texts.meta({ description: "[] for any.", default: ["positive"] }),
  scopes: selector,
  node_types: nodeTypes,
  lifecycle_states: texts,
  retrieval_mode: retrievalModeText.nullish().meta({ default: "default" }),
  event_time_from: instantIn.nullish(),
  event_time_to: instantIn.nullish(),
  valid_at: instantIn.nullish(),
  knowledge_at: instantIn.nullish(),
  group_limit: z.int().nullish().meta({ default: 1000 }),
  sample_limit: z.int().nullish().meta({ default: 10 }),
};

export const assertionsToolSchema = z.strictObject({
  ...filterShape,
  group_by: z
    .array(z.enum(CLAIM_DIMENSIONS))
    .nullish()
    .meta({ default: ["object"] }),
});

export const quantitiesToolSchema = z.strictObject({
  ...filterShape,
  predicate_prefixes: texts.meta({
    description: "`spent` also stands for `spent_on`.",
    default: [],
  }),
  units: texts.meta({ description: "Never converted.", default: [] }),
  group_by: z
    .array(z.enum(QUANTITY_DIMENSIONS))
    .nullish()
    .meta({
      description: "Has unit.",
      default: ["unit"],
    }),
});

export const questionToolSchema = z.strictObject({
  question: z.string().meta({ description: "Such as: How much did I spend?" }),
  user_id: userIdIn,
});

export const stateToolSchema = z.strictObject({
  subject: z.string(),
  predicate: z.string(),
  scope: scopeText,
  valid_at: instantIn.meta({ description: "The moment to look at." }),
  user_id: userIdIn,
  knowledge_at: instantIn.nullish().meta({ description: "Ignore what was stored later." }),
  node_types: nodeTypes,
  limit: z.int().nullish().meta({ default: 1000 }),
});

type Owned<T extends { readonly userId: string }> = Omit<T, "userId" | "signal">;

/** @throws SvcError invalid_argument for a value outside of a closed set */
export function fromAssertionsTool(
  wire: z.infer<typeof assertionsToolSchema>,
): Owned<AssertionQueryInput> {
  return { ...camelKeys(given(wire)), ...membersOf(wire) };
}

/** @throws SvcError invalid_argument for a value outside of a closed set */
export function fromQuantitiesTool(
  wire: z.infer<typeof quantitiesToolSchema>,
): Owned<QuantityQueryInput> {
  return { ...camelKeys(given(wire)), ...membersOf(wire) };
}

/** @throws SvcError invalid_argument for a value outside of a closed set */
export function fromStateTool(wire: z.infer<typeof stateToolSchema>): Owned<StateQueryInput> {
  const { subject, predicate, scope, valid_at: validAt, ...rest } = wire;
  return {
    ...camelKeys(given(rest)),
    subject,
    predicate,
    scope: parseMember(SCOPES, scope, "scope"),
    validAt,
    nodeTypes: members(NODE_TYPES, wire.node_types, "node_types"),
  };
}

/** The members of closed sets in a filter. */
function membersOf(wire: Omit<z.infer<typeof assertionsToolSchema>, "group_by">) {
  return {
    scopes: members(SCOPES, wire.scopes, "scopes"),
    nodeTypes: members(NODE_TYPES, wire.node_types, "node_types"),
    lifecycleStates: members(LIFECYCLE_STATES, wire.lifecycle_states, "lifecycle_states"),
    retrievalMode: present(wire.retrieval_mode, (mode) =>
      parseMember(RETRIEVAL_MODES, mode, "retrieval_mode"),
    ),
  };
}

function members<T extends string>(
  allowed: readonly T[],
  given: readonly string[] | null | undefined,
  field: string,
): T[] | undefined {
  return given?.map((value, index) => parseMember(allowed, value, `${field}[${index}]`));
}
