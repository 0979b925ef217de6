import { parseId, parseOptionalBoolean, parseOptionalId } from "../../domain/arguments.ts";
import { openChecksummed } from "../../domain/checksummed.ts";
import { ACTIVE_STATES } from "../../domain/enums.ts";
import { FORGOTTEN } from "../../domain/erasure.ts";
import { missingNode, reasonCode, SvcError } from "../../domain/errors.ts";
import { ORIGINAL_TTL_DAYS, retentionEnd, type TtlDefaults } from "../../domain/fading.ts";
import { isActive } from "../../domain/lifecycle.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import { hasText } from "../../domain/search/turns.ts";
import { embeddingText } from "../../domain/speaker.ts";
import { asInstant, type Instant } from "../../lib/instant.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import type { Upkeep } from "../../ports/store/work.ts";
import type { EngineDeps } from "../deps.ts";
import { embedParts } from "../embed-parts.ts";
import type { EngineSettings } from "../settings.ts";
import type { RestoredMany, RestoreFadedInput, RestoreOptions } from "./api.ts";
import { changeEntry, changeOne, isSameActor, parseCaller, parseReason } from "./change-one.ts";
import { reopenDisputes } from "./disputes.ts";
import { isOutOfReach } from "./expire.ts";

const RESTORED = "MEMORY_RESTORED";
const POLICY = "explicit_restore_v1";
/** Jobs that archive by age. */
const FADING_JOBS: readonly unknown[] = ["decay_sweep", "archive"];
const PAGE = 100;

export type RestoreDeps = Pick<EngineDeps, "store" | "ids" | "embedder" | "settings" | "warn">;

/**
 * Makes a retired memory active again.
 * @throws SvcError not_found; memory_replaced; invalid_transition; request_conflict; embedding_failed
 */
export async function restore(
  deps: RestoreDeps,
  nodeId: string,
  options: RestoreOptions = {},
): Promise<MemoryNode> {
  const id = parseId(nodeId, "node_id");
  const { owner, actorId } = parseCaller(options);
  const requestId = parseOptionalId(options.requestId, "request_id");
  const reason = parseReason(options.reason);
  const found = await deps.store.node(id, owner);
  if (found === undefined) throw await missing(deps, id, owner);
  const last = (await deps.store.lastSteps([id])).get(id);
  await requireUnreplaced(deps, found);
  const vector =
    isActive(found.lifecycleState) || !hasText(found.content)
      ? undefined
      : await deps.embedder.embedDocument(embeddingText(found));
  const done = await changeOne(
    deps,
    {
      opType: RESTORED,
      idKind: "svc:restore:v1",
      isSame: (record, earlier) =>
        record["reason"] === (reason ?? null) &&
        isSameActor({ owner, actorId }, earlier.actorId, record["before"]),
      decide: (before, { at }) => {
        const after = restored(before, last, at);
        const record = { version: 1, policy: POLICY, reason: reason ?? null };
        const added = vector === undefined ? [] : [{ node: after, vector, at }];
        return { after, actorId, record, added };
      },
    },
    { id, owner, requestId },
  );
  return settleIn(deps, done);
}

/** Reopens disputes, embeds the parts of a long text. */
async function settleIn(deps: RestoreDeps, restored: MemoryNode): Promise<MemoryNode> {
  if (!isActive(restored.lifecycleState)) return restored;
  await embedParts(deps, [restored]);
  return reopenDisputes(deps, restored);
}

async function missing({ store }: RestoreDeps, id: Uuid, owner: Owner): Promise<SvcError> {
  if (isEverybody(owner)) return missingNode(id);
  const page = { opType: FORGOTTEN, userId: owner, mentions: id, afterTargetId: undefined };
  const [forgetting] = (await store.auditRecordsOf({ ...page, limit: 1 })).items;
  if (forgetting === undefined) return missingNode(id);
  return new SvcError(
    "not_found",
    `memory ${id} was forgotten on ${forgetting.createdAt.slice(0, 10)}: its text is erased, and nothing can bring it back`,
    { kind: "node", id, forget_id: forgetting.targetId },
  );
}

async function requireUnreplaced(
  { store }: RestoreDeps,
  { id, userId, lifecycleState, supersededBy }: MemoryNode,
): Promise<void> {
  if (isActive(lifecycleState) || supersededBy === undefined) return;
  const read = { owner: userId, nodeId: id, direction: "forward", maxSteps: 100 } as const;
  const standing = (await store.chain(read)).find((node) => isActive(node.lifecycleState));
  if (standing === undefined) return;
  throw new SvcError(
    "memory_replaced",
    `memory ${id} was replaced, and ${standing.id} stands now; if the old one is right, archive that one first`,
    { id, standing_id: standing.id },
  );
}

/** The memory before it was retired. @param last the recorded step that retired it @throws SvcError invalid_transition */
function restored(before: MemoryNode, last: AuditRecord | undefined, at: Instant): MemoryNode {
  const { id, lifecycleState: from } = before;
  const was = last && pastOf(last);
  const isLost = from === "deprecated" && was?.after["lifecycleState"] !== "deprecated";
  if (isActive(from) || isLost) {
    const why = isLost ? "another claim was found right" : "nothing is to be restored";
    throw new SvcError("invalid_transition", `restore: memory ${id} is ${from}; ${why}`, {
      ...{ action: "restore", id, from, to: isLost ? "tentative" : from },
    });
  }
  const isOfThis = was?.after["lifecycleState"] === from;
  const state = ACTIVE_STATES.find((one) => isOfThis && one === was.before["lifecycleState"]);
  const end = retentionEnd(before);
  const updatedAt = isOfThis ? was.before["updatedAt"] : undefined;
  return {
    ...before,
    lifecycleState: state ?? "tentative",
    supersededBy: undefined,
    ttlDays: end !== undefined && end < at ? undefined : before.ttlDays,
    lastReinforcedAt: at,
    // Ranking takes the last change as the age of a memory; restoring must not make it look newer.
    updatedAt: typeof updatedAt === "string" ? asInstant(updatedAt) : before.updatedAt,
  };
}

