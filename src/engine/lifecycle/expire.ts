import { checksummed } from "../../domain/checksummed.ts";
import { reasonCode, SvcError } from "../../domain/errors.ts";
import { retentionEnd } from "../../domain/fading.ts";
import { isTakenOver } from "../../domain/jobs.ts";
import { isActive, requireStep } from "../../domain/lifecycle.ts";
import { type MemoryNode, nodeRecord } from "../../domain/node.ts";
import type { Owner } from "../../domain/owner.ts";
import { sha256Hex, uuidV5 } from "../../lib/hashing.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { ChangeSnapshot, Decision, ExpiredRead, Graph } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { WorkClaim } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import { logEntry } from "./change-one.ts";
import { isContested, opponentsOf, settleUnopposed } from "./disputes.ts";

type Target = {
  readonly id: Uuid;
  readonly operationId: Uuid;
  /** The id is fresh: no record can have it. */
  readonly isNew?: true;
};

/** How many memories change. */
type EachRun = {
  readonly change: Graph["change"];
  /** Memories per transaction, at least 1. */
  readonly batchSize: number;
  /** Called between transactions. @returns false to stop */
  readonly pause: () => Promise<boolean>;
  readonly isOver: () => boolean;
  readonly isDryRun?: boolean;
  readonly report: (id: Uuid, reason: string) => void;
};

type ChangedOne = { readonly after: MemoryNode; readonly entry: AuditRecord };

/** Decides about one memory inside the transaction. Undefined: no change. Pure. */
type DecideOne = (
  before: MemoryNode,
  target: Target,
  snapshot: ChangeSnapshot,
) => ChangedOne | undefined;

export type Tally = { readonly changed: number; readonly failed: number };

/** Whether the error affects every memory. */
export function isOutOfReach(error: unknown): boolean {
  return (
    error instanceof SvcError &&
    (error.code === "pack_locked" || error.code === "engine_closed" || isTakenOver(error))
  );
}

/** Changes memories in batches, one transaction each. Failures are reported; the others are changed. */
export async function changeEach(
  run: EachRun,
  targets: readonly Target[],
  decide: DecideOne,
): Promise<Tally> {
  let changed = 0;
  let failed = 0;
  for (let at = 0; at < targets.length; at += run.batchSize) {
    if (at === 0 ? run.isOver() : !(await run.pause())) break;
    const done = await changeBatch(run, targets.slice(at, at + run.batchSize), decide);
    changed += done.changed;
    failed += done.failed;
  }
  return { changed, failed };
}

async function changeBatch(
  run: EachRun,
  targets: readonly Target[],
  decide: DecideOne,
): Promise<Tally> {
  try {
    const reads = {
      nodeIds: targets.map(({ id }) => id),
      auditRecordIds: targets.flatMap((one) => (one.isNew === true ? [] : [one.operationId])),
      eventIds: [],
    };
    const changed = await run.change(reads, (snapshot) => decideAll(snapshot, targets, decide));
    return { changed, failed: 0 };
  } catch (error) {
    if (isOutOfReach(error)) throw error;
    // One bad memory must not block the others: each is tried alone.
    if (targets.length > 1) return changeEach({ ...run, batchSize: 1 }, targets, decide);
    for (const { id } of targets) run.report(id, reasonCode(error));
    return { changed: 0, failed: 1 };
  }
}

function decideAll(
  snapshot: ChangeSnapshot,
  targets: readonly Target[],
  decide: DecideOne,
): Decision<number> {
  const done = targets.flatMap((target) => {
    const before = snapshot.nodes.get(target.id);
    return (before && decide(before, target, snapshot)) ?? [];
  });
  if (done.length === 0) return { change: undefined, result: 0 };
  const change = {
    nodes: done.map(({ after }) => after),
    edges: [],
    auditRecords: done.map(({ entry }) => entry),
  };
  return { change, result: done.length };
}

const OPERATION = "TOMBSTONE_SWEEP";
const POLICY = "ttl_expiration_v1";

type ExpireOptions = {
  readonly owner: Owner;
  readonly limit: number;
  readonly budgetMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly claim?: WorkClaim | undefined;
};

type Expiry = { readonly archived: number; readonly failed: number };

type ExpireDeps = Pick<EngineDeps<Graph>, "store" | "clock" | "warn" | "ids">;

/** Archives memories whose retention has ended, earliest first, one transaction each. */
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

/** Archives memories whose retention has ended, earliest first, with one record each even if other processes do the same. */
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
