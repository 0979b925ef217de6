import { sha256Hex } from "../lib/hashing.ts";
import type { JsonObject } from "../lib/json.ts";
import { nextTurn } from "../lib/pause.ts";
import { parseUuid, type Uuid } from "../lib/uuid.ts";
import { checksummed } from "./checksummed.ts";
import { SvcError } from "./errors.ts";

/** The kind of the operation that replaces what was forgotten; its id and its target are the id of the forgetting. */
export const FORGOTTEN = "MEMORY_FORGOTTEN";
/** The kind of the operation that keeps the SHA-256 of a receipt. Its target is the id of the forgetting. */
export const RECEIPT_ISSUED = "FORGET_RECEIPT_ISSUED";

export const ERASED_HASH = sha256Hex("");

/** Stages of a forgetting. `logical`: the store no longer returns it. `physical`: its bytes are gone too, as far as the store reaches. */
export const FORGET_STAGES = ["logical", "physical"] as const;
export type ForgetStage = (typeof FORGET_STAGES)[number];

/** Replaces the payload of an operation whose text was erased. */
export function erasedPayload(forgetId: Uuid): JsonObject {
  return { erased: forgetId, ...checksummed({ erased: forgetId }) };
}

/** The forgetting that erased a payload, or the metadata of an event; undefined: not erased. */
export function erasedBy(json: JsonObject | undefined): Uuid | undefined {
  const id = json?.["erased"];
  return typeof id === "string" ? parseUuid(id) : undefined;
}

/** Whether an operation covers several events at once and keeps what was stored only as a hash, or as text. */
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

export function idsIn(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.flatMap((text) => text.match(ID) ?? []))];
}

export function namesAny(text: string, ids: ReadonlySet<string>): boolean {
  return text.match(ID)?.some((id) => ids.has(id)) ?? false;
}

/**
 * Whether an operation on a remaining object keeps erased data: it names a part of it, or has its text or its hash.
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

/** A text in JSON encoding, without the quotes. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Rejects an erasure whose preview is out of date. */
export function erasureConflict(): SvcError {
  return new SvcError(
    "request_conflict",
    "something has changed since the preview: look at a new one, and confirm that. Nothing was changed.",
    { field: "confirm" },
  );
}

/** Rejects a repeated request about something forgotten since. */
export function forgottenSince(requestId: string): SvcError {
  return new SvcError(
    "request_conflict",
    `what was sent with request_id ${requestId} was forgotten, and stays so; use a new one for something new`,
    { request_id: requestId, forgotten: true },
  );
}

/** Searches bytes for many texts in one pass. */

/** Bytes by which a needle is recognized before it is compared in full. */
const HEAD = 4;
const BITS = 20;

/** Needles that can be searched for in successive chunks. */
export type Needles = {
  readonly longest: number;
  /**
   * Adds to `found` the list indices of texts that the bytes contain. Each byte costs at most as many steps as the longest needle has
   * bytes, regardless of the number of needles and their common prefixes.
   */
  look(bytes: Uint8Array, found: Set<number>): void;
};

/** Needles sorted before yielding. */
const AT_ONCE = 500;

/** Yields to other work. @param texts of at least four bytes each; shorter ones are never found */
export async function needlesOf(texts: readonly string[]): Promise<Needles> {
  const heads = new Uint8Array(1 << BITS);
  const tree = new Tree();
  let longest = 0;
  for (const [place, text] of texts.entries()) {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length < HEAD) continue;
    heads[slotOf(headAt(bytes, 0))] = 1;
    tree.add(bytes, place);
    if (place % AT_ONCE === 0) await nextTurn();
    longest = Math.max(longest, bytes.length);
  }
  return {
    longest,
    look: (bytes, found) => {
      if (longest === 0 || bytes.length < HEAD) return;
      let head = headAt(bytes, 0) >>> 8;
      for (let end = HEAD - 1; end < bytes.length; end += 1) {
        head = ((head << 8) | (bytes[end] ?? 0)) >>> 0;
        if (heads[slotOf(head)] === 1) tree.follow(bytes, end - HEAD + 1, found);
      }
    },
  };
}

/** A trie of the needles' bytes: common prefixes are shared. */
class Tree {
  readonly #next = new Map<number, number>();
  readonly #places = new Map<number, number[]>();
  #last = 0;

  add(bytes: Uint8Array, place: number): void {
    let node = 0;
    for (const byte of bytes) {
      const step = node * 256 + byte;
      node = this.#next.get(step) ?? 0;
      if (node !== 0) continue;
      this.#last += 1;
      node = this.#last;
      this.#next.set(step, node);
    }
    const places = this.#places.get(node);
    if (places === undefined) this.#places.set(node, [place]);
    else places.push(place);
  }

  follow(bytes: Uint8Array, from: number, found: Set<number>): void {
    let node = 0;
    for (let at = from; at < bytes.length; at += 1) {
      const next = this.#next.get(node * 256 + (bytes[at] ?? 0));
      if (next === undefined) return;
      node = next;
      for (const place of this.#places.get(node) ?? []) found.add(place);
    }
  }
}

function headAt(bytes: Uint8Array, at: number): number {
  let head = 0;
  for (let i = at; i < at + HEAD; i += 1) head = ((head << 8) | (bytes[i] ?? 0)) >>> 0;
  return head;
}

function slotOf(head: number): number {
  return Math.imul(head, 0x9e3779b1) >>> (32 - BITS);
}
