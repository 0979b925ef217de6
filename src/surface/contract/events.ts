import { z } from "zod";
import { LIMITS } from "../../domain/arguments.ts";
import { SCOPES } from "../../domain/enums.ts";
import { missing, missingEvent } from "../../domain/errors.ts";
import { processingStatusForm } from "../../domain/jobs.ts";
import { type KeptBlob, parseBlobKey } from "../../domain/node.ts";
import { BROWSE_ORDERS } from "../../engine/browse/api.ts";
import { noted, type View } from "../../lib/form.ts";
import type { Json } from "../../lib/json.ts";
import { windowJson } from "./core/cut-texts.ts";
import {
  anyOwnerInQuery,
  choiceInQuery,
  choicesInQuery,
  cursor,
  id,
  offset,
  ownerInQuery,
  textInQuery,
  wholeNumber,
} from "./core/fields.ts";
import { defineOperation, found, part, READS } from "./core/operation.ts";
import { httpField, overHttp, parsed } from "./core/request.ts";
import { extractionStatusView, extractionView } from "./extraction.ts";
import { eventPageView, eventView, nodeListView, sessionPageView } from "./nodes.ts";

const keyIn = z.string().meta({
  description: "Of the picture: `metadata.thumbnail` of an event.",
  minLength: 1,
  maxLength: 256,
  examples: ["frames/5f70bf18.jpg"],
});

const blobView: View<KeptBlob> = noted(
  {
    shape: { kind: "bytes" },
    // SAFETY: bytes are not JSON; the HTTP answer writes them unchanged.
    json: (blob) => blob as unknown as Json,
  },
  { description: "Of the type of the picture; `application/octet-stream` for what is none." },
);

const getBlobOperation = defineOperation({
  name: "get_blob",
  summary: "Read a picture of an event",
  description:
    "The bytes of what events name, such as the thumbnail of a photo. They never change.",
  request: {
    blob_key: parsed(httpField(keyIn), parseBlobKey),
    user_id: anyOwnerInQuery,
  },
  run: async ({ engine }, { blobKey, userId }) =>
    found(engine().readBlob(blobKey, { userId }), () =>
      missing("blob", blobKey, `Blob '${blobKey}' not found`),
    ),
  answer: blobView,
  http: { route: "get /v1/blobs/{blob_key}", statuses: [404] },
});

const request = { event_id: id() };

const getEventOperation = defineOperation({
  name: "get_event",
  summary: "Read one event",
  description: "The source text of memories, exactly as it was given.",
  request: { ...request, offset },
  run: async ({ engine, userId }, { eventId }) =>
    found(engine().getEvent(eventId, userId), () => missingEvent(eventId)),
  answer: eventView,
  http: { route: "get /v1/events/{event_id}", statuses: [404] },
  mcp: {
    tool: "memory_get_event",
    title: "Read a source",
    description:
      "Read the source text behind a memory, word for word, by an id of its evidence_refs.",
    silentArguments: ["offset"],
    annotations: READS,
    output: eventView,
    write: (event, { offset: from }) => windowJson(eventView, event, from),
  },
});

const eventNodesOperation = defineOperation({
  name: "get_event_nodes",
  summary: "List the memories of an event",
  description: "All that cite it, in any state, by ascending id.",
  request,
  run: async ({ engine, userId }, { eventId }) =>
    found(engine().getEventNodes(eventId, userId), () => missingEvent(eventId)),
  answer: nodeListView,
  http: { route: "get /v1/events/{event_id}/nodes", statuses: [404] },
});

const extractionOperation = defineOperation({
  name: "get_extraction",
  summary: "Read what was extracted from an event",
  description: "As it was recorded; nothing is extracted now.",
  request,
  run: async ({ engine, userId }, { eventId }) =>
    found(engine().getExtraction(eventId, userId), () =>
      missing("extraction", eventId, `Extraction of event '${eventId}' not found`),
    ),
  answer: extractionView,
  http: { route: "get /v1/events/{event_id}/extraction", statuses: [404] },
  mcp: {
    tool: "memory_get_extraction",
    title: "Read an extraction",
    description: "Read what a language model extracted from an event, as recorded.",
    annotations: READS,
  },
});

export const extractionStatusOperation = defineOperation({
  name: "extraction_status",
  summary: "How far extraction from an event has come",
  description: "404 for an event from which nothing is to be extracted.",
  request,
  run: async ({ engine, userId }, { eventId }) =>
    found(engine().extractionStatus(eventId, userId), () =>
      missing("extraction_status", eventId, `Extraction status of event '${eventId}' not found`),
    ),
  answer: extractionStatusView,
  http: { route: "get /v1/events/{event_id}/extraction-status", statuses: [404] },
  mcp: {
    tool: "memory_extraction_status",
    title: "How far an extraction is",
    description: "How far extraction from an event is, and why it failed, if it did.",
    annotations: READS,
  },
});

const page = {
  user_id: ownerInQuery,
  cursor,
  limit: wholeNumber([1, LIMITS.nodeQueryMax], 100),
};

const listEventsOperation = defineOperation({
  name: "list_events",
  summary: "List events by time",
  description: "Source texts, newest first; those of a session are its conversation.",
  request: {
    ...page,
    session_id: textInQuery("Of this conversation."),
    scopes: overHttp("scope", choicesInQuery(SCOPES, "May be repeated. Absent: all.")),
    order: choiceInQuery(BROWSE_ORDERS, { default: "newest" }),
  },
  run: async ({ engine }, query) => engine().listEvents(query),
  answer: eventPageView,
  http: { route: "get /v1/events" },
});

const listSessionsOperation = defineOperation({
  name: "list_sessions",
  summary: "List sessions",
  description: "Conversations with their first and last moment, the latest first.",
  request: page,
  run: async ({ engine }, query) => engine().listSessions(query),
  answer: sessionPageView,
  http: { route: "get /v1/sessions" },
});

const processingStatusOperation = defineOperation({
  name: "processing_status",
  summary: "How far an event has been indexed",
  description:
    "Pending or complete, with the number of tries and the category of the last failure.",
  request,
  run: async ({ engine, userId }, { eventId }) =>
    found(engine().processingStatus(eventId, userId), () =>
      missing("processing_status", eventId, `Processing status of event '${eventId}' not found`),
    ),
  answer: processingStatusForm,
  http: { route: "get /v1/events/{event_id}/processing-status", statuses: [404] },
});

/** Operations on source texts. */
export const EVENT_OPERATIONS = part(
  "events",
  listEventsOperation,
  listSessionsOperation,
  getEventOperation,
  eventNodesOperation,
  extractionOperation,
  extractionStatusOperation,
  processingStatusOperation,
  getBlobOperation,
);
