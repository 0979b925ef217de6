import { uuidV5 } from "../../src/lib/hashing.ts";
import type { Uuid } from "../../src/lib/uuid.ts";

/** The id of what a change of these tests writes about a memory. */
export function idOf(node: Uuid): Uuid {
  return uuidV5(node, "lifecycle-worker");
}
