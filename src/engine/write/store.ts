import { checksummed } from "../../domain/checksummed.ts";
import { reasonCode, SvcError } from "../../domain/errors.ts";
import { toNodeRecord } from "../../domain/node-record.ts";
import { uuidV5 } from "../../lib/uuid.ts";
import type { Operation } from "../../ports/store.ts";
import type { EngineDeps } from "../deps.ts";
import type { StoreInput } from "../inputs.ts";
import type { StoreReceipt } from "../results.ts";
import { embed, isBlank } from "./materialize.ts";
import { planStore, type StorePlan } from "./plan-store.ts";

/**
 * Stores one memory: the event, its node with its words, and a job for the vector become durable together while the
 * model works; then the vector is written. A failing model leaves the job pending and the call succeeds.
 * @throws SvcError invalid_argument, invalid_speaker, disk_full, storage_busy, storage_failed: nothing was stored;
 *   materialization_failed: the memory is safe, its job is not settled
 */
export async function store(deps: EngineDeps, input: StoreInput): Promise<StoreReceipt> {
  const plan = planStore(input, {
    now: deps.clock.now(),
    eventId: deps.ids.next(),
    nodeId: deps.ids.next(),
    settings: deps.settings,
  });
  // The model works while the disk does.
  const embedding = embed(deps, plan.node);
  await deps.store.admit({
    events: [plan.event],
    operations: [planRecord(plan)],
    nodes: [{ node: plan.node, lexical: !isBlank(plan.node) }],
    leaseJobs: true,
  });
  const { vector, failure } = await embedding;
  try {
    const [processingStatus] = await deps.store.materialize([
      {
        eventId: plan.event.id,
        node: plan.node,
        vector,
        lexical: false,
        failure,
        at: deps.clock.now(),
      },
    ]);
    if (processingStatus === undefined) throw new SvcError("internal", "a stored event has no job");
    return { eventId: plan.event.id, nodeId: plan.node.id, node: plan.node, processingStatus };
  } catch (error) {
    throw await unfinished(deps, plan, error);
  }
}

/** Keeps what was planned, so that the job can be finished after a crash exactly as it was meant. */
function planRecord({ event, node }: StorePlan): Operation {
  const projected = node.content !== event.content;
  return {
    id: uuidV5(event.id, "svc:direct-store:v1"),
    opType: "DIRECT_STORE_REQUESTED",
    targetId: event.id,
    payload: checksummed({
      schema_version: projected ? 2 : 1,
      event_id: event.id,
      content_hash: event.contentHash,
      node: toNodeRecord(node),
    }),
    actorId: "store",
    namespaceId: event.scope,
    createdAt: event.timestamp,
  };
}

async function unfinished(
  deps: EngineDeps,
  { event }: StorePlan,
  cause: unknown,
): Promise<SvcError> {
  const reason = reasonCode(cause);
  try {
    await deps.store.failJobs([event.id], reason, deps.clock.now());
  } catch {
    // The store is in trouble; the job keeps its lease until that ends, then any process may take it.
    deps.warn(`the failed try of event ${event.id} could not be recorded`);
  }
  return new SvcError(
    "materialization_failed",
    `event ${event.id} is stored; its memory is not fully indexed yet (${reason}) and will be retried`,
    { event_id: event.id, reason_code: reason },
    { cause },
  );
}
