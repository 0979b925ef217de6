import { z } from "zod";
import { CONDITION_STATES } from "../../../domain/enums.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { EVALUATION_METHODS } from "../../../engine/lifecycle/api.ts";
import { instantIn, uuidIn } from "../core/fields.ts";
import { readUuid } from "../core/operation-parts.ts";

/** Non-blank text of at most this many characters; surrounding blanks do not count. */
function boundedText(maxChars: number) {
  return z
    .string()
    .superRefine((value, context) => {
      const length = [...value.trim()].length;
      if (length === 0) context.addIssue({ code: "custom", message: "is blank" });
      if (length > maxChars) {
        const message = `has ${length} characters; at most ${maxChars} are allowed`;
        context.addIssue({ code: "custom", message });
      }
    })
    .meta({ minLength: 1, maxLength: maxChars });
}

const actor = boundedText(LIMITS.actorMaxChars).nullish().meta({
  description:
    "In whose name the change is recorded; refused with a key that belongs to one owner.",
});
const evidenceId = uuidIn.nullish().meta({
  description: "The event that speaks for it, of the owner and scope of the memory.",
});

export const changeHeadersSchema = z.object({
  "Idempotency-Key": uuidIn.optional().meta({
    description:
      "UUID; a retry with the same key and input changes nothing. One key serves one change.",
  }),
});
export const changedNodeParams = z.object({ node_id: uuidIn });

export const reinforceBodySchema = z
  .strictObject({ evidence_id: evidenceId })
  .meta({ id: "ReinforceRequest" });

export const conditionBodySchema = z
  .strictObject({
    state: z.enum(CONDITION_STATES).meta({ description: "Whether the condition holds." }),
    evidence_id: evidenceId,
    evaluation_method: z
      .enum(EVALUATION_METHODS)
      .optional()
      .meta({ description: "Who found out.", default: "user" }),
    reason: boundedText(LIMITS.reasonMaxChars).nullish().meta({ description: "Why." }),
    evaluated_at: instantIn.nullish().meta({ description: "When it was found out. Default now." }),
    actor,
  })
  .meta({ id: "ConditionRequest" });

export const supersedeBodySchema = z
  .strictObject({
    old_node_id: uuidIn.meta({ description: "The memory that is replaced." }),
    new_node_id: uuidIn.meta({ description: "The memory that replaces it." }),
    evidence_id: evidenceId,
    actor,
  })
  .meta({ id: "SupersedenceRequest" });

export const contradictBodySchema = z
  .strictObject({ node_a_id: uuidIn, node_b_id: uuidIn, evidence_id: evidenceId, actor })
  .meta({ id: "ContradictionRequest" });

export const resolveBodySchema = z
  .strictObject({
    winner_id: uuidIn.meta({ description: "The claim that becomes stable." }),
    loser_id: uuidIn.meta({ description: "The claim that becomes deprecated." }),
    evidence_id: evidenceId,
    actor,
  })
  .meta({ id: "ResolutionRequest" });

const changeId = uuidIn.nullish().meta({
  description: "Your UUID; makes a retry safe.",
});
const toolEvidenceId = uuidIn.nullish().meta({ description: "Event that speaks for it." });

export const changeToolSchema = z.strictObject({ node_id: uuidIn, request_id: changeId });

export const conditionToolSchema = z.strictObject({
  node_id: uuidIn,
  state: z.enum(CONDITION_STATES),
  evidence_id: toolEvidenceId,
  request_id: changeId,
  evaluation_method: z
    .enum(EVALUATION_METHODS)
    .nullish()
    .meta({ description: "Who found out.", default: "user" }),
  reason: z.string().nullish(),
  evaluated_at: conditionBodySchema.shape.evaluated_at,
});

export const supersedeToolSchema = z.strictObject({
  old_node_id: uuidIn,
  new_node_id: uuidIn,
  evidence_id: toolEvidenceId,
  request_id: changeId,
});

export const contradictToolSchema = z.strictObject({
  node_a_id: uuidIn,
  node_b_id: uuidIn,
  evidence_id: toolEvidenceId,
  request_id: changeId,
});

export const resolveToolSchema = z.strictObject({
  winner_id: uuidIn,
  loser_id: uuidIn,
  evidence_id: toolEvidenceId,
  request_id: changeId,
});

/** A tool's members, and the actor, which only HTTP accepts. */
export type WithActor<T extends z.ZodObject> = z.infer<T> & {
  readonly actor?: string | null | undefined;
};

/** @throws SvcError invalid_argument */
export function readEvidenceId(text: string | null | undefined) {
  return text === undefined || text === null ? undefined : readUuid(text, "evidence_id");
}
