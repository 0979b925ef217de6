/** The operations that are killed at their statements: what they find in a pack, and what they do to it. */
import { checksummed } from "../../src/domain/checksummed.ts";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import { edgeRecord, type MemoryNode, nodeRecord } from "../../src/domain/node.ts";
import { uuidV5 } from "../../src/lib/hashing.ts";
import { asUuid, type Uuid } from "../../src/lib/uuid.ts";
import type { Change } from "../../src/ports/store/graph.ts";
import type { Store } from "../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anAuditRecord,
  anEvent,
  at,
  freshId,
  put,
  unit,
} from "../contract/samples.ts";
import { aBlob } from "../contract/store-blobs.ts";
import { anEdge } from "../contract/store-change.ts";
import { anErasure } from "../contract/store-erasures.ts";
import { aReceipt } from "../contract/store-receipts.ts";

/** Stands in the memory that is forgotten, in its picture and in a receipt. */
export const MARK = "marmalade";
/** Turns of one conversation, in their order: the third is retired, replaced or forgotten, the sixth replaces it. */
const TURNS = ["alpha", "bravo", `the vault opens with ${MARK}`, "delta", "echo", "foxtrot"];
const [OLD, NEXT] = [2, 5];

/** The id of what a change writes about a memory, equal in each run. */
const idOf = (node: Uuid): Uuid => uuidV5(node, "kill");
const ROOT = asUuid("01900000-0000-7000-8000-00000000c111");

/** Makes the memories; every other one is bob's where both have some. */
async function converse(store: Store, turns = TURNS, isShared = false): Promise<void> {
  await put(
    store,
    ...turns.map((content, second) => ({
      ...{ content, second, sessionId: "s", userId: isShared && second % 2 === 0 ? "bob" : "ada" },
      vector: unit(...TURNS.map((turn) => (turn === content ? 1 : 0))),
    })),
  );
}

/** The memory that is retired, and the one that replaces it. */
async function pairOf(store: Store): Promise<readonly [MemoryNode, MemoryNode]> {
  const query = { lifecycleStates: LIFECYCLE_STATES, oldestFirst: true, limit: 99 };
  const nodes = await store.queryNodes({ owner: "ada", ...query });
  const [old, next] = [OLD, NEXT].map((turn) =>
    nodes.find(({ content }) => content === TURNS[turn]),
  );
  if (old === undefined || next === undefined) throw new Error("the pack lacks the memories");
  return [old, next];
}

/** Retires a memory, with the record of it, in favour of another one if there is one. */
function retire(old: MemoryNode, next?: MemoryNode, isPromoted = false): Change {
  const updatedAt = at(100);
  const after: MemoryNode =
    next === undefined
      ? { ...old, lifecycleState: "archived", updatedAt }
      : { ...old, lifecycleState: "superseded", supersededBy: next.id, updatedAt };
  const promoted = next && isPromoted && { ...next, lifecycleState: "stable" as const, updatedAt };
  const edge = next && anEdge(next, old, { id: idOf(next.id) });
  const record = {
    before: nodeRecord.to(old),
    after: nodeRecord.to(after),
    ...(promoted && { replacement: nodeRecord.to(promoted) }),
    ...(edge && { edge: edgeRecord.to(edge) }),
  };
  const named = { id: idOf(old.id), opType: "LIFECYCLE_CHANGED", targetId: old.id } as const;
  return {
    nodes: [after, ...(promoted ? [promoted] : [])],
    edges: edge ? [edge] : [],
    auditRecords: [anAuditRecord({ ...named, payload: checksummed(record), createdAt: updatedAt })],
  };
}

/** Stores a turn of the same conversation that replaces a memory. */
async function storeReplacing(store: Store): Promise<void> {
  const [{ id }] = await pairOf(store);
  const turn = { content: "golf", sessionId: "s", timestamp: at(100) };
  const event = anEvent({ id: idOf(idOf(id)), ...turn });
  const node = aNode(event, { id: idOf(id) });
  await store.admit({
    ...anAdmission([event], { nodes: [{ node, lexical: true }], leaseJobs: true }),
    change: {
      reads: { nodeIds: [id, node.id], auditRecordIds: [], eventIds: [] },
      decide: ({ nodes }) => {
        const [old, next] = [id, node.id].map((known) => nodes.get(known));
        if (old === undefined || next === undefined) throw new Error("a memory is not there");
        return { change: retire(old, next), result: undefined };
      },
    },
  });
}

async function changeOf(store: Store, decide: (old: MemoryNode, next: MemoryNode) => Change) {
  const [old, next] = await pairOf(store);
  const nodeIds = [old.id, next.id];
  await store.change({ nodeIds, auditRecordIds: [], eventIds: [] }, () => ({
    ...{ change: decide(old, next), result: undefined },
  }));
}

async function forget(store: Store): Promise<void> {
  const [old] = await pairOf(store);
  await store.erase(anErasure([old], { forgetId: idOf(old.id) }));
  await store.settleErasures(5000);
}

/** The memory that is forgotten has a picture larger than a page, and a receipt names it. */
async function converseAboutMark(store: Store): Promise<void> {
  const content = TURNS[OLD] ?? MARK;
  await converse(
    store,
    TURNS.filter((turn) => turn !== content),
  );
  const event = anEvent({ content, sessionId: "s", timestamp: at(OLD) });
  const bytes = new TextEncoder().encode(MARK.repeat(2000));
  await store.admit(anAdmission([event], { blobs: [aBlob({ event: event.id, bytes })] }));
  await store.materialize([aMaterialization(event, aNode(event), { vector: unit(0, 0, 1) })]);
  await store.saveReceipt(aReceipt({ body: new TextEncoder().encode(`where is ${MARK}?`) }));
}

async function twoOwners(store: Store): Promise<void> {
  await converse(store, TURNS, true);
  await store.saveReceipt(aReceipt({ userId: "bob" }));
  const change = { id: freshId(), actorId: "test", createdAt: at(50) };
  await store.owners.usePack("bob", change);
}

async function join(store: Store): Promise<void> {
  const names = { from: "bob", into: "ada", isJoin: true, actorId: "test" };
  await store.owners.move({ ...names, id: idOf(ROOT), settingId: idOf(idOf(ROOT)) });
}

async function admitPictures(store: Store): Promise<void> {
  const ids = [idOf(ROOT), idOf(idOf(ROOT))];
  const events = ["ada", "bob"].map((userId, at) => anEvent({ userId, id: ids[at] ?? ROOT }));
  await store.admit(
    anAdmission(events, {
      nodes: events.map((event) => ({ node: aNode(event, { id: event.id }), lexical: true })),
      blobs: events.flatMap(({ id: event }) => [
        aBlob({ event, bytes: new Uint8Array(30_000).fill(7) }),
        aBlob({ event, key: "frames/0b.jpg" }),
      ]),
    }),
  );
}

export type Operation = {
  /** Fills a new pack. */
  readonly make: (store: Store) => Promise<unknown>;
  readonly act: (store: Store) => Promise<void>;
};

const speak = (store: Store) => converse(store);
const archive = (store: Store) => changeOf(store, (old) => retire(old));
const replace = (store: Store) => changeOf(store, (old, next) => retire(old, next, true));

export const OPERATIONS = {
  "an archive": { make: speak, act: archive },
  "a replacement": { make: speak, act: replace },
  "a store that replaces": { make: speak, act: storeReplacing },
  "an admission of pictures": { make: async () => {}, act: admitPictures },
  "a join of two owners": { make: twoOwners, act: join },
  "a forgetting": { make: converseAboutMark, act: forget },
} as const satisfies Readonly<Record<string, Operation>>;
