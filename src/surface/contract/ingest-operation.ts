import { z } from "zod";
import { parseRole } from "../../domain/enums.ts";
import type { IngestInput } from "../../engine/changes.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { requireOwner } from "./caller.ts";
import {
  instantIn,
  metadata,
  role,
  scope,
  sessionIdIn,
  speaker,
  userIdIn,
  uuidOut,
} from "./fields.ts";
import { defineOperation } from "./operation.ts";
import { parseWire } from "./wire-issues.ts";

const bodySchema = z
  .strictObject({
    content: z.string().meta({ description: "Exact source text, kept for ever." }),
    user_id: userIdIn,
    role: role.optional().meta({ description: "Who said it.", default: "user" }),
    speaker: speaker.nullish(),
    first_person_owner: z.boolean().optional().meta({
      description:
        "The singular first person of this message is the owner. Needs role user or human and no speaker; leave it out for pasted text.",
      default: false,
    }),
    session_id: sessionIdIn,
    metadata: metadata.nullish().meta({ description: "Any JSON object, kept with the memory." }),
    event_time: instantIn.nullish().meta({ description: "When it was said." }),
    wait_for_extraction: z.boolean().optional().meta({
      description: "Without an extraction pipeline there is nothing to wait for.",
      default: false,
    }),
    scope: scope.nullish().meta({ description: "Default personal." }),
  })
  .meta({ id: "IngestRequest" });
type IngestWire = z.infer<typeof bodySchema>;

const answerSchema = z.strictObject({ event_id: uuidOut }).meta({ id: "IngestReceipt" });

export const ingestOperation = defineOperation({
  name: "ingest",
  summary: "Take in one message",
  description:
    "This server has no extraction pipeline: the message is stored as a note, as it is, and can be found when this returns.",
  run: ({ engine, caller }, wire: IngestWire) =>
    engine().ingest(toIngestInput(wire, requireOwner(caller, wire.user_id))),
  http: {
    method: "post",
    path: "/v1/ingest",
    request: { body: bodySchema },
    response: answerSchema,
    statuses: [],
    read: (parts) => parseWire(bodySchema, parts.body, "body"),
    write: (eventId: Uuid) => ({ event_id: eventId }),
  },
});

function toIngestInput(wire: IngestWire, userId: string): IngestInput {
  return {
    content: wire.content,
    userId,
    role: wire.role === undefined ? undefined : parseRole(wire.role),
    speaker: wire.speaker,
    firstPersonOwner: wire.first_person_owner,
    sessionId: wire.session_id,
    metadata: wire.metadata,
    eventTime: wire.event_time,
    scope: wire.scope,
    waitForExtraction: wire.wait_for_extraction,
  };
}
