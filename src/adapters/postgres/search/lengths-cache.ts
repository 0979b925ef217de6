import type { OwnerKey } from "../owner-key.ts";

/** Lengths of documents that are kept, over all owners. */
const BUDGET = 4_000_000;
/** Documents from which on lengths are kept: fewer are read as fast as they are asked for. */
const KEPT_FROM = 2048;

type Kept = {
  /** The version of the owner that they are of. */
  readonly version: string;
  readonly lengths: Int32Array;
};

/** The lengths of the documents of the owners who asked last. */
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
