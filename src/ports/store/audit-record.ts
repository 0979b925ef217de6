import type { Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";

/** One row of the insert-only audit log. */
export type AuditRecord = {
  readonly id: Uuid;
  readonly opType: string;
  readonly targetId: string;
  readonly payload: JsonObject;
  readonly actorId: string;
  readonly namespaceId: string | undefined;
  readonly createdAt: Instant;
};
