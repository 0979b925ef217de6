/** A page, which ends at `LIMITS.pageChars` of text if that comes before its limit; it has at least one item if there is one. */
export type Page<T> = {
  readonly items: readonly T[];
  /** Exact. */
  readonly hasMore: boolean;
};
