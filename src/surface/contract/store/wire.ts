import { z } from "zod";
import { NODE_TYPES, parseMember, parseRole, SCOPES } from "../../../domain/enums.ts";
import { processingStatusForm } from "../../../domain/jobs.ts";
import { LIMITS } from "../../../domain/limits.ts";
import type { StoreInput, StoreReceipt } from "../../../engine/write/api.ts";
import { camelKeys } from "../../../lib/case.ts";
import { list, omitted, uuid } from "../../../lib/form.ts";
import { noted, view } from "../../../lib/view.ts";
import {
  count,
  instantIn,
  metadataIn,
  newEpistemicType,
  nodeType,
  nodeTypeText,
  role,
  roleText,
  scope,
  scopeText,
  sessionIdIn,
  sourceType,
  speaker,
  unit,
  userIdIn,
  uuidIn,
} from "../core/fields.ts";
import { present } from "../core/operation-parts.ts";
import { nearView } from "./near-wire.ts";

const valueBinding = z.strictObject({
  schema_version: z.literal(1).optional(),
  reference: z.string().meta({ description: "1 to 128 characters, unique in the memory." }),
  kind: z.string().meta({ description: "1 to 64 characters." }),
  presentation: z.string().meta({
    description: "Verbatim part of the content, 1 to 2048 characters.",
    examples: ["Dr. Li"],
  }),
  lookup: z
    .string()
    .meta({ description: "The complete form, 1 to 2048 characters.", examples: ["Dr. Li Wei"] }),
  lookup_authority: z.literal("caller").optional(),
});

const storeShape = {
  content: z.string().meta({
    description: "Exact source text, kept for ever.",
    examples: ["The dentist of Ada is Dr. Li."],
  }),
  user_id: userIdIn,
  retrieval_content: z.string().nullish().meta({
    description: "Compact text to index and show instead of the content.",
  }),
  value_bindings: z
    .array(valueBinding)
    .max(LIMITS.valueBindings)
    .nullish()
    .meta({ description: "Short texts of the content, each with the complete form to look up." }),
  role: role.optional().meta({ description: "Who said it.", default: "user" }),
  speaker: speaker.nullish(),
  session_id: sessionIdIn,
  node_type: nodeType
    .nullish()
    .meta({ description: "What kind of memory it is.", default: "note" }),
  scope: scope
    .nullish()
    .meta({ description: "Which part of life it belongs to.", default: "personal" }),
  metadata: metadataIn.meta({ description: "Any JSON object, kept with the memory." }),
  confidence: unit.nullish().meta({ description: "Default by kind of knowledge and source." }),
  epistemic_type: newEpistemicType.nullish().meta({ description: "What kind of knowledge it is." }),
  source_type: sourceType.nullish().meta({ description: "Where it comes from." }),
  event_time: instantIn.nullish().meta({ description: "When it happened." }),
  valid_from: instantIn.nullish().meta({ description: "Valid from this moment on, inclusive." }),
  valid_to: instantIn.nullish().meta({
    description: "Valid until this moment, exclusive; needs an earlier valid_from.",
  }),
  supersedes: z.array(uuidIn).max(LIMITS.supersedesMax).nullish().meta({
    description:
      "Memories of the same scope that this one replaces: all of them, or nothing is stored.",
  }),
};

export const storeBodySchema = z
  .strictObject({
    ...storeShape,
    ttl_days: count.nullish().meta({
      description: "Days to keep it; null keeps it for ever; absent takes the type's default.",
    }),
  })
  .meta({ id: "StoreRequest" });

export const storeToolSchema = z.strictObject({
  ...storeShape,
  node_type: nodeTypeText.nullish().meta({
    description: "What kind of memory it is.",
    default: "note",
  }),
  scope: scopeText
    .nullish()
    .meta({ description: "Which part of life it belongs to.", default: "personal" }),
  content: z.string().meta({
    description: "One statement that can be understood alone: names and dates, no pronouns.",
  }),
  role: roleText.nullish().meta({ description: "Who said it.", default: "user" }),
  speaker: z.string().nullish().meta({ description: "Name of who said it." }),
  session_id: z.string().nullish(),
  metadata: metadataIn.meta({
    description: "Texts subject, predicate and object in it are counted by the aggregate tools.",
  }),
  confidence: unit.nullish(),
  epistemic_type: newEpistemicType.nullish().meta({ description: "What kind of knowledge it is." }),
  source_type: sourceType.nullish(),
  supersedes: z.array(uuidIn).max(LIMITS.supersedesMax).nullish().meta({
    description: "Ids of the memories that it replaces, of the same scope.",
  }),
  value_bindings: z.array(valueBinding).max(LIMITS.valueBindings).nullish().meta({
    description: "Short forms in the content (presentation) and what they stand for (lookup).",
  }),
  request_id: uuidIn.nullish().meta({ description: "A retry with the same one stores nothing." }),
});
export type StoreWire = z.infer<typeof storeToolSchema> & {
  readonly ttl_days?: number | null | undefined;
};

/** The result of a store in answers. */
export const storeAnswerView = noted(
  view<StoreReceipt>()({
    eventId: uuid,
    nodeId: uuid,
    processingStatus: processingStatusForm,
    near: noted(omitted(list(nearView, 3)), {
      description:
        "Active memories of the same owner and scope that the new one may replace or repeat, nearest first. Absent when nobody could look, because the vector of the text is still to come.",
    }),
  }),
  { id: "StoreReceipt" },
);

/**
 * The engine's input, from the wire.
 * @param actorId the actor recorded for a replacement
 * @throws SvcError invalid_argument for a value outside a closed set
 */
export function toStoreInput(wire: StoreWire, userId: string, actorId: string): StoreInput {
  return {
    ...camelKeys(wire),
    userId,
    role: present(wire.role, parseRole),
    nodeType: present(wire.node_type, (value) => parseMember(NODE_TYPES, value, "node_type")),
    scope: present(wire.scope, (value) => parseMember(SCOPES, value, "scope")),
    actorId,
  };
}
