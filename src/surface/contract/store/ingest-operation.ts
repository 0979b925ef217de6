import { z } from "zod";
import { parseMember, parseRole, SCOPES } from "../../../domain/enums.ts";
import type { IngestInput } from "../../../engine/write/api.ts";
import { camelKeys } from "../../../lib/case.ts";
import { uuid } from "../../../lib/form.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { noted, told, view } from "../../../lib/view.ts";
import { requireOwner } from "../core/caller.ts";
import {
  instantIn,
  metadataIn,
  role,
  roleText,
  scope,
  scopeText,
  sessionIdIn,
  speaker,
  userIdIn,
} from "../core/fields.ts";
import { defineOperation } from "../core/operation.ts";
import { ADDS, present } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { tellIngest } from "./text.ts";

const bodySchema = z
  .strictObject({
    content: z.string().meta({
      description: "Exact source text, kept for ever.",
      examples: ["The dentist of Ada is Dr. Li."],
    }),
    user_id: userIdIn,
    role: role.optional().meta({ description: "Who said it.", default: "user" }),
    speaker: speaker.nullish(),
    first_person_owner: z.boolean().optional().meta({
      description:
        "The singular first person of this message is the owner. Needs role user or human and no speaker; leave it out for pasted text.",
      default: false,
    }),
    session_id: sessionIdIn,
    metadata: metadataIn.meta({ description: "Any JSON object, kept with the memory." }),
    event_time: instantIn.nullish().meta({ description: "When it was said." }),
    wait_for_extraction: z.boolean().optional().meta({
      description: "Without an extraction pipeline there is nothing to wait for.",
      default: false,
    }),
    scope: scope.nullish().meta({ default: "personal" }),
  })
  .meta({ id: "IngestRequest" });
type IngestWire = Omit<z.infer<typeof toolSchema>, "scope"> &
  Pick<z.infer<typeof bodySchema>, "wait_for_extraction"> & {
    readonly scope?: string | null | undefined;
  };

const toolSchema = z.strictObject({
  content: z.string().meta({ description: "The message, word for word." }),
  user_id: userIdIn,
  role: roleText.nullish().meta({ description: "Who said it.", default: "user" }),
  speaker: z.string().nullish().meta({ description: "Name of who said it." }),
  first_person_owner: z.boolean().nullish().meta({
    description: "`I` in it is the owner; needs role user and no speaker.",
    default: false,
  }),
  session_id: z.string().nullish(),
  metadata: metadataIn,
  event_time: instantIn.nullish().meta({ description: "When it was said." }),
  scope: scopeText.nullish().meta({ default: "personal" }),
});

const answerView = noted(view<Uuid>()({ eventId: told(uuid, (id) => id) }), {
  id: "IngestReceipt",
});

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
    response: answerView,
    statuses: [],
    read: (parts) => parseWire(bodySchema, parts.body, "body"),
  },
  mcp: {
    tool: "memory_ingest",
    title: "Take in a message",
    description:
      "Keep one message word for word, as a note that can be found at once; nothing is extracted from it. " +
      "Use it for records of what was said, and memory_store for what you want to remember of it.",
    toolSet: "full",
    annotations: ADDS,
    input: toolSchema,
    output: answerView,
    needsOwner: true,
    read: (args) => parseWire(toolSchema, args, "arguments"),
    tell: tellIngest,
  },
});

function toIngestInput(wire: IngestWire, userId: string): IngestInput {
  return {
    ...camelKeys(wire),
    userId,
    role: present(wire.role, parseRole),
    firstPersonOwner: wire.first_person_owner ?? undefined,
    scope: present(wire.scope, (value) => parseMember(SCOPES, value, "scope")),
  };
}
