import { z } from "zod";
import { parseRole } from "../../../domain/enums.ts";
import type { FastIngestItem } from "../../../engine/write/api.ts";
import { camelKeys } from "../../../lib/case.ts";
import { list, natural, uuid } from "../../../lib/form.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { noted, told, view } from "../../../lib/view.ts";
import {
  instantIn,
  metadataIn,
  role,
  scope,
  sessionIdIn,
  speaker,
  userIdIn,
  uuidIn,
} from "../core/fields.ts";
import { present } from "../core/operation-parts.ts";

export const ingestItemSchema = z
  .strictObject({
    content: z.string().meta({
      description: "Exact source text, kept for ever.",
      examples: ["The dentist of Ada is Dr. Li."],
    }),
    role: role.optional().meta({ description: "Who said it.", default: "user" }),
    speaker: speaker.nullish(),
    session_id: sessionIdIn,
    metadata: metadataIn,
    scope: scope.nullish().meta({ default: "personal" }),
    event_time: instantIn.nullish().meta({ description: "When it was said." }),
  })
  .meta({ id: "IngestItem" });

export const ingestBodySchema = z
  .strictObject({ items: z.array(ingestItemSchema).min(1), user_id: userIdIn })
  .meta({ id: "FastIngestRequest" });

export const ingestHeadersSchema = z.object({
  "Idempotency-Key": uuidIn
    .optional()
    .meta({ description: "UUID; a retry with the same key and items returns the same events." }),
});

export const ingestToolSchema = z.strictObject({
  items: z
    .array(ingestItemSchema.extend({ role: role.nullish() }))
    .meta({ description: "At least one.", minItems: 1 }),
  user_id: userIdIn,
  request_id: uuidIn.nullish().meta({
    description: "UUID that you choose; a retry with the same id and items stores nothing twice.",
  }),
});
export type IngestWire = z.infer<typeof ingestToolSchema>;

/** The events of admitted items, in order. */
export const ingestAnswerView = noted(
  view<readonly Uuid[]>()({
    eventIds: told(list(uuid), (ids) => ids),
    accepted: told(natural, (ids) => ids.length),
  }),
  { id: "FastIngestReceipt" },
);

/** The engine's input, from the wire; in the same order. */
export function toIngestItems(wire: IngestWire): FastIngestItem[] {
  return wire.items.map((item) => ({
    ...camelKeys(item),
    role: present(item.role, parseRole),
    scope: item.scope ?? undefined,
  }));
}
