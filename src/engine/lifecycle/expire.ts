import { checksummed } from "../../domain/checksummed.ts";
import { reasonCode, SvcError } from "../../domain/errors.ts";
import { isTakenOver } from "../../domain/jobs.ts";
import { isActive, requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { retentionEnd } from "../../domain/retention.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { type Uuid, uuidV5 } from "../../lib/uuid.ts";
import type { Change, ChangeSnapshot } from "../../ports/store/changes.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type { WorkClaim } from "../../ports/store/work-queue.ts";
import type { EngineDeps } from "../deps.ts";
import { logEntry } from "./log-entry.ts";

const OPERATION = "TOMBSTONE_SWEEP";
const POLICY = "ttl_expiration_v1";

export type ExpireOptions = {
  readonly owner: Owner;
  /** Maximum number of memories to archive, at least 1. */
  readonly limit: number;
  /** Milliseconds after which no further memory is started. */
  readonly budgetMs: number;
  /** When aborted, no further memory is started. */
  readonly signal?: AbortSignal | undefined;
  /** Under which they are archived. */
  readonly claim?: WorkClaim | undefined;
};

/** How many memories were archived, and how many could not be. */
export type Expiry = { readonly archived: number; readonly failed: number };

/**
 * Archives active memories whose retention has ended, the earliest ended first, each in a transaction of its own with a record
 * of what was archived. Their text stays where it is; they leave the indexes. One that fails is reported and left for the
 * next time. Whoever else archives one meanwhile, there is one record.
 * @throws SvcError what the store throws when it looks for them; pack_locked or engine_closed; when the claim is over
 */
export async function expireMemories(
  deps: Pick<EngineDeps<Graph>, "store" | "clock" | "warn">,
  { owner, limit, budgetMs, signal, claim }: ExpireOptions,
): Promise<Expiry> {
  const end = performance.now() + budgetMs;
  const expired = await deps.store.expired({ owner, limit, now: deps.clock.now() });
  let archived = 0;
  let failed = 0;
  for (const node of expired) {
    if (performance.now() >= end || signal?.aborted === true) break;
    try {
      if (await expire(deps, node, claim)) archived += 1;
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      failed += 1;
      // The cause may contain memory text; only its category leaves this place.
      deps.warn(`expired memory ${node.id} was not archived (${reasonCode(error)})`);
    }
  }
  return { archived, failed };
}

/** Whether no other memory can be changed either. */
export function isOutOfReach(error: unknown): boolean {
  return (
    error instanceof SvcError &&
    (error.code === "pack_locked" || error.code === "engine_closed" || isTakenOver(error))
  );
}

async function expire(
  { store }: Pick<EngineDeps<Graph>, "store">,
  node: MemoryNode,
  claim: WorkClaim | undefined,
): Promise<boolean> {
  const endsAt = retentionEnd(node);
  if (endsAt === undefined) return false;
  const sweep: Sweep = {
    id: node.id,
    operationId: uuidV5(node.id, `svc:ttl-expiration:v1:${endsAt}`),
  };
  return store.change(
    { nodeIds: [sweep.id], auditRecordIds: [sweep.operationId], eventIds: [], claim },
    (snapshot) => {
      const change = decideExpiry(snapshot, sweep);
      return { change, result: change !== undefined };
    },
  );
}

type Sweep = { readonly id: Uuid; readonly operationId: Uuid };

/** Undefined unless the memory exists, is active, and its retention is over. */
function decideExpiry(snapshot: ChangeSnapshot, { id, operationId }: Sweep): Change | undefined {
  const { at } = snapshot;
  const before = snapshot.nodes.get(id);
  if (before === undefined || !isActive(before.lifecycleState)) return undefined;
  const endsAt = retentionEnd(before);
  if (endsAt === undefined || endsAt >= at || snapshot.auditRecords.has(operationId))
    return undefined;
  const after = { ...before, lifecycleState: requireStep("archive", before), updatedAt: at };
  const record = checksummed({
    version: 1,
    policy: POLICY,
    operation_id: operationId,
    evaluated_at: at,
    expires_at: endsAt,
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
  });
  const payload = {
    version: 1,
    ...record,
    target_id: id,
    target_type: "memory_object",
    reason: "retention_policy_expiry",
    policy_ref: POLICY,
    content_hash_of_deleted: sha256Hex(before.content),
    ttl_days: before.ttlDays ?? null,
    created_at: before.createdAt,
    expired_at: endsAt,
    tombstone_ts: at,
  };
  const entry = { id: operationId, actorId: before.userId, at, payload };
  return { nodes: [after], edges: [], auditRecords: [logEntry(OPERATION, after, entry)] };
}
