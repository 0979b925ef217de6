import { z } from "zod";
import { parseMember, SCOPES } from "../../../domain/enums.ts";
import { invalid } from "../../../domain/errors.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { RetrieveInput } from "../../../engine/retrieve/api.ts";
import { camelKeys } from "../../../lib/case.ts";
import {
  fidelity,
  instantIn,
  nodeType,
  retrievalMode,
  scope,
  scopeText,
  sourceType,
  userIdIn,
} from "../core/fields.ts";

const filterShape = {
  scope: z
    .union([scope, z.array(scope).min(1)])
    .nullish()
    .meta({ description: "One scope or several; absent means all." }),
  time_from: instantIn.nullish().meta({ description: "Stored at or after this moment." }),
  time_to: instantIn.nullish().meta({ description: "Stored at or before this moment." }),
  knowledge_at: instantIn.nullish().meta({
    description: "Answer from what was known at this moment.",
  }),
  event_time_from: instantIn.nullish().meta({ description: "Happened at or after this moment." }),
  event_time_to: instantIn.nullish().meta({ description: "Happened at or before this moment." }),
  include_cross_scope: z.boolean().optional().meta({
    description: "Hints from other scopes for embedded callers; this answer never holds them.",
    default: true,
  }),
  exclude_node_types: z.array(nodeType).nullish(),
  source_types: z.array(sourceType).nullish().meta({
    description: "Only these sources; an empty list allows none.",
  }),
};

const factorText = "Factors on the weights, each 0.25 to 4, default 1. Only with weighted fusion.";

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

const multipliersSchema = multipliersOf(z.number().min(0.25).max(4).optional()).meta({
  id: "RankingMultipliers",
  description: factorText,
});

const filtersSchema = z.strictObject(filterShape).meta({ id: "RetrieveFilters" });

/** Rules on numbers: checked, or told only, where the engine's words explain a refusal. */
const CHECKED = {
  count: (minimum: number) => z.int().min(minimum).nullish(),
  number: (minimum: number) => z.number().min(minimum).nullish(),
  told: (_minimum: number) => ({}),
};
const TOLD = {
  count: (_minimum: number) => z.int().nullish(),
  number: (_minimum: number) => z.number().nullish(),
  told: (minimum: number) => ({ minimum }),
};

function requestShape({ count: whole, number, told }: typeof CHECKED | typeof TOLD) {
  return {
    query: z
      .string()
      .max(LIMITS.queryMaxChars)
      .meta({
        description: "The question, in plain words.",
        examples: ["Who is the dentist of Ada?"],
      }),
    user_id: userIdIn,
    reference_time: instantIn.nullish().meta({
      description: "The moment to take for now when recency counts.",
    }),
    token_budget: whole(0).meta({
      description: "Tokens of the context; 4096 unless the server is set otherwise.",
      ...told(0),
    }),
    limit: whole(0).meta({ description: "Most results; absent means no cap.", ...told(0) }),
    max_per_source: whole(1).meta({
      description: "Most results of one text from the same evidence.",
      ...told(1),
    }),
    max_per_evidence: whole(1).meta({
      description: "Most results from the same evidence.",
      ...told(1),
    }),
    min_score: number(0).meta({ description: "Leave out what scores lower.", ...told(0) }),
    ranking_multipliers: multipliersSchema.nullish(),
    min_fidelity: fidelity.nullish().meta({
      description: "The shortest form in which a memory may enter the context.",
    }),
    retrieval_mode: retrievalMode.nullish().meta({
      description: "explicit also finds unverified, hypothetical and conditional memories.",
      default: "default",
    }),
    mode: retrievalMode.nullish().meta({ description: "Another name of retrieval_mode." }),
  };
}

export const retrieveBodySchema = z
  .strictObject({ ...requestShape(CHECKED), ...filterShape, filters: filtersSchema.nullish() })
  .meta({ id: "RetrieveRequest" });

export const retrieveToolSchema = z.strictObject({
  ...requestShape(TOLD),
  ...filterShape,
  limit: TOLD.count(0).meta({ description: "Most results. Ask for 5 to 20.", ...TOLD.told(0) }),
  ranking_multipliers: multipliersOf(z.number().optional())
    .meta({
      id: "ToolRankingMultipliers",
      description:
        "Factors 0.25 to 4 on semantic, lexical, graph, recency, salience, confidence; weighted fusion only.",
    })
    .nullish(),
  scope: z
    .union([scopeText, z.array(scopeText)])
    .nullish()
    .meta({ description: "One scope or several; absent means all." }),
  knowledge_at: z.string().nullish().meta({
    description: "Only what was stored by this moment, as it stands today.",
    format: "date-time",
  }),
  include_cross_scope: z.boolean().nullish(),
  include_context: z.boolean().nullish().meta({
    description: "Also return the memories packed as text for a prompt.",
    default: false,
  }),
});

/** A retrieve request with flattened filters, as both surfaces pass it on. */
export type RetrieveWire = z.infer<typeof retrieveToolSchema>;

/**
 * Flattens the nested filters of an HTTP body.
 * @throws SvcError invalid_argument if a filter is given twice with different values
 */
export function flattenFilters(body: z.infer<typeof retrieveBodySchema>): RetrieveWire {
  const { filters, ...flat } = body;
  if (filters === undefined || filters === null) return flat;
  for (const [key, nested] of Object.entries(filters)) {
    const beside: unknown = Reflect.get(flat, key);
    if (isGiven(nested) && isGiven(beside) && JSON.stringify(nested) !== JSON.stringify(beside)) {
      throw invalid(`filters.${key}`, `differs from ${key} beside it; give one of them`);
    }
  }
  const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => isGiven(value)));
  return { ...flat, ...given };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/**
 * The engine's input, from the wire.
 * @throws SvcError invalid_argument for an unknown scope or two different modes
 */
export function toRetrieveInput(
  wire: RetrieveWire,
  userId: string,
  signal: AbortSignal | undefined,
): RetrieveInput {
  const { mode: _alias, include_context: _shown, ...rest } = wire;
  return {
    ...camelKeys(rest),
    userId,
    scope: toScopes(wire.scope),
    // Some models write an empty text for absent.
    knowledgeAt: wire.knowledge_at === "" ? undefined : wire.knowledge_at,
    includeCrossScope: wire.include_cross_scope ?? undefined,
    retrievalMode: toMode(wire),
    signal,
  };
}

function toScopes(given: RetrieveWire["scope"]): RetrieveInput["scope"] {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") return parseMember(SCOPES, given, "scope");
  return given.map((value, index) => parseMember(SCOPES, value, `scope[${index}]`));
}

function toMode(wire: RetrieveWire): RetrieveInput["retrievalMode"] {
  const { retrieval_mode: name, mode: alias } = wire;
  if (name && alias && name !== alias) {
    throw invalid(
      "mode",
      `${JSON.stringify(alias)} differs from retrieval_mode ${JSON.stringify(name)}; give one of them`,
    );
  }
  return name ?? alias ?? undefined;
}
