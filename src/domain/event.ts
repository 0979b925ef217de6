import { anyObject, instant, member, nullable, object, sha256, text, uuid } from "../lib/form.ts";
import type { ValueOf } from "../lib/view.ts";
import { ROLES, SCOPES } from "./enums.ts";

/** An event as rows and exports have it. */
export const eventForm = object({
  id: uuid,
  userId: text,
  sessionId: nullable(text),
  scope: member(SCOPES),
  role: member(ROLES),
  content: text,
  /** SHA-256 of the UTF-8 content, 64 lower-case hex digits. */
  contentHash: sha256,
  metadata: nullable(anyObject),
  /** When it was said or happened, according to the caller. */
  eventTime: nullable(instant),
  /** When it was admitted; `createdAt` and `updatedAt` on the wire. */
  timestamp: instant,
});

/** What was said, verbatim. Written once, never changed: the source of truth of a pack. */
export type MemoryEvent = ValueOf<typeof eventForm>;
