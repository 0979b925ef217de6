import type { OwnerKey } from "../owner-key.ts";

/** Maximum cached document lengths, over all owners. */
const BUDGET = 4_000_000;
/** Minimum documents for caching lengths: fewer are read just as fast. */
const KEPT_FROM = 2048;

type Kept = {
  /** The version of the owner they belong to. */
  readonly version: string;
  readonly lengths: Int32Array;
};

/** The document lengths of the most recently active owners. */
export class LengthsCache {
  readonly #kept = new Map<OwnerKey, Kept>();
  #size = 0;

  of(owner: OwnerKey): Kept | undefined {
    return this.#kept.get(owner);
  }

  keep(owner: OwnerKey, kept: Kept): void {
    this.#remove(owner);
    const { length } = kept.lengths;
    if (length < KEPT_FROM || length > BUDGET) return;
    this.#kept.set(owner, kept);
    this.#size += length;
    // A map iterates in insertion order.
    for (const [other] of this.#kept) {
      if (this.#size <= BUDGET) return;
      this.#remove(other);
    }
  }

  #remove(owner: OwnerKey): void {
    this.#size -= this.#kept.get(owner)?.lengths.length ?? 0;
    this.#kept.delete(owner);
  }
}
