import {
  LIMITS,
  parseId,
  parseOptionalId,
  parseOptionalList,
  parseUserId,
} from "../../domain/arguments.ts";
import { forgottenSince } from "../../domain/erasure.ts";
import { invalid, reasonCode, SvcError } from "../../domain/errors.ts";
import { fromPlanRecord, type ProcessingStatus, planRecordId } from "../../domain/jobs.ts";
import { type KeptBlob, parseBlobs } from "../../domain/node.ts";
import { hasText } from "../../domain/search/turns.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Json } from "../../lib/json.ts";
import { asUuid, type Uuid } from "../../lib/uuid.ts";
import type { EventLog } from "../../ports/store/events.ts";
import type { PlannedChange } from "../../ports/store/graph.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { SearchIndex } from "../../ports/store/search-index.ts";
import { ADMITTED, type Materialization, type WorkQueue } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import { embedParts } from "../embed-parts.ts";
import { type NamedRecords, operationOf } from "../owners.ts";
import type { StoreInput, StoreReceipt, StoreSteps } from "./api.ts";
import { type Embedding, embed } from "./materialize.ts";
import { planStore, type StorePlan, stampsFor } from "./plan.ts";

export type StoreDeps = EngineDeps<EventLog & WorkQueue & SearchIndex & NamedRecords> & {
  readonly steps: StoreSteps;
};

export type StoreOptions = {
  /** Reserved metadata of the engine. */
  readonly extra?: Readonly<Record<string, Json>>;
  /** Whether the memory is the raw note of its event, with the same id. Default false. */
  readonly isRawNote?: boolean;
  /** Kept in the same transaction, each at most `settings.blobMaxBytes`. */
  readonly blobs?: readonly KeptBlob[] | undefined;
  /** Default: a new one; not with a request id. */
  readonly eventId?: Uuid | undefined;
  /** Whether the answer includes similar memories. Default false. */
  readonly near?: boolean;
};

type Request = { readonly requestId: Uuid | undefined; readonly supersedes: readonly Uuid[] };

/**
 * Stores a memory: event, node, words and a job for the vector become durable together while the model works. If the model fails,
 * the job stays pending. A repeated `requestId` finishes and returns the first call's memory.
 * @throws SvcError materialization_failed: the memory is safe, its job is not settled; otherwise nothing was stored
 */
export async function store(
  deps: StoreDeps,
  input: StoreInput,
  options: StoreOptions = {},
): Promise<StoreReceipt> {
  const requestId = parseOptionalId(input.requestId, "request_id");
  const supersedes = parseSupersedes(input.supersedes);
  const blobs = parseBlobs(options.blobs, deps.settings);
  const eventId =
    requestId === undefined
      ? (options.eventId ?? deps.ids.next())
      : await eventOf(deps, input.userId, requestId);
  const nodeId = options.isRawNote === true ? eventId : deps.ids.next();
  const context = { extra: options.extra, eventId, nodeId, settings: deps.settings };
  const draft = planStore(input, { ...context, now: deps.clock.now() });
  // The model runs while the disk syncs.
  const embedding = embed(deps, draft.node);
  const stamp = await stampsFor(deps, draft.event.userId);
  const now = stamp(draft.event.timestamp);
  const plan = now === draft.event.timestamp ? draft : planStore(input, { ...context, now });
  const { after, replace, near } = deps.steps;
  const { userId, actorId } = input;
  const change =
    supersedes.length === 0 ? undefined : replace(supersedes, plan.node, { userId, actorId });
  const kept = await admit(deps, plan, { requestId, supersedes, change, blobs });
  const { event, node } = kept;
  // Needs no vector, so it runs while the model works.
  const nearest = options.near === true ? near(node) : undefined;
  const embedded = await embedding;
  const { vector } = embedded;
  const found = await nearest?.(vector);
  const generation = kept === plan ? ADMITTED : undefined;
  const processingStatus = await settle(deps, kept, { ...embedded, generation });
  await embedParts(deps, [node]);
  const stored = { event, node, vector, supersedes };
  const known = await deps.steps.repeated(stored, found, kept !== plan);
  if (kept === plan && known === undefined) await after(stored);
  const told = known ?? node;
  return {
    eventId: event.id,
    nodeId: told.id,
    node: told,
    duplicate: known !== undefined,
    processingStatus,
    near: found?.filter((other) => other.node.id !== told.id),
  };
}

