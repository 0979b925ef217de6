import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { EdgeType } from "./enums.ts";

/** A directed relation between two memories of one owner. */
export type Edge = {
  readonly id: Uuid;
  readonly userId: string;
  /** `supersedes`: the replacement. `contradicts`: the claim that was named second. */
  readonly sourceId: Uuid;
  readonly targetId: Uuid;
  readonly edgeType: EdgeType;
  /** 0 to 1. */
  readonly confidence: number;
  readonly validFrom: Instant;
  /** Exclusive; undefined while still valid. */
  readonly validTo: Instant | undefined;
  /** The event that speaks for it. */
  readonly provenanceEventId: Uuid | undefined;
  readonly metadata: JsonObject | undefined;
  readonly createdAt: Instant;
};
