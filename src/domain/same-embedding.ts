type EmbeddingIdentity = {
  readonly model: string;
  readonly version: string;
  readonly dimension: number;
};

/** Whether vectors of the two can be compared: all three fields are equal. */
export function isSameEmbedding(
  one: EmbeddingIdentity | undefined,
  other: EmbeddingIdentity,
): boolean {
  return (
    one?.model === other.model && one.version === other.version && one.dimension === other.dimension
  );
}
