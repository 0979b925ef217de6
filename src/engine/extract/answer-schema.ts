import { FACT_TYPES, STATED_TYPES } from "../../domain/extraction/result.ts";
import type { JsonObject } from "../../lib/json.ts";

const TEXT: JsonObject = { type: "string" };
const TEXT_OR_NULL: JsonObject = { anyOf: [{ type: "string" }, { type: "null" }] };
const POLARITY: JsonObject = { type: "string", enum: ["positive", "negative"] };
const KNOWLEDGE: JsonObject = { type: "string", enum: [...STATED_TYPES] };

/** An object of which every member is required: servers that hold a model to a schema allow no others. */
function closed(properties: JsonObject): JsonObject {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

function listOf(items: JsonObject): JsonObject {
  return { type: "array", items };
}

const FACT: JsonObject = {
  subject: TEXT,
  predicate: TEXT,
  object: TEXT,
  polarity: POLARITY,
  evidence_quote: TEXT,
  confidence: { type: "number" },
  fact_type: { type: "string", enum: [...FACT_TYPES] },
  epistemic_type: KNOWLEDGE,
  condition: TEXT_OR_NULL,
  temporal_ref: TEXT_OR_NULL,
  temporal_intent: TEXT_OR_NULL,
  replaces_object: TEXT_OR_NULL,
  quantity: {
    anyOf: [closed({ value: TEXT, unit: TEXT, source_text: TEXT }), { type: "null" }],
  },
};

/** @param more members of a fact that only some requests ask for */
function stated(more: JsonObject): JsonObject {
  return {
    entities: listOf(closed({ name: TEXT, entity_type: TEXT, description: TEXT_OR_NULL })),
    facts: listOf(closed({ ...FACT, ...more })),
    relationships: listOf(
      closed({
        source_entity: TEXT,
        relationship_type: TEXT,
        target_entity: TEXT,
        polarity: POLARITY,
        evidence_quote: TEXT,
        epistemic_type: KNOWLEDGE,
        condition: TEXT_OR_NULL,
      }),
    ),
  };
}

/** The form of an answer to one turn. A model is held to it; what it returns is read more leniently. */
export function singleSchema(): JsonObject {
  return closed({ ...stated({}), summary: TEXT_OR_NULL });
}

/** The form of an answer to several turns. @param labels of the memories that they may correct */
export function batchSchema(labels: readonly string[]): JsonObject {
  const label = { anyOf: [{ type: "string", enum: [...labels] }, { type: "null" }] };
  const more = labels.length > 0 ? { replaces_memory: label } : {};
  return closed({ turns: listOf(closed({ turn: { type: "integer" }, ...stated(more) })) });
}
