import { takenOver } from "../../../domain/jobs.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { ALL_OWNERS, isEverybody } from "../../../domain/owner.ts";
import {
  brokenChange,
  isRetired,
  momentAfter,
  type NodeChange,
  nodeChanges,
} from "../../../domain/search/change.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Change, ChangeReads, ChangeSnapshot, Decide } from "../../../ports/store/graph.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import type { Clock } from "../../../ports/system.ts";
import { readAuditRecordsById, writeAuditRecords } from "../../sql/audit.ts";
import { failuresOf } from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { readEventRows } from "../events/read-events.ts";
import { NO_OWNER, ownerKey, ownerKeyOrNull } from "../owner-key.ts";
import { type NodeRow, toEvent, toNode, updateOfNode } from "../rows.ts";
import { evict } from "../search/evict.ts";
import { addNodes } from "../work/materialize.ts";
import { readEdgesAmong, readEdgesOf, writeEdge } from "./edges.ts";
import { readNodeRows } from "./read-nodes.ts";

/** What a change needs besides its transaction. */
export type ChangeParts = {
  readonly clock: Clock;
  readonly embedding: EmbeddingIdentity;
  /** Whether new nodes may be part of it. Default true. */
  readonly mayAdd?: boolean;
};

/** Reads, decides and writes under the locks of all owners whose things were read. */
export async function changeAlone<T>(
  database: Database,
  reads: ChangeReads,
  decide: Decide<T>,
  parts: ChangeParts,
): Promise<T> {
  let owners = await database.read(ALL_OWNERS, (sql) => ownersOf(sql, reads));
  for (;;) {
    const outcome = await database.write(owners, async (sql) => {
      // A memory may have been given to another owner before its lock was there.
      const now = await ownersOf(sql, reads);
      if (now.some((userId) => !owners.includes(userId))) return { owners: now };
      return { result: await change(sql, reads, decide, parts) };
    });
    if (!("owners" in outcome)) return outcome.result;
    owners = outcome.owners;
  }
}

/** The owners of what is read. */
async function ownersOf(sql: Sql, reads: ChangeReads): Promise<readonly string[]> {
  const { nodeIds, eventIds, edgesOf, claim, owner = ALL_OWNERS } = reads;
  const nodes = listText([...nodeIds, ...(edgesOf === undefined ? [] : [edgesOf])]);
  const rows = await sql.all<{ user_id: string }>(
    `SELECT user_id FROM owners WHERE owner IN (SELECT owner FROM nodes WHERE id = ANY ($1::uuid[])
       UNION SELECT owner FROM events WHERE id = ANY ($2::uuid[])) AND ($3::bigint IS NULL OR owner = $3::bigint)`,
    nodes,
    listText(eventIds),
    ownerKeyOrNull(owner),
  );
  const claimed = claim === undefined || isEverybody(claim.owner) ? [] : [claim.owner];
  return [...new Set([...rows.map(({ user_id: userId }) => userId), ...claimed])];
}

/**
 * Reads what a decision needs and writes what it comes to. Runs inside a write transaction, which has to be undone when it throws.
 * @throws what `decide` throws; what `takenOver` says of the claim; SvcError internal for a change that breaks the rules of `Change`
 */
export async function change<T>(
  sql: Sql,
  reads: ChangeReads,
  decide: Decide<T>,
  { clock, embedding, mayAdd = true }: ChangeParts,
): Promise<T> {
  const { claim, owner = ALL_OWNERS } = reads;
  if (claim !== undefined && (await run(sql, failuresOf(claim))) === undefined) throw takenOver();
  const [rows, auditRecords, events, edges, edgesOf] = await Promise.all([
    readNodeRows(sql, reads.nodeIds, owner),
    run(sql, readAuditRecordsById(reads.auditRecordIds)),
    reads.eventIds.length === 0 ? [] : readEventRows(sql, reads.eventIds, owner),
    readEdgesAmong(sql, reads.nodeIds),
    reads.edgesOf === undefined ? [] : readEdgesOf(sql, reads.edgesOf),
  ]);
  const nodes = new Map(rows.map(toNode).map((node) => [node.id, node]));
  const snapshot: ChangeSnapshot = {
    at: momentAfter(nodes.values(), clock.now()),
    nodes,
    auditRecords,
    events: new Map(events.map(toEvent).map((event) => [event.id, event])),
    edges,
    edgesOf,
  };
  const decision = decide(snapshot);
  if (decision.change !== undefined) {
    const { added = [] } = decision.change;
    const changes = nodeChanges(decision.change.nodes, nodes, added);
    for (const { before, after } of changes) {
      const update = updateOfNode(before, after);
      if (update === undefined) continue;
      await sql.run(update.sql, ownerKey(after.userId), after.id, ...update.values);
    }
    if (added.length > 0) {
      if (!mayAdd) throw brokenChange("it adds nodes");
      await addNodes(sql, added, embedding);
    }
    await writeChange(sql, decision.change, changes, rows);
  }
  return decision.result;
}

async function writeChange(
  sql: Sql,
  { edges, auditRecords, added = [] }: Change,
  nodes: readonly NodeChange[],
  rows: readonly NodeRow[],
): Promise<void> {
  for (const edge of edges) await writeEdge(sql, edge);
  const written = [...nodes.map(({ after }) => after), ...added.map(({ node }) => node)];
  await appendRecords(sql, auditRecords, written[0]);
  const retired = new Set<string>(nodes.filter(isRetired).map(({ after }) => after.id));
  const gone = rows.filter(({ id }) => retired.has(id));
  for (const [owner, some] of Map.groupBy(gone, (row) => row.owner)) {
    await evict(
      sql,
      owner,
      some.map(({ key }) => key),
    );
  }
}

/** Appends the records of a change. @throws SvcError internal if one is there already */
async function appendRecords(
  sql: Sql,
  records: readonly AuditRecord[],
  of: MemoryNode | undefined,
): Promise<void> {
  const ids = records.map(({ id }) => id);
  const [found] = (await run(sql, readAuditRecordsById(ids))).keys();
  const known = found ?? ids.find((id, place) => ids.indexOf(id) < place);
  if (known !== undefined) throw brokenChange(`the operation ${known} is there already`);
  await run(sql, writeAuditRecords(of === undefined ? NO_OWNER : ownerKey(of.userId), records));
}
