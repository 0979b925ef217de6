import { z } from "zod";
import { LIMITS } from "../../../domain/arguments.ts";
import { NODE_TYPES, SCOPES } from "../../../domain/enums.ts";
import { processingStatusForm } from "../../../domain/jobs.ts";
import type { StoreReceipt } from "../../../engine/write/api.ts";
import { list, noted, omitted, uuid, view } from "../../../lib/form.ts";
import {
  choice,
  count,
  instantIn,
  metadataIn,
  newEpistemicType,
  owner,
  retryId,
  roleField,
  sessionId,
  sourceType,
  speakerField,
  unit,
  uuidIn,
} from "../core/fields.ts";
import { field, httpField, type InputOf, optional } from "../core/request.ts";
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

export const sourceText = z.string().meta({
  description: "Exact source text, kept for ever.",
  examples: ["The dentist of Ada is Dr. Li."],
});
export const anyMetadata = metadataIn.meta({
  description: "Any JSON object, kept with the memory.",
});

export const storeRequest = {
  content: field(
    sourceText,
    z.string().meta({
      description: "One statement that can be understood alone: names and dates, no pronouns.",
    }),
  ),
  user_id: owner,
  retrieval_content: optional(z.string(), "Compact text to index and show instead of the content."),
  value_bindings: optional(
    z.array(valueBinding).max(LIMITS.valueBindings),
    "Short texts of the content, each with the complete form to look up.",
    "Short forms in the content (presentation) and what they stand for (lookup).",
  ),
  role: roleField,
  speaker: speakerField,
  session_id: sessionId,
  node_type: choice(NODE_TYPES, { description: "What kind of memory it is.", default: "note" }),
  scope: choice(SCOPES, {
    description: "Which part of life it belongs to.",
    default: "personal",
  }),
  metadata: field(
    anyMetadata,
    metadataIn.meta({
      description: "Texts subject, predicate and object in it are counted by the aggregate tools.",
    }),
  ),
  confidence: optional(unit, "Default by kind of knowledge and source.", {}),
  epistemic_type: optional(newEpistemicType, "What kind of knowledge it is."),
  source_type: optional(sourceType, "Where it comes from.", {}),
  event_time: optional(instantIn, "When it happened."),
  valid_from: optional(instantIn, "Valid from this moment on, inclusive."),
  valid_to: optional(instantIn, "Valid until this moment, exclusive; needs an earlier valid_from."),
  supersedes: optional(
    z.array(uuidIn).max(LIMITS.supersedesMax),
    "Memories of the same scope that this one replaces: all of them, or nothing is stored.",
    "Ids of the memories that it replaces, of the same scope.",
  ),
  ttl_days: {
    ...httpField(
      count.nullish().meta({
        description: "Days to keep it; null keeps it for ever; absent takes the type's default.",
      }),
    ),
    // SAFETY: the value has passed its schema.
    read: (days: unknown) => days as number | null | undefined,
  },
  request_id: retryId(
    "UUID; a retry with the same key and memory stores nothing.",
    "A retry with the same one stores nothing.",
  ),
};
export type StoreRequest = InputOf<typeof storeRequest>;

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
