import { inJson } from "../../domain/erasure.ts";
import type { Owner } from "../../domain/owner.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Erasures } from "../../ports/store/events.ts";
import { questionIn } from "../receipt-check.ts";

/** Bytes of each piece of a text that is looked for, and how far the pieces are apart at least. */
const WINDOW = 24;
const STEP = 8;
/** Bytes below which a text is too common to be looked for. */
const LEAST = 6;
/** About how many pieces are looked for at most; of more, evenly spread ones are. */
const PIECES_MAX = 20_000;

/** Pieces of texts as they may stand in a file. */
function piecesOf(texts: readonly string[]): readonly string[] {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const step = Math.max(STEP, Math.ceil(bytes / PIECES_MAX));
  const pieces = new Set<string>();
  for (const text of texts) {
    const forms = new Set([text, inJson(text), inJson(inJson(text))]);
    for (const form of forms) for (const piece of windowsOf(form.trim(), step)) pieces.add(piece);
  }
  return [...pieces];
}

/** Whole letters of at least a window of bytes each, the last ones too. */
function windowsOf(text: string, step: number): readonly string[] {
  const bytes = Buffer.from(text);
  if (bytes.length < WINDOW) return bytes.length < LEAST ? [] : [text];
  const windows: string[] = [];
  for (let at = 0; at + WINDOW <= bytes.length; at = letterFrom(bytes, at + step)) {
    windows.push(bytes.toString("utf8", at, letterFrom(bytes, at + WINDOW)));
  }
  let last = bytes.length - WINDOW;
  while (isInsideLetter(bytes, last)) last -= 1;
  return [...windows, bytes.toString("utf8", last)];
}

/** Where the next letter begins, at a place or after it. */
function letterFrom(bytes: Uint8Array, at: number): number {
  let next = at;
  while (isInsideLetter(bytes, next)) next += 1;
  return next;
}

function isInsideLetter(bytes: Uint8Array, at: number): boolean {
  return ((bytes[at] ?? 0) & 0xc0) === 0x80;
}

/**
 * What was found by looking at every page of the store, and where things of an owner have a text as well. Null: the store cannot look.
 * Of pages that have things of other owners, too, nothing is said: a match would tell what those hold.
 */
export async function lookFor(
  store: Pick<Erasures, "scan">,
  texts: readonly string[],
  owner: Owner,
): Promise<JsonObject | null> {
  const pieces = piecesOf(texts);
  const scan = await store.scan(pieces, owner, questionIn);
  if (scan === undefined) return null;
  const { pages, held, heldBy } = scan;
  return {
    pages: pages?.count ?? null,
    bytes: pages?.bytes ?? null,
    needles: pieces.length,
    hits: pages?.found.filter((place) => !held.has(place)).length ?? null,
    kept_elsewhere: [...heldBy].sort(),
  };
}
