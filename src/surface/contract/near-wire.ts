import type { LifecycleState } from "../../domain/enums.ts";
import type { NearMemory } from "../../engine/results.ts";
import type { Instant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** A memory that a new one may replace or repeat, as every surface writes it. */
export type NearWire = {
  readonly node_id: Uuid;
  readonly content: string;
  readonly lifecycle_state: LifecycleState;
  readonly created_at: Instant;
  /** To four decimals. */
  readonly similarity: number;
  readonly identical: boolean;
};

export function toNearWire({ node, similarity, identical }: NearMemory): NearWire {
  return {
    node_id: node.id,
    content: node.content,
    lifecycle_state: node.lifecycleState,
    created_at: node.createdAt,
    similarity: Math.round(similarity * 10_000) / 10_000,
    identical,
  };
}
