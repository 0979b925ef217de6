import type { LifecycleState } from "../../../domain/enums.ts";
import type { NearMemory } from "../../../engine/write/api.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Uuid } from "../../../lib/uuid.ts";

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

/** Characters of a near memory's text that an answer to a store repeats. */
const NEAR_TEXT_MAX = 2000;

export function toNearWire({ node, similarity, identical }: NearMemory): NearWire {
  return {
    node_id: node.id,
    // Not half of a character that takes two places.
    content: node.content.slice(0, NEAR_TEXT_MAX).replace(/[\ud800-\udbff]$/, ""),
    lifecycle_state: node.lifecycleState,
    created_at: node.createdAt,
    similarity: Math.round(similarity * 10_000) / 10_000,
    identical,
  };
}
