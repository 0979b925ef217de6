import { anyObject, instant, member, named, nullable, text, unit, uuid } from "../lib/form.ts";
import type { ValueOf } from "../lib/view.ts";
import { EDGE_TYPES } from "./enums.ts";
import { auditForm } from "./records/audit.ts";

/** An edge as answers and exports for other programs have it. */
export const edgeForm = named("Edge", "A directed relation between two memories.", {
  id: uuid,
  /** `supersedes`: the replacement. `contradicts`: the claim that was named second. */
  sourceId: uuid,
  targetId: uuid,
  edgeType: member(EDGE_TYPES),
  userId: text,
  confidence: unit,
  validFrom: instant,
  /** Exclusive; undefined while still valid. */
  validTo: nullable(instant),
  /** The event that supports it. */
  provenanceEventId: nullable(uuid),
  metadata: nullable(anyObject),
  createdAt: instant,
});

/** A directed relation between two memories of one owner. */
export type Edge = ValueOf<typeof edgeForm>;

/** A complete edge as JSON, as audit records keep it, and back. */
export const edgeRecord = auditForm(
  edgeForm,
  "id sourceId targetId edgeType userId confidence validFrom validTo provenanceEventId metadata createdAt",
);
