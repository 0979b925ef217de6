import { anyObject, instant, member, nullable, object, text, unit, uuid } from "../lib/form.ts";
import type { Instant } from "../lib/instant.ts";
import type { JsonObject } from "../lib/json.ts";
import type { Uuid } from "../lib/uuid.ts";
import { noted } from "../lib/view.ts";
import { EDGE_TYPES, type EdgeType } from "./enums.ts";
import { auditForm } from "./records/audit.ts";

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
  /** The event that supports it. */
  readonly provenanceEventId: Uuid | undefined;
  readonly metadata: JsonObject | undefined;
  readonly createdAt: Instant;
};

/** An edge as answers and exports for other programs have it. */
export const edgeForm = noted(
  object<Edge>({
    id: uuid,
    sourceId: uuid,
    targetId: uuid,
    edgeType: member(EDGE_TYPES),
    userId: text,
    confidence: unit,
    validFrom: instant,
    validTo: nullable(instant),
    provenanceEventId: nullable(uuid),
    metadata: nullable(anyObject),
    createdAt: instant,
  }),
  { id: "Edge", description: "A directed relation between two memories." },
);

/** A complete edge as JSON, as audit records keep it, and back. */
export const edgeRecord = auditForm(edgeForm);
