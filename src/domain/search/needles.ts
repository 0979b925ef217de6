import { nextTurn } from "../../lib/pause.ts";

/** Finding many texts in many bytes in one pass. */

/** Bytes by which the place of a needle is recognized before it is compared. */
const HEAD = 4;
const BITS = 20;

/** Needles that can be looked for in one piece of memory after the other. */
export type Needles = {
  /** Bytes of the longest. */
  readonly longest: number;
  /**
   * Adds to `found` the places, in the list of texts, of those that the bytes contain. Each byte costs at most as many steps as the
   * longest needle has bytes, however many needles there are, and whatever they have in common.
   */
  look(bytes: Uint8Array, found: Set<number>): void;
};

/** Needles that are put in order before other work runs. */
const AT_ONCE = 500;

/** Lets other work run meanwhile. @param texts of at least four bytes each; shorter ones are never found */
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

/** The needles by their bytes: those that begin alike share their beginning. */
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
