import { checksummed } from "../../domain/checksummed.ts";
import { isActive, requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { retentionEnd } from "../../domain/retention.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { uuidV5 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot } from "../../ports/store/changes.ts";
import type { ExpiredRead, Graph } from "../../ports/store/graph.ts";
import type { WorkClaim } from "../../ports/store/work-queue.ts";
import type { EngineDeps } from "../deps.ts";
import {
  type ChangedOne,
  changeEach,
  type EachRun,
  type Tally,
  type Target,
} from "./change-each.ts";
import { logEntry } from "./log-entry.ts";
import { isContested, opponentsOf, settleUnopposed } from "./unopposed.ts";

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

type ExpireDeps = Pick<EngineDeps<Graph>, "store" | "clock" | "warn" | "ids">;

/**
 * Archives active memories whose retention has ended, the earliest ended first, each in a transaction of its own.
 * @throws SvcError what the store throws when it looks for them; pack_locked or engine_closed; when the claim is over
 */
export async function expireMemories(
  deps: ExpireDeps,
  { owner, limit, budgetMs, signal, claim }: ExpireOptions,
): Promise<Expiry> {
  const end = performance.now() + budgetMs;
  const isOver = () => performance.now() >= end || signal?.aborted === true;
  const now = deps.clock.now();
  const { changed, failed } = await expireSome(
    deps,
    { owner, limit, now },
    {
      batchSize: 1,
      isOver,
      pause: async () => !isOver(),
      change: (reads, decide) => deps.store.change({ ...reads, claim }, decide),
    },
  );
  return { archived: changed, failed };
}

/**
 * Archives some of the active memories whose retention has ended, the earliest ended first, as `changeEach` does, each with a
 * record of what was archived. Their text stays where it is; they leave the indexes. Whoever else archives one meanwhile, there is
 * one record.
 */
export async function expireSome(
  deps: Pick<ExpireDeps, "store" | "warn" | "ids">,
  read: ExpiredRead,
  run: Omit<EachRun, "report">,
): Promise<Tally> {
  const { store, warn } = deps;
  const nodes = await store.expired(read);
  const targets = nodes.flatMap((node): Target[] => {
    const endsAt = retentionEnd(node);
    if (endsAt === undefined) return [];
    return [{ id: node.id, operationId: uuidV5(node.id, `svc:ttl-expiration:v1:${endsAt}`) }];
  });
  // The cause may contain memory text; only its category leaves this place.
  const report = (id: Uuid, reason: string) =>
    warn(`expired memory ${id} was not archived (${reason})`);
  const tally = await changeEach({ ...run, report }, targets, decideExpiry);
  if (!run.isDryRun)
    await settleUnopposed(deps, await opponentsOf(deps, nodes.filter(isContested)));
  return tally;
}

/** Undefined unless the memory is active and its retention is over. */
function decideExpiry(
  before: MemoryNode,
  { id, operationId }: Target,
  { at, auditRecords }: ChangeSnapshot,
): ChangedOne | undefined {
  if (!isActive(before.lifecycleState)) return undefined;
  const endsAt = retentionEnd(before);
  if (endsAt === undefined || endsAt >= at || auditRecords.has(operationId)) return undefined;
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
  return { after, entry: logEntry(OPERATION, after, entry) };
}
