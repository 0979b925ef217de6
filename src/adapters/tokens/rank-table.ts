import type { TokenList } from "./token-list.ts";

/** The ranks of all tokens of an encoding, found by their bytes. */
export type RankTable = {
  /** Bytes of the longest token. */
  readonly longest: number;
  /** The rank of the token that is `bytes` from `start` up to `end`, or {@link NO_RANK}. */
  readonly rankOf: (bytes: Uint8Array, start: number, end: number) => number;
};

export const NO_RANK = -1;

/** The table of an encoding. For 100,000 tokens it takes 2 MB, a fifth of a Map of texts, and a lookup creates no text. */
export function createRankTable({ bytes: listed, ends, longest }: TokenList): RankTable {
  const count = ends.length - 1;
  /** Open addressing, at most half full. A slot holds a rank plus one; zero is free. */
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(count * 2 + 1)));
  const mask = slots.length - 1;
  const isListed = (rank: number, bytes: Uint8Array, start: number, end: number): boolean => {
    const from = ends[rank] ?? 0;
    if ((ends[rank + 1] ?? 0) - from !== end - start) return false;
    for (let at = start; at < end; at += 1) {
      if (bytes[at] !== listed[from + at - start]) return false;
    }
    return true;
  };
  for (let rank = 0; rank < count; rank += 1) {
    let slot = hashOf(listed, ends[rank] ?? 0, ends[rank + 1] ?? 0) & mask;
    while (slots[slot] !== 0) slot = (slot + 1) & mask;
    slots[slot] = rank + 1;
  }
  return {
    longest,
    rankOf: (bytes, start, end) => {
      let slot = hashOf(bytes, start, end) & mask;
      for (;;) {
        const rank = (slots[slot] ?? 0) - 1;
        if (rank < 0) return NO_RANK;
        if (isListed(rank, bytes, start, end)) return rank;
        slot = (slot + 1) & mask;
      }
    },
  };
}

/** FNV-1a in 32 bits, with its high bits folded into the low ones, which pick the slot. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) {
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}
