import { anyObject, instant, member, nullable, object, sha256, text, uuid } from "../lib/form.ts";
import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import { ROLES, type Role, SCOPES, type Scope } from "./enums.ts";

/** What was said, verbatim. Written once, never changed: the source of truth of a pack. */
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
  /** When it was admitted; `createdAt` and `updatedAt` on the wire. */
  readonly timestamp: Instant;
};

/** An event as rows and exports have it. */
export const eventForm = object<MemoryEvent>({
  id: uuid,
  userId: text,
  sessionId: nullable(text),
  scope: member(SCOPES),
  role: member(ROLES),
  content: text,
  contentHash: sha256,
  metadata: nullable(anyObject),
  eventTime: nullable(instant),
  timestamp: instant,
});
