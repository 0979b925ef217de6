/**
 * A process that makes one change of memories on a pack and may kill itself on the way.
 * Arguments: the pack as JSON; `archive`, `supersede` or `store`; the step before which it ends, or 0 to finish, as
 * `watchStatements` counts them. A process that finishes prints them.
 */
import { checksummed } from "../../src/domain/checksummed.ts";
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import { edgeRecord, type MemoryNode, nodeRecord } from "../../src/domain/node.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import type { Change } from "../../src/ports/store/graph.ts";
import type { AuditRecord } from "../../src/ports/store/records.ts";
import { aNode, anAdmission, anEvent, at } from "../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { anEdge } from "../contract/store-change.ts";
import { idOf } from "./lifecycle-ids.ts";
import { watchStatements } from "./statement-steps.ts";

const [pack = "", scenario = "", last = "0"] = process.argv.slice(2);

function operation(target: MemoryNode, record: Parameters<typeof checksummed>[0]): AuditRecord {
  return {
    id: idOf(target.id),
    opType: "LIFECYCLE_CHANGED",
    targetId: target.id,
    payload: checksummed(record),
    actorId: "ada",
    namespaceId: "ada",
    createdAt: at(100),
  };
}

function archive(before: MemoryNode): Change {
  const after: MemoryNode = { ...before, lifecycleState: "archived", updatedAt: at(100) };
  const record = { before: nodeRecord.to(before), after: nodeRecord.to(after) };
  return { nodes: [after], edges: [], auditRecords: [operation(before, record)] };
}

/** As `supersede`, but the replacement stays as it is. */
function replacing(before: MemoryNode, next: MemoryNode): Change {
  const after: MemoryNode = {
    ...before,
    lifecycleState: "superseded",
    supersededBy: next.id,
    updatedAt: at(100),
  };
  const edge = anEdge(next, before, { id: idOf(next.id) });
  const record = {
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
    edge: edgeRecord.to(edge),
  };
  return { nodes: [after], edges: [edge], auditRecords: [operation(before, record)] };
}

function supersede(before: MemoryNode, next: MemoryNode): Change {
  const after: MemoryNode = {
    ...before,
    lifecycleState: "superseded",
    supersededBy: next.id,
    updatedAt: at(100),
  };
  const replacement: MemoryNode = { ...next, lifecycleState: "stable", updatedAt: at(100) };
  const edge = anEdge(next, before, { id: idOf(next.id) });
  const record = {
    before: nodeRecord.to(before),
    after: nodeRecord.to(after),
    replacement: nodeRecord.to(replacement),
    edge: edgeRecord.to(edge),
  };
  return {
    nodes: [after, replacement],
    edges: [edge],
    auditRecords: [operation(before, record)],
  };
}

/** Stores a turn of the same conversation that replaces a memory. */
async function storeReplacing(id: Uuid | undefined): Promise<void> {
  if (id === undefined) throw new Error("the pack lacks the memory");
  const event = anEvent({
    id: idOf(idOf(id)),
    content: "golf",
    sessionId: "s",
    timestamp: at(100),
  });
  const node = aNode(event, { id: idOf(id) });
  await store.admit({
    ...anAdmission([event], { nodes: [{ node, lexical: true }], leaseJobs: true }),
    change: {
      reads: { nodeIds: [id, node.id], auditRecordIds: [], eventIds: [] },
      decide: ({ nodes }) => {
        const [old, next] = [id, node.id].map((known) => nodes.get(known));
        if (old === undefined || next === undefined) throw new Error("a memory is not there");
        const change = replacing(old, next);
        return { change, result: undefined };
      },
    },
  });
}

// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const memories = await store.queryNodes({
  owner: "ada",
  lifecycleStates: LIFECYCLE_STATES,
  oldestFirst: true,
  limit: 99,
});
const ids = ["charlie", "foxtrot"].flatMap((content) =>
  memories.filter((node) => node.content === content).map(({ id }) => id),
);
const steps = watchStatements(Number(last));
if (scenario === "store") await storeReplacing(ids[0]);
else {
  await store.change({ nodeIds: ids, auditRecordIds: [], eventIds: [] }, ({ nodes }) => {
    const [old, next] = ids.map((id) => nodes.get(id));
    if (old === undefined || next === undefined) throw new Error("the pack lacks the memories");
    const change = scenario === "archive" ? archive(old) : supersede(old, next);
    return { change, result: undefined };
  });
}
console.log(JSON.stringify(steps()));
await store.close();
