import { z } from "zod";
import { missing, missingEvent } from "../../../domain/errors.ts";
import { uuidIn } from "../core/fields.ts";
import { defineOperation, type HttpParts, type Operation } from "../core/operation.ts";
import { READS, readUuid } from "../core/operation-parts.ts";
import { parseWire } from "../core/wire-issues.ts";
import { extractionStatusView, extractionView } from "./extraction-wire.ts";
import { tellExtraction, tellExtractionStatus } from "./provenance-text.ts";
import { nodeListView } from "./wire.ts";

const eventPath = { params: z.object({ event_id: uuidIn }) };

const eventToolSchema = z.strictObject({ event_id: uuidIn });

const readEventArgument = (args: unknown): string =>
  parseWire(eventToolSchema, args, "arguments").event_id;

const readEventId = ({ params }: HttpParts): string => params["event_id"] ?? "";

const eventNodesOperation = defineOperation({
  name: "get_event_nodes",
  summary: "List the memories of an event",
  description: "All that cite it, in any state, by ascending id.",
  run: async ({ engine, caller }, eventId: string) => {
    const id = readUuid(eventId, "event_id");
    const nodes = await engine().getEventNodes(id, caller.boundUserId);
    if (nodes === undefined) throw missingEvent(id);
    return nodes;
  },
  http: {
    method: "get",
    path: "/v1/events/{event_id}/nodes",
    request: eventPath,
    response: nodeListView,
    statuses: [404],
    read: readEventId,
  },
});

const extractionOperation = defineOperation({
  name: "get_extraction",
  summary: "Read what was extracted from an event",
  description: "As it was recorded; nothing is extracted now.",
  run: async ({ engine, caller }, eventId: string) => {
    const id = readUuid(eventId, "event_id");
    const record = await engine().getExtraction(id, caller.boundUserId);
    if (record === undefined)
      throw missing("extraction", id, `Extraction of event '${id}' not found`);
    return record;
  },
  http: {
    method: "get",
    path: "/v1/events/{event_id}/extraction",
    request: eventPath,
    response: extractionView,
    statuses: [404],
    read: readEventId,
  },
  mcp: {
    tool: "memory_get_extraction",
    title: "Read an extraction",
    description:
      "Read what a language model extracted from an event, as it was recorded. Nothing is extracted now; an error where nothing was.",
    toolSet: "full",
    annotations: READS,
    input: eventToolSchema,
    output: extractionView,
    needsOwner: false,
    read: readEventArgument,
    tell: tellExtraction,
  },
});

const extractionStatusOperation = defineOperation({
  name: "extraction_status",
  summary: "How far extraction from an event has come",
  description: "404 for an event from which nothing is to be extracted.",
  run: async ({ engine, caller }, eventId: string) => {
    const id = readUuid(eventId, "event_id");
    const status = await engine().extractionStatus(id, caller.boundUserId);
    if (status === undefined) {
      throw missing("extraction_status", id, `Extraction status of event '${id}' not found`);
    }
    return status;
  },
  http: {
    method: "get",
    path: "/v1/events/{event_id}/extraction-status",
    request: eventPath,
    response: extractionStatusView,
    statuses: [404],
    read: readEventId,
  },
  mcp: {
    tool: "memory_extraction_status",
    title: "How far an extraction is",
    description:
      "Whether extraction from an event is pending, running or complete; an error for an event without such work.",
    toolSet: "full",
    annotations: READS,
    input: eventToolSchema,
    output: extractionStatusView,
    needsOwner: false,
    read: readEventArgument,
    tell: tellExtractionStatus,
  },
});

/** The operations on events. */
export const EVENT_OPERATIONS: readonly Operation[] = [
  eventNodesOperation,
  extractionOperation,
  extractionStatusOperation,
];
