import { sha256Hex } from "../lib/hashing.ts";
import type { JsonObject } from "../lib/json.ts";
import { parseUuid, type Uuid } from "../lib/uuid.ts";
import { checksummed } from "./checksummed.ts";
import { SvcError } from "./errors.ts";

/** The kind of operation that says what was forgotten, in place of it; its id and its target are the id of the forgetting. */
export const FORGOTTEN = "MEMORY_FORGOTTEN";
/** The kind of operation that keeps the SHA-256 of a receipt. Its target is the id of the forgetting. */
export const RECEIPT_ISSUED = "FORGET_RECEIPT_ISSUED";

/** The hash of a text that was erased. */
export const ERASED_HASH = sha256Hex("");

/**
 * How far a forgetting has come. `logical`: nobody who uses the store gets it any more. `physical`: its bytes are gone as well,
 * as far as the store reaches.
 */
export const FORGET_STAGES = ["logical", "physical"] as const;
export type ForgetStage = (typeof FORGET_STAGES)[number];

/** What stands in the place of the payload of an operation whose text was erased. */
export function erasedPayload(forgetId: Uuid): JsonObject {
  return { erased: forgetId, ...checksummed({ erased: forgetId }) };
}

/** By which forgetting a payload, or the metadata of an event, was erased; undefined: it was not. */
export function erasedBy(json: JsonObject | undefined): Uuid | undefined {
  const id = json?.["erased"];
  return typeof id === "string" ? parseUuid(id) : undefined;
}

/** Whether what was stored stands in it only by its hash, or as text, of several events at once. */
const OF_SEVERAL: ReadonlySet<string> = new Set([
  "FAST_INGEST_BATCH",
  "EXTRACTION_BATCH_RECORDED",
  "DERIVATION_PREPARED",
  "DERIVATION_COMMITTED",
  "ANSWER_CITATIONS_RECORDED",
  // Imported from exports of development builds.
  "ALIAS_PROPOSED",
  "ALIAS_PROPOSAL_ACCEPTED",
  "ALIAS_PROPOSAL_REJECTED",
]);
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The ids in some texts, each once. */
export function idsIn(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => text.match(ID) ?? []))];
}

/** Whether a text contains one of some ids. */
export function namesAny(text: string, ids: ReadonlySet<string>): boolean {
  return text.match(ID)?.some((id) => ids.has(id)) ?? false;
}

/**
 * Whether an operation on something that stays keeps what is to be erased: it names a part of it, and has its text or its hash.
 * @param ids of the events, memories and edges that are erased
 * @param texts that are erased
 */
export function keepsErased(
  ids: ReadonlySet<string>,
  texts: readonly string[],
): (operation: { readonly opType: string; readonly payload: string }) => boolean {
  const traces = [...new Set(texts)]
    .filter((text) => text !== "")
    .flatMap((text) => {
      const once = inJson(text);
      // A record stands in its payload as JSON in JSON.
      return [once, inJson(once), sha256Hex(text)];
    });
  return ({ opType, payload }) =>
    namesAny(payload, ids) &&
    (OF_SEVERAL.has(opType) || traces.some((trace) => payload.includes(trace)));
}

/** A text as it stands in JSON, without the quotes. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The refusal of an erasure whose list no longer is what was shown. */
export function erasureConflict(): SvcError {
  return new SvcError(
    "request_conflict",
    "something has changed since the preview: look at a new one, and confirm that. Nothing was changed.",
    { field: "confirm" },
  );
}

/** The refusal of a request that was made before, about something that was forgotten since. */
export function forgottenSince(requestId: string): SvcError {
  return new SvcError(
    "request_conflict",
    `what was sent with request_id ${requestId} was forgotten, and stays so; use a new one for something new`,
    { request_id: requestId },
  );
}
