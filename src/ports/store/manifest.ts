import type { Instant } from "../../lib/instant.ts";
import type { EmbeddingIdentity } from "../embedder.ts";

/** The durable facts of a pack about itself. */
export type Manifest = {
  readonly formatVersion: number;
  readonly softwareVersion: string;
  readonly embedding: EmbeddingIdentity;
  readonly scoringVersion: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
};
