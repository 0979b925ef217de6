import { checksummed } from "../../../domain/checksummed.ts";
import { type Edge, edgeRecord } from "../../../domain/edge.ts";
import { requireStep } from "../../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../../domain/node.ts";
import {
  areOpen,
  evidenceUnion,
  isCompatible,
  isDuplicate,
  keptFirst,
  type MergeKind,
  namesMatch,
} from "../../../domain/organize/merge-policy.ts";
import { uuidV5 } from "../../../lib/new-uuid.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ChangeSnapshot, Decision } from "../../../ports/store/changes.ts";
import { logEntry } from "../../lifecycle/log-entry.ts";
import { edgeOf } from "../../lifecycle/new-edge.ts";
import type { JobRun } from "./job.ts";

export const MERGE_POLICY = "exact_content_provenance_validity_v1";
const REASONS = { duplicate: "deduplication", alias: "alias_resolution" } as const;

/** Two memories that may be one. */
export type Merge = {
  readonly kind: MergeKind;
  readonly pair: readonly [MemoryNode, MemoryNode];
  /** 0 to 1: how alike they are. */
  readonly score: number;
};

/** What came of a merge. */
export type Merged = { readonly kept: MemoryNode; readonly retiredId: Uuid };

/** The lower and the higher id of two memories. */
export function inIdOrder(pair: readonly [MemoryNode, MemoryNode]): readonly [Uuid, Uuid] {
  const [{ id: one }, { id: other }] = pair;
  return one < other ? [one, other] : [other, one];
}

/**
 * Merges two memories, if they are still what they were taken for when it is done: one is kept and gets evidence and edges of the
 * other, which it replaces. A repeat changes nothing.
 * @returns undefined if nothing was done
 */
export async function merge(
  run: JobRun,
  { kind, pair, score }: Merge,
): Promise<Merged | undefined> {
  const [lower, higher] = inIdOrder(pair);
  const operationId = uuidV5(lower, `svc:organizer-merge:v1:${higher}:${kind}`);
  const [, retired] = keptFirst(kind, ...pair);
  return run.change(
    {
      nodeIds: [lower, higher],
      auditRecordIds: [operationId],
      eventIds: [],
      edgesOf: retired.id,
    },
    (snapshot) => {
      const one = snapshot.nodes.get(lower);
      const other = snapshot.nodes.get(higher);
      const isDone = snapshot.auditRecords.has(operationId);
      if (one === undefined || other === undefined || isDone) return NOTHING;
      const [kept, gone] = keptFirst(kind, one, other);
      // The order may have changed since; then another run looks at them again.
      if (gone.id !== retired.id || !mayMerge(kind, one, other)) return NOTHING;
      return mergeDecision(snapshot, { kind, score, operationId, kept, retired: gone });
    },
  );
}

const NOTHING = { change: undefined, result: undefined };

function mayMerge(kind: MergeKind, one: MemoryNode, other: MemoryNode): boolean {
  if (kind === "duplicate") return isDuplicate(one, other);
  const isNamedAlike = namesMatch(one.content, other.content) !== undefined;
  return areOpen(one, other) && isCompatible(one, other) && isNamedAlike;
}

type Decided = Pick<Merge, "kind" | "score"> & {
  readonly operationId: Uuid;
  readonly kept: MemoryNode;
  readonly retired: MemoryNode;
};

function mergeDecision(
  { at, edgesOf }: ChangeSnapshot,
  { kind, score, operationId, kept, retired }: Decided,
): Decision<Merged> {
  const keptAfter: MemoryNode = {
    ...kept,
    evidenceRefs: evidenceUnion([kept.evidenceRefs, retired.evidenceRefs]),
    updatedAt: at,
  };
  const retiredAfter: MemoryNode = {
    ...retired,
    lifecycleState: requireStep("supersede", retired),
    supersededBy: kept.id,
    updatedAt: at,
  };
  const copies = edgesOf.flatMap((edge) => copyOf(edge, { operationId, kept, retired }));
  const replaces: Edge = {
    ...edgeOf({ operationId, evidenceId: undefined, at }, "supersedes", kept, retired),
    metadata: { reason: REASONS[kind], score, merge_operation_id: operationId },
  };
  const payload = checksummed({
    version: 1,
    policy: MERGE_POLICY,
    operation_id: operationId,
    reason: REASONS[kind],
    score,
    kept_before: nodeRecord.to(kept),
    kept_after: nodeRecord.to(keptAfter),
    retired_before: nodeRecord.to(retired),
    retired_after: nodeRecord.to(retiredAfter),
    edge: edgeRecord.to(replaces),
    copied_edges: copies.map((edge) => edgeRecord.to(edge)),
  });
  const entry = { id: operationId, actorId: retired.userId, at, payload };
  return {
    change: {
      nodes: [keptAfter, retiredAfter],
      edges: [...copies, replaces],
      auditRecords: [logEntry("ORGANIZER_MERGED", retiredAfter, entry)],
    },
    result: { kept: keptAfter, retiredId: retired.id },
  };
}

/** An edge of the retired memory as one of the kept memory. Replacements stay where they are, and none leads to itself. */
function copyOf(
  edge: Edge,
  { operationId, kept, retired }: Omit<Decided, "kind" | "score">,
): readonly Edge[] {
  const other = edge.sourceId === retired.id ? edge.targetId : edge.sourceId;
  if (edge.edgeType === "supersedes" || other === kept.id || other === retired.id) return [];
  const end = (id: Uuid): Uuid => (id === retired.id ? kept.id : id);
  const id = uuidV5(operationId, `edge:${edge.id}`);
  return [{ ...edge, id, sourceId: end(edge.sourceId), targetId: end(edge.targetId) }];
}
