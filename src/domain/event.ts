import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { Role, Scope } from "./enums.ts";

/** What was said, as it was said. Written once, never changed: the source of truth of a pack. */
export type MemoryEvent = {
  readonly id: Uuid;
  readonly userId: string;
  readonly sessionId: string | undefined;
  readonly scope: Scope;
  readonly role: Role;
  readonly content: string;
  /** SHA-256 of the UTF-8 content, 64 lower-case hex digits. */
  readonly contentHash: string;
  readonly metadata: JsonObject | undefined;
  /** When it was said or happened, according to the caller. */
  readonly eventTime: Instant | undefined;
  /** When it was admitted. `createdAt` and `updatedAt` on the wire are this instant. */
  readonly timestamp: Instant;
};
