import { z } from "zod";
import {
  DECAY_PROFILES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  NODE_TYPES,
  parseRole,
  REPRESENTATION_LEVELS,
  RETRIEVAL_MODES,
  ROLES,
  SCOPES,
  SOURCE_TYPES,
} from "../../../domain/enums.ts";
import { SvcError } from "../../../domain/errors.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { parseSpeaker } from "../../../domain/speaker.ts";
import { parseInstantInput } from "../../../domain/validity.ts";
import { REFUSAL } from "./wire-issues.ts";

/** The building blocks of every wire shape. Inputs are checked here; outputs are only described. */

/** Text that a rule of the domain accepts; the rule's own words explain a refusal. */
function textBy(rule: (value: string) => unknown): z.ZodString {
  return z.string().superRefine((value, context) => {
    try {
      rule(value);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      // The schema supplies the path; the rule's message begins with its own name for the field.
      context.addIssue({
        code: "custom",
        message: error.message.slice(error.message.indexOf(": ") + 2),
        params: { [REFUSAL]: error.code },
      });
    }
  });
}

/** ISO 8601 with an explicit offset. */
export const instantIn = textBy((value) => parseInstantInput(value, "instant")).meta({
  format: "date-time",
});
/** Accepted in any notation; read by the operation, which names the field. */
export const uuidIn = z.string().meta({ format: "uuid" });

export const nodeType = z.enum(NODE_TYPES);
export const scope = z.enum(SCOPES);
export const lifecycleState = z.enum(LIFECYCLE_STATES);
export const epistemicType = z.enum(EPISTEMIC_TYPES);
/** For a new memory: `deprecated` only results from a change of state. */
export const newEpistemicType = epistemicType.exclude(["deprecated"]);
export const sourceType = z.enum(SOURCE_TYPES);
export const decayProfile = z.enum(DECAY_PROFILES);
export const fidelity = z.enum(REPRESENTATION_LEVELS);
export const retrievalMode = z.enum(RETRIEVAL_MODES);

/** Described as a closed set, checked by the engine: a wrong value is then a result, not a schema violation. */
export const nodeTypeText = z.string().meta({ enum: [...NODE_TYPES] });
export const scopeText = z.string().meta({ enum: [...SCOPES] });

export const lifecycleStateText = z.string().meta({ enum: [...LIFECYCLE_STATES] });
export const retrievalModeText = z.string().meta({ enum: [...RETRIEVAL_MODES] });
export const roleText = z.string().meta({ enum: [...ROLES] });

/** Read without regard to case. */
export const role = textBy(parseRole).meta({ enum: [...ROLES] });
export const speaker = textBy(parseSpeaker).meta({
  minLength: 1,
  maxLength: LIMITS.speakerMaxChars,
  description: "Name of the person who said it; never indexed as a word.",
});
export const metadata = z.record(z.string(), z.unknown());
/** Incoming metadata, passed on as it is: `z.record` makes a copy, which loses a key called `__proto__`. */
export const metadataIn =
  // SAFETY: the rule accepts only objects and null.
  z
    .unknown()
    .superRefine((value, context) => {
      if (typeof value === "object" && !Array.isArray(value)) return;
      context.addIssue({ code: "invalid_type", expected: "record", input: value });
    })
    .meta({ type: ["object", "null"], additionalProperties: {} })
    .optional() as unknown as z.ZodOptional<z.ZodNullable<z.ZodType<Record<string, unknown>>>>;
export const unit = z.number().min(0).max(1);
export const count = z.int().min(0);

export const userIdIn = z
  .string()
  .nullish()
  .meta({
    description: "Owner of the memories; not needed on a connection that is bound to one owner.",
    examples: ["ada"],
  });
export const sessionIdIn = z
  .string()
  .nullish()
  .meta({ description: "Conversation to which this belongs." });