function pastOf({ payload }: AuditRecord) {
  // SAFETY: each such record has both, and the organizer's have the third.
  return openChecksummed(payload) as Readonly<
    Record<"before" | "after", JsonObject> & { organizer?: JsonObject }
  >;
}

export type FadedDeps = {
  readonly store: Pick<Upkeep, "walkAging" | "lastSteps">;
  readonly settings: Pick<EngineSettings, "ttlDefaults">;
};

/** Without `last`: it is active, but has a default retention. */
type Faded = { readonly node: MemoryNode; readonly last: AuditRecord | undefined };

/** Memories archived automatically (faded, or past the default retention of their type), then active memories with a former default. */
export async function* fadedMemories(
  { store, settings: { ttlDefaults } }: FadedDeps,
  owner: Owner,
): AsyncGenerator<Faded> {
  for await (const nodes of pagesOf(store, owner, "retired")) {
    const steps = await store.lastSteps(nodes.map(({ id }) => id));
    for (const node of nodes) {
      const last = steps.get(node.id);
      if (last !== undefined && hasFaded(node, last, ttlDefaults)) yield { node, last };
    }
  }
  for await (const nodes of pagesOf(store, owner, "retained")) {
    for (const node of nodes) {
      const isChosen = node.ttlDays === ttlDefaults[node.nodeType];
      if (!isChosen && hadDefault(node)) yield { node, last: undefined };
    }
  }
}

/** Whether the retention is a former default of the type. */
function hadDefault({ nodeType, ttlDays }: MemoryNode): boolean {
  return ttlDays !== undefined && ttlDays === ORIGINAL_TTL_DAYS[nodeType];
}

function hasFaded(node: MemoryNode, last: AuditRecord, defaults: TtlDefaults): boolean {
  const { after, organizer } = pastOf(last);
  const isOwn = node.metadata?.["consolidation_summary"] === true;
  if (isOwn || after["lifecycleState"] !== node.lifecycleState) return false;
  return last.opType === "TOMBSTONE_SWEEP"
    ? hadDefault(node) || node.ttlDays === defaults[node.nodeType]
    : FADING_JOBS.includes(organizer?.["job"]) && node.supersededBy === undefined;
}

async function* pagesOf(
  store: FadedDeps["store"],
  owner: Owner,
  kind: "retired" | "retained",
): AsyncGenerator<readonly MemoryNode[]> {
  for (let after: string | undefined; ; ) {
    const page = await store.walkAging({ owner, at: { kind }, after, limit: PAGE });
    yield page.nodes;
    after = page.next;
    if (after === undefined) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Restores faded memories, one transaction each, and lifts former default retentions. Failures are reported. */
export async function restoreFaded(
  deps: RestoreDeps,
  input: RestoreFadedInput,
  signal: AbortSignal,
): Promise<RestoredMany> {
  const { owner, actorId } = parseCaller(input);
  const isDryRun = parseOptionalBoolean(input.dryRun, "dry_run") ?? false;
  const done = { restored: 0, kept: 0, failed: 0 };
  for await (const { node, last } of fadedMemories(deps, owner)) {
    if (signal.aborted) break;
    const counted = last === undefined ? "kept" : "restored";
    try {
      if (isDryRun || (await bringBack(deps, node, last, actorId))) done[counted] += 1;
    } catch (error) {
      if (isOutOfReach(error)) throw error;
      deps.warn(`memory ${node.id} was not restored (${reasonCode(error)})`);
      done.failed += 1;
    }
  }
  return done;
}

/** @returns false if it changed meanwhile */
async function bringBack(
  deps: RestoreDeps,
  { id, userId, content, lifecycleState }: MemoryNode,
  last: AuditRecord | undefined,
  actorId: string,
): Promise<boolean> {
  const node = await deps.store.node(id, userId);
  const isWanted = last !== undefined && hasText(content) && node !== undefined;
  const vector = isWanted ? await deps.embedder.embedDocument(embeddingText(node)) : undefined;
  const operationId = deps.ids.next();
  const reads = { owner: userId, nodeIds: [id], auditRecordIds: [], eventIds: [] };
  const back = await deps.store.change(reads, ({ nodes, at }) => {
    const before = nodes.get(id);
    if (before?.lifecycleState !== lifecycleState) return { change: undefined, result: undefined };
    const after =
      last === undefined ? { ...before, ttlDays: undefined } : restored(before, last, at);
    const record = { version: 1, policy: POLICY, reason: last === undefined ? "kept" : "faded" };
    const entry = changeEntry(RESTORED, { before, after, record }, { operationId, actorId, at });
    const added = vector === undefined ? [] : [{ node: after, vector, at }];
    return { change: { nodes: [after], added, edges: [], auditRecords: [entry] }, result: after };
  });
  if (back !== undefined && last !== undefined) await settleIn(deps, back);
  return back !== undefined;
}
