import { LIMITS, parseOptionalId, parseUserId } from "../../domain/arguments.ts";
import { invalid, reasonCode, SvcError } from "../../domain/errors.ts";
import { planRecordId } from "../../domain/jobs.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { hasText } from "../../domain/search/turns.ts";
import { uuidV5 } from "../../lib/hashing.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { ADMITTED } from "../../ports/store/work.ts";
import { whileHeld } from "../concurrency.ts";
import { unhurried } from "../deps.ts";
import { embedParts } from "../embed-parts.ts";
import type { StoredBatch, StoreManyInput } from "./api.ts";
import { embed } from "./materialize.ts";
import { planStore, type StorePlan, stampsFor } from "./plan.ts";
import { eventOf, planOf, requestConflict, type StoreDeps, type StoreOptions } from "./store.ts";

/** Memories whose vectors are written together. */
const GROUP = 16;

const ITEM_KEYS = new Set(
  "content retrievalContent valueBindings sessionId role speaker nodeType scope metadata confidence epistemicType sourceType eventTime validFrom validTo ttlDays".split(
    " ",
  ),
);

/**
 * Stores memories of one owner: all become durable in one transaction, and can be found when this returns. A repeated `requestId`
 * finishes and returns the memories of the first call.
 * @throws SvcError invalid_argument, invalid_speaker (message begins with `items[i]`); request_conflict
 */
export async function storeMany(deps: StoreDeps, input: StoreManyInput): Promise<StoredBatch> {
  if (!Array.isArray(input.items)) throw invalid("items", "must be a list");
  const { length } = input.items;
  if (length > LIMITS.storeManyMax) {
    throw invalid("items", `has ${length} entries, at most ${LIMITS.storeManyMax}`);
  }
  for (const [index, item] of input.items.entries()) {
    entryOf(item, `items[${index}]`, ITEM_KEYS, "an item");
  }
  return await storeAll(deps, input);
}

/** The same for entries without unknown members. @param optionsOf of the entry at an index */
export async function storeAll(
  deps: StoreDeps,
  { items, userId, requestId }: StoreManyInput,
  optionsOf: (index: number) => Pick<StoreOptions, "extra" | "isRawNote"> = () => ({}),
): Promise<StoredBatch> {
  const owner = parseUserId(userId);
  const request = parseOptionalId(requestId, "request_id");
  const first = request && (await eventOf(deps, owner, request, "svc:store-many:v1"));
  const idAt = (index: number) =>
    first === undefined || index === 0
      ? (first ?? deps.ids.next())
      : uuidV5(first, `svc:store-many:v1:${index}`);
  const stamp = await stampsFor(deps, owner);
  const plans = items.map((item, index) => {
    const { extra, isRawNote = false } = optionsOf(index);
    const eventId = idAt(index);
    const nodeId = isRawNote ? eventId : deps.ids.next();
    const context = { extra, eventId, nodeId, settings: deps.settings, now: stamp() };
    return at(`items[${index}]`, () => planStore({ ...item, userId: owner }, context));
  });
  const kept = await admit(deps, plans, request, idAt);
  const isNew = kept === plans;
  await index(deps, isNew ? plans : await unfinished(deps, kept), isNew);
  return {
    memories: kept.map(({ event, node }) => ({ eventId: event.id, nodeId: node.id })),
    pending: (await unfinished(deps, kept)).length,
  };
}

/** @returns the recorded plans, these or those of an earlier call */
async function admit(
  { store }: StoreDeps,
  plans: readonly StorePlan[],
  request: Uuid | undefined,
  idAt: (index: number) => Uuid,
): Promise<readonly StorePlan[]> {
  const [head] = plans;
  if (head === undefined) return plans;
  const admission = {
    events: plans.map(({ event }) => event),
    auditRecords: [],
    plans: plans.map((plan) => ({ ...plan, supersedes: [] })),
    nodes: plans.map(({ node }) => ({ node, lexical: hasText(node.content) })),
    leaseJobs: true,
  };
  if (request === undefined) {
    await store.admit(admission);
    return plans;
  }
  const earlier = await store.admitOnce(admission, planRecordId(head.event.id));
  if (earlier === undefined) return plans;
  const recordAt = (index: number) => store.auditRecord(planRecordId(idAt(index)), ALL_OWNERS);
  const records = await Promise.all(plans.map((_, at) => (at === 0 ? earlier : recordAt(at))));
  if ((await recordAt(plans.length)) !== undefined) throw requestConflict(request, "items");
  return records.map((record, at) => {
    const plan = plans[at];
    if (record === undefined || plan === undefined) throw requestConflict(request, "items");
    return planOf(record, plan, { requestId: request, supersedes: [] });
  });
}

async function unfinished(
  { store }: StoreDeps,
  plans: readonly StorePlan[],
): Promise<readonly StorePlan[]> {
  const statuses = await Promise.all(
    plans.map(({ event }) => store.jobStatus(event.id, event.userId)),
  );
  return plans.filter((_, at) => statuses[at]?.status !== "complete");
}

/** Adds the vectors. What fails stays a pending job; words find it meanwhile. */
async function index(deps: StoreDeps, plans: readonly StorePlan[], isNew: boolean): Promise<void> {
  const { store, clock, steps } = deps;
  // Single stores come before many.
  const later = plans.length > GROUP ? unhurried(deps) : deps;
  const embeddings = plans.map(({ node }) => embed(later, node));
  const generation = isNew ? ADMITTED : undefined;
  const ids = plans.map(({ event }) => event.id);
  await whileHeld(
    () => store.renewJobs(ids),
    async () => {
      for (let from = 0; from < plans.length; from += GROUP) {
        const group = plans.slice(from, from + GROUP);
        const embedded = await Promise.all(embeddings.slice(from, from + GROUP));
        const items = group.map(({ event, node }, at) => {
          const { vector, failure } = embedded[at] ?? {};
          const when = clock.now();
          return { eventId: event.id, node, vector, lexical: false, failure, at: when, generation };
        });
        try {
          await store.materialize(items);
        } catch (error) {
          const failed = items.map(({ eventId }) => eventId);
          await store.failJobs(failed, reasonCode(error), clock.now(), generation);
          continue;
        }
        await embedParts(
          later,
          group.map(({ node }) => node),
        );
        if (!isNew) continue;
        for (const [at, { event, node }] of group.entries()) {
          await steps.after({ event, node, vector: embedded[at]?.vector, supersedes: [] });
        }
      }
    },
  );
}

/** An entry of a list. @throws SvcError invalid_argument for what is no object, or has other members */
export function entryOf(
  value: unknown,
  path: string,
  keys: ReadonlySet<string>,
  kind: string,
): object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(path, "must be an object");
  }
  for (const key of Object.keys(value)) {
    if (!keys.has(key)) throw invalid(`${path}.${key}`, `is not a field of ${kind}`);
  }
  return value;
}

/** Prefixes errors with the list entry, unless they concern fields shared by all entries. */
export function at<T>(path: string, check: () => T, shared?: ReadonlySet<unknown>): T {
  try {
    return check();
  } catch (error) {
    const field = error instanceof SvcError ? error.data["field"] : undefined;
    if (!(error instanceof SvcError) || shared?.has(field)) throw error;
    const named = { ...error.data, field: `${path}.${String(field ?? "")}` };
    throw new SvcError(error.code, `${path}.${error.message}`, named);
  }
}
