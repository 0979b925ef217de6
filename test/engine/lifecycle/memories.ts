import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { LIFECYCLE_STATES, type LifecycleState } from "../../../src/domain/enums.ts";
import { SvcError } from "../../../src/domain/errors.ts";
import { type Edge, type MemoryNode, nodeRecord } from "../../../src/domain/node.ts";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { StoreInput } from "../../../src/engine/write/api.ts";
import type { JsonObject } from "../../../src/lib/json.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import type { AuditRecord } from "../../../src/ports/store/records.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import type { Thrown } from "../../domain/thrown.ts";

export const KEY = asUuid("11111111-2222-4333-8444-555555555555");
export const OTHER_KEY = asUuid("99999999-2222-4333-8444-555555555555");
export const NOBODY = asUuid("00000000-0000-4000-8000-00000000dead");

/** Stores a memory of ada. */
export async function remember(
  engine: MemoryEngine,
  content: string,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode> {
  const input = { userId: "ada", content, ...given };
  const eventId = await engine.store(input);
  const newest = await engine.queryNodes({ userId: input.userId, limit: 10 });
  const node = newest.find(({ evidenceRefs }) => evidenceRefs.includes(eventId));
  if (node === undefined) throw new Error("it is not among the newest");
  return node;
}

/** Stores a claim whose truth depends on a condition. */
export function rememberConditional(
  engine: MemoryEngine,
  given: Partial<StoreInput> = {},
): Promise<MemoryNode> {
  return remember(engine, "the red kayak may leave the harbour", {
    epistemicType: "conditional",
    metadata: { condition: "the wind is below 5" },
    ...given,
  });
}

/** Admits an event that cites nothing yet. */
export function tell(
  engine: MemoryEngine,
  given: { readonly userId?: string; readonly scope?: "personal" | "project" } = {},
): Promise<Uuid> {
  return engine.ingestFast({ content: "somebody said so", userId: "ada", ...given });
}

/** A memory as it is now, in any state. */
export async function reread(engine: MemoryEngine, id: string): Promise<MemoryNode> {
  const node = await engine.getNode(id, { includeSuperseded: true });
  if (node === undefined) throw new Error(`memory ${id} is gone`);
  return node;
}

/** How a call is refused; a call that goes through fails the test. */
export async function refusal(call: Promise<unknown>): Promise<Thrown> {
  const result = await call.catch((error: unknown) => error);
  if (!(result instanceof SvcError)) throw new Error(`not refused: ${JSON.stringify(result)}`);
  return { code: result.code, data: result.data, message: result.message };
}

/** What was done to a memory since it was stored, oldest first. */
export async function logOf(store: Store, targetId: Uuid): Promise<readonly AuditRecord[]> {
  return (await store.auditRecordsOn({ targetId, after: undefined, limit: 1000 })).items;
}

/** The only operation on a memory. */
export async function onlyOperation(store: Store, targetId: Uuid): Promise<AuditRecord> {
  const operations = await logOf(store, targetId);
  const [operation] = operations;
  if (operation === undefined || operations.length > 1) {
    throw new Error(`${operations.length} operations instead of one`);
  }
  return operation;
}

export function recordOf(operation: AuditRecord): JsonObject {
  return openChecksummed(operation.payload);
}

/** The memories of a part of a record, by what they are called there. */
export function nodesOf(part: unknown): Readonly<Record<string, MemoryNode>> {
  // SAFETY: the record is under test; a wrong shape shows as a difference.
  const entries = Object.entries(part as Readonly<Record<string, JsonObject>>);
  return Object.fromEntries(entries.map(([name, node]) => [name, nodeRecord.from(node)]));
}

/** A memory that was brought into a state, and the one it contradicts or was replaced by, if any. */
export type Placed = { readonly node: MemoryNode; readonly other: MemoryNode | undefined };

const PLACING: Readonly<
  Record<
    LifecycleState,
    (engine: MemoryEngine, id: Uuid, other: () => Promise<MemoryNode>) => Promise<Uuid | undefined>
  >
> = {
  tentative: async () => undefined,
  stable: async (engine, id) => {
    await engine.promote(id);
    return undefined;
  },
  contested: async (engine, id, other) => {
    const { id: otherId } = await other();
    await engine.contradict(id, otherId);
    return otherId;
  },
  superseded: async (engine, id, other) => {
    const { id: otherId } = await other();
    await engine.supersede(id, otherId);
    return otherId;
  },
  deprecated: async (engine, id, other) => {
    const { id: otherId } = await other();
    await engine.contradict(id, otherId);
    await engine.resolveContradiction(otherId, id);
    return otherId;
  },
  archived: async (engine, id) => {
    await engine.archive(id);
    return undefined;
  },
};

/** A memory of ada in a state. */
export async function place(engine: MemoryEngine, state: LifecycleState): Promise<Placed> {
  const { id } = await remember(engine, `a ${state} memory`);
  const otherId = await PLACING[state](engine, id, () => remember(engine, "its counterpart"));
  const node = await reread(engine, id);
  if (node.lifecycleState !== state) throw new Error(`it is ${node.lifecycleState}`);
  return { node, other: otherId && (await reread(engine, otherId)) };
}

export const STATES = LIFECYCLE_STATES;

/** All edges between two memories, read as a change reads them. */
export function edgesAmong(store: Store, ...nodeIds: readonly Uuid[]): Promise<readonly Edge[]> {
  return store.change({ nodeIds, auditRecordIds: [], eventIds: [] }, ({ edges }) => ({
    change: undefined,
    result: edges,
  }));
}
