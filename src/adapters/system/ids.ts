import { uuidV7 } from "../../lib/new-uuid.ts";
import type { IdSource } from "../../ports/system.ts";

/** Fresh UUIDv7 identifiers, ascending within the process. */
export function createIdSource(): IdSource {
  return { next: uuidV7 };
}
