import { type ErrorCode, SvcError } from "../../domain/errors.ts";
import type { ToolSet } from "../contract/core/operation.ts";

/** Where to get the id of a missing object. With tools of the core set, only memories can be missing. */
const FOUND_BY: Readonly<Record<string, string>> = {
  node: "Find the id with memory_retrieve.",
  event: "Take the id from the evidence_refs of memory_get_node.",
  retrieval: "Take the request_id from the answer of memory_retrieve.",
  retrieval_receipt: "Take the request_id from the answer of memory_retrieve.",
  extraction: "Its text as it was given is read by memory_get_event.",
  extraction_status: "Its text as it was given is read by memory_get_event.",
  answer_citations: "Find the id with memory_list_answer_citations.",
};

const AFTER: Readonly<Partial<Record<ErrorCode, string>>> = {
  request_conflict: "Use another UUID for another change.",
  bad_citation: "Cite only ids that memory_retrieve returned for this request_id.",
  materialization_failed: "The text is safe and is indexed later: do not store it again.",
  extraction_failed:
    "The text is safe: do not send it again. memory_extraction_status says how far it is.",
  storage_busy: "Call again.",
  storage_unavailable: "Call again in a moment.",
  pack_in_use: "Call again later.",
  embedding_failed: "Call again later.",
  model_failed: "Call again later.",
  model_timeout: "Call again later.",
};

/** Arguments that take the id of a memory. */
const NODE_ID = /^(?:(?:\w+_)?node(?:_[ab])?|winner|loser)_id$/;
const WHOLE_ID = "Give a whole id, as memory_retrieve shows it.";
const SAME_SCOPE =
  "Store it again in the scope of the old one, supersede with that, and archive this copy.";
const SO_ALREADY = "It is so already: nothing is to be done.";
const SETTLE_FIRST = "End the contradiction first, with memory_resolve_contradiction.";

/** What failed, and what to do about it if the message does not say so. */
export function explain(error: unknown, message: string, toolSet: ToolSet = "full"): string {
  if (!(error instanceof SvcError)) return message;
  // The refusal of a confirmation says itself what to do.
  const step = error.data["field"] === "confirm" ? undefined : stepAfter(error, toolSet);
  if (step === undefined) return message;
  const { event_id: eventId } = error.data;
  // The event id of an accepted text: a client that reads only texts has no other way to get it.
  const id = typeof eventId === "string" ? ` event_id ${eventId}` : "";
  return `${message}${message.endsWith(".") ? "" : "."} ${step}${id}`;
}

function stepAfter({ code, data, message }: SvcError, toolSet: ToolSet): string | undefined {
  const { kind, field, action, from, to } = data;
  if (code === "not_found" && typeof kind === "string") return FOUND_BY[kind];
  if (code === "invalid_argument" && typeof field === "string") {
    if (field === "new_node_id" && message.endsWith(" of one scope")) return SAME_SCOPE;
    return NODE_ID.test(field) && message.endsWith(" is not a UUID") ? WHOLE_ID : undefined;
  }
  if (code !== "invalid_transition") return AFTER[code];
  // A memory that was to replace another one keeps its state.
  if (from === to && action !== "supersede") return SO_ALREADY;
  return from === "contested" && toolSet === "full" ? SETTLE_FIRST : undefined;
}
