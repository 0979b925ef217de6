import { edgeForm, nodeForm } from "../../../domain/node.ts";
import type { Provenance } from "../../../engine/inspect/api.ts";
import {
  anyObject,
  constant,
  instant,
  list,
  noted,
  nullable,
  text,
  told,
  uuid,
  view,
} from "../../../lib/form.ts";
import { eventView } from "./wire.ts";

/** One line of the audit log. */
export const operationView = noted(
  view<Provenance["operations"][number]>()({
    id: uuid,
    opType: text,
    targetId: text,
    payload: noted(anyObject, {
      description: "As recorded: mostly record, a JSON text, and sha256, the hash of that text.",
    }),
    actorId: text,
    namespaceId: nullable(text),
    createdAt: instant,
  }),
  { id: "OperationRecord", description: "One line of the audit log, written once." },
);

/** The provenance of a memory in answers. */
export const provenanceView = noted(
  view<Provenance>()({
    schemaVersion: told(constant(1), () => 1 as const),
    node: nodeForm,
    evidenceEvents: list(eventView),
    missingEvidenceRefs: noted(list(uuid), {
      description: "Cited events that are missing, of another owner or of another scope.",
    }),
    operations: noted(list(operationView), { description: "Oldest first, one page." }),
    contradictionEdges: list(edgeForm),
    nextOperationCursor: noted(nullable(text), { description: "Null on the last page." }),
  }),
  { id: "Provenance", description: "Where a memory comes from and what was done to it." },
);
