type EmbeddingIdentity = {
  readonly model: string;
  readonly version: string;
  readonly dimension: number;
};

/** Whether vectors of the two can be compared with one another: equal in all three fields, or not at all. */
export function isSameEmbedding(
  one: EmbeddingIdentity | undefined,
  other: EmbeddingIdentity,
): boolean {
  return (
    one?.model === other.model && one.version === other.version && one.dimension === other.dimension
  );
}
