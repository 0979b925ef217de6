import { fromPlanRecord, LEASE_SECONDS, planRecordId } from "../../../domain/jobs.ts";
import type { MemoryNode } from "../../../domain/node.ts";
import { ALL_OWNERS, isEverybody, type Owner } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";

import type { MaterializationJob } from "../../../ports/store/work.ts";
import { readAuditRecordsById } from "../../sql/audit.ts";
import { ACTIVE } from "../../sql/conditions.ts";
import {
  type EventRow,
  FROM_EVENTS,
  NODE_COLUMNS,
  type NodeRow,
  toEvent,
  toNode,
} from "../../sql/rows.ts";
import {
  type ClaimedRow,
  claimWork,
  isDue,
  isFree,
  newLease,
  presentOf,
  type Worker,
} from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { HAS_TEXT, HAS_WORDS } from "../search/turns.ts";
import { HAS_DOCUMENT, HAS_VECTOR } from "./indexed.ts";
import { MATERIALIZATION } from "./jobs.ts";

type Wish = { readonly limit: number; readonly isDueOnly: boolean };
type Claimed = { readonly job: MaterializationJob; readonly attempts: number };

/** Claims jobs, in one transaction for each owner, and reads what they are about. */
export async function claimJobs(
  database: Database,
  of: Owner,
  wish: Wish,
  worker: Worker,
): Promise<readonly MaterializationJob[]> {
  if (wish.limit <= 0) return [];
  const shares = isEverybody(of)
    ? await nextShares(database, wish, worker)
    : new Map<OwnerKey, number>([[ownerKey(of), wish.limit]]);
  const claimed: Claimed[] = [];
  for (const [owner, limit] of shares) {
    const filter = { kind: MATERIALIZATION, owner, limit, isDueOnly: wish.isDueOnly };
    const ofOwner = await database.writeAny(async (sql) => {
      const lease = await run(sql, newLease(worker, LEASE_SECONDS));
      return await describe(sql, owner, await run(sql, claimWork(filter, lease)));
    });
    claimed.push(...ofOwner);
  }
  if (shares.size > 1) claimed.sort(byAttemptsAndTime);
  return claimed.map(({ job }) => job);
}

function byAttemptsAndTime(one: Claimed, other: Claimed): number {
  if (one.attempts !== other.attempts) return one.attempts - other.attempts;
  return one.job.event.timestamp < other.job.event.timestamp ? -1 : 1;
}

/**
 * Whose jobs come next, and how many of each. Locks nothing: where owners are spread over servers, a claim of several at once would
 * have to lock on all of them.
 */
async function nextShares(
  database: Database,
  { limit, isDueOnly }: Wish,
  worker: Worker,
): Promise<ReadonlyMap<OwnerKey, number>> {
  const rows = await database.read(ALL_OWNERS, async (sql) => {
    const lease = await run(sql, newLease(worker, LEASE_SECONDS));
    const { now, latest, gone } = await run(sql, presentOf(undefined, lease));
    return await sql.all<{ owner: OwnerKey }>(
      `SELECT w.owner FROM work w WHERE w.kind = $1 AND w.status = 'pending' AND ${isFree("$3", "$4", "$5")}
         ${isDueOnly ? `AND ${isDue("$3")}` : ""} ORDER BY w.attempts, w.updated_at LIMIT $2`,
      ...[MATERIALIZATION, limit, now, latest, gone],
    );
  });
  return new Map(
    Array.from(
      Map.groupBy(rows, ({ owner }) => owner),
      ([owner, of]) => [owner, of.length],
    ),
  );
}

/** The events of claimed jobs, with what was planned for them and what of them is not indexed. */
async function describe(
  sql: Sql,
  owner: OwnerKey,
  rows: readonly ClaimedRow[],
): Promise<readonly Claimed[]> {
  if (rows.length === 0) return [];
  const found = await sql.all<EventRow>(
    `${FROM_EVENTS} WHERE e.owner = $1::bigint AND e.key = ANY ($2::integer[])`,
    owner,
    rows.map(({ subject }) => subject),
  );
  const events = new Map(found.map((row) => [row.key, toEvent(row)]));
  const ids = Array.from(events.values(), ({ id }) => id);
  const [plans, unindexed] = await Promise.all([
    run(sql, readAuditRecordsById(ids.map(planRecordId))),
    readUnindexed(sql, owner, ids),
  ]);
  return rows.flatMap(({ subject, generation, attempts }) => {
    const event = events.get(subject);
    if (event === undefined) return [];
    const record = plans.get(planRecordId(event.id));
    const plan = record && fromPlanRecord(record.payload);
    // The plan has the owner's name at that time.
    const plannedNode = plan && { ...plan.node, userId: event.userId };
    const own = plannedNode?.id ?? event.id;
    const lost = unindexed.get(event.id)?.filter((node) => node.id !== own) ?? [];
    const job = { event, plannedNode, generation, ...(lost.length > 0 && { unindexed: lost }) };
    return [{ job, attempts }];
  });
}

/**
 * Active nodes with text that events created and that lack an entry in one of the indexes, by event. An event creates the nodes that
 * cite it first; nodes that cite it later belong to other events.
 */
async function readUnindexed(
  sql: Sql,
  owner: OwnerKey,
  eventIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, readonly MemoryNode[]>> {
  const rows = await sql.all<NodeRow & { readonly event_id: Uuid }>(
    `SELECT c.event_id, ${NODE_COLUMNS} FROM node_evidence c
       JOIN nodes n ON n.owner = c.owner AND n.key = c.node_key JOIN owners o ON o.owner = n.owner
     WHERE c.owner = $1::bigint AND c.event_id = ANY ($2::uuid[]) AND n.evidence_refs::json ->> 0 = c.event_id::text
       AND n.lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT} AND (NOT ${HAS_VECTOR} OR ${HAS_WORDS} AND NOT ${HAS_DOCUMENT})
     ORDER BY n.id`,
    owner,
    eventIds,
  );
  const byEvent = Map.groupBy(rows, ({ event_id: id }) => id);
  return new Map(Array.from(byEvent, ([id, nodes]) => [id, nodes.map(toNode)]));
}