/** Without repeats. @throws SvcError invalid_argument */
function parseSupersedes(value: unknown): readonly Uuid[] {
  const ids = (parseOptionalList(value, "supersedes") ?? []).map((id, index) =>
    parseId(id, `supersedes[${index}]`),
  );
  const distinct = [...new Set(ids)];
  if (distinct.length <= LIMITS.supersedesMax) return distinct;
  throw invalid("supersedes", `names ${distinct.length} memories, at most ${LIMITS.supersedesMax}`);
}

/** The event of all calls of an owner with this request id. */
export async function eventOf(
  { store: kept }: StoreDeps,
  userId: string,
  requestId: Uuid,
  kind = "svc:store:v1",
): Promise<Uuid> {
  const owner = parseUserId(userId);
  const idOf = (name: string) => uuidV5("url", JSON.stringify([kind, name, requestId]));
  const earlier = await operationOf(kept, owner, (name) => planRecordId(idOf(name)));
  return earlier === undefined ? idOf(owner) : asUuid(earlier.targetId);
}

/** @returns the recorded plan, this one or that of an earlier call */
async function admit(
  deps: StoreDeps,
  plan: StorePlan,
  request: Request & {
    readonly change: PlannedChange | undefined;
    readonly blobs: readonly KeptBlob[];
  },
): Promise<StorePlan> {
  const { requestId, supersedes, change, blobs } = request;
  const admission = {
    events: [plan.event],
    auditRecords: [],
    plans: [{ ...plan, supersedes }],
    nodes: [{ node: plan.node, lexical: hasText(plan.node.content) }],
    change,
    leaseJobs: true,
    blobs: blobs.map((blob) => ({ ...blob, event: plan.event.id })),
  };
  if (requestId === undefined) {
    await deps.store.admit(admission);
    return plan;
  }
  const earlier = await deps.store.admitOnce(admission, planRecordId(plan.event.id));
  return earlier === undefined ? plan : planOf(earlier, plan, { requestId, supersedes });
}

/** The plan in the record of an earlier call. @throws SvcError request_conflict if that stored something else */
export function planOf(
  earlier: AuditRecord,
  { event, node }: StorePlan,
  { requestId, supersedes }: Request & { readonly requestId: Uuid },
): StorePlan {
  const saved = fromPlanRecord(earlier.payload);
  if (saved === undefined) throw forgottenSince(requestId);
  const { node: known } = saved;
  const isSame = saved.contentHash === event.contentHash && known.content === node.content;
  const replaced = new Set<unknown>(saved.supersedes);
  const replacesSame =
    replaced.size === supersedes.length && supersedes.every((id) => replaced.has(id));
  // The record has the owner's name at the time of the first call.
  if (isSame && replacesSame) return { event, node: { ...known, userId: event.userId } };
  throw requestConflict(requestId, isSame ? "supersedes" : "content");
}

export function requestConflict(requestId: Uuid, what: string): SvcError {
  return new SvcError(
    "request_conflict",
    `request_id ${requestId} was used before with other ${what}; use a new one`,
    { request_id: requestId },
  );
}

async function settle(
  deps: StoreDeps,
  plan: StorePlan,
  { vector, failure, generation }: Embedding & Pick<Materialization, "generation">,
): Promise<ProcessingStatus> {
  const { event, node } = plan;
  try {
    const [status] = await deps.store.materialize([
      {
        eventId: event.id,
        node,
        vector,
        lexical: false,
        failure,
        at: deps.clock.now(),
        generation,
      },
    ]);
    if (status === undefined) throw new SvcError("internal", "a stored event has no job");
    return status;
  } catch (error) {
    throw await unfinished(deps, event.id, generation, error);
  }
}

async function unfinished(
  deps: StoreDeps,
  eventId: Uuid,
  generation: number | undefined,
  cause: unknown,
): Promise<SvcError> {
  const reason = reasonCode(cause);
  try {
    await deps.store.failJobs([eventId], reason, deps.clock.now(), generation);
  } catch {
    // The job keeps its lease; once it ends any process may take it.
    deps.warn(`the failed try of event ${eventId} could not be recorded`);
  }
  return new SvcError(
    "materialization_failed",
    `event ${eventId} is stored; its memory is not fully indexed yet (${reason}) and will be retried`,
    { event_id: eventId, reason_code: reason },
    { cause },
  );
}
