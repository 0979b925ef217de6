import type { MemoryEvent } from "../../../domain/event.ts";
import { toPlanRecord } from "../../../domain/planned-store.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Admission } from "../../../ports/store/event-log.ts";
import { ADMITTED } from "../../../ports/store/work-queue.ts";
import { writeAuditRecords } from "../audit/write-records.ts";
import { type Column, insertMany } from "../connection/insert-many.ts";
import type { Sql } from "../connection/sql.ts";
import { takeKeys, writeNodes } from "../graph/write-nodes.ts";
import { NO_OWNER, type OwnerKey, ownerKey } from "../owner-key.ts";
import { EVENT_TABLE, eventValues } from "../rows.ts";
import { writeDocuments } from "../search/write-documents.ts";

/** Who gets the jobs of an admission, and until when; undefined: any worker. */
export type JobLease = { readonly holder: string; readonly until: Instant } | undefined;

const WORK: readonly Column[] = [
  ["owner", "bigint"],
  ["kind", "text"],
  ["subject", "integer"],
  ["event_id", "uuid"],
  ["lane", "text"],
  ["status", "text"],
  ["due", "text"],
  ["generation", "integer"],
  ["lease_owner", "text"],
  ["lease_expires_at", "text"],
  ["updated_at", "text"],
];

/** The owners of everything that an admission writes. */
export function ownersOf({ events, nodes = [] }: Admission): readonly string[] {
  return [...events.map(({ userId }) => userId), ...nodes.map(({ node }) => node.userId)];
}

/** Appends an admission, but for its change. Runs inside a write transaction with the locks of its owners. */
export async function writeAdmission(
  sql: Sql,
  admission: Admission,
  lease: JobLease,
): Promise<void> {
  const { nodes = [], plans = [], auditRecords } = admission;
  const byOwner = Map.groupBy(admission.events, ({ userId }) => ownerKey(userId));
  for (const [owner, events] of byOwner) {
    await writeEvents(sql, owner, events, { lease, extracts: admission.extracts === true });
  }
  const [first] = ownersOf(admission);
  const owner = first === undefined ? NO_OWNER : ownerKey(first);
  for (const [of, some] of Map.groupBy(plans, ({ event }) => ownerKey(event.userId))) {
    await writeAuditRecords(sql, of, some.map(toPlanRecord));
  }
  await writeAuditRecords(sql, owner, auditRecords);
  for (const [of, some] of Map.groupBy(nodes, ({ node }) => ownerKey(node.userId))) {
    const keys = await writeNodes(
      sql,
      of,
      some.map(({ node }) => node),
    );
    // Once all nodes exist: neighbours that arrive together are written once.
    const texts = some.flatMap(({ node, lexical }) => (lexical ? (keys.get(node.id) ?? []) : []));
    await writeDocuments(sql, of, texts);
  }
}

async function writeEvents(
  sql: Sql,
  owner: OwnerKey,
  events: readonly MemoryEvent[],
  { lease, extracts }: { readonly lease: JobLease; readonly extracts: boolean },
): Promise<void> {
  const userId = events[0]?.userId ?? "";
  const first = await takeKeys(sql, [owner, userId], "next_event", events.length);
  const rows = events.map((event, place) => [
    owner,
    first + place,
    event.id,
    ...eventValues(event),
  ]);
  const claim = lease === undefined ? [0, null, null] : [ADMITTED, lease.holder, lease.until];
  const jobs = events.flatMap(({ id, scope, timestamp }, place) => {
    const subject = first + place;
    const job = [owner, "materialization", subject, id, null, "pending", null, ...claim, timestamp];
    // The work of extraction is done one after the other in each scope.
    const extraction = [owner, "extraction", subject, id, scope, "pending", timestamp, 0, null];
    return extracts ? [job, [...extraction, null, timestamp]] : [job];
  });
  await Promise.all([
    insertMany(sql, "events", EVENT_TABLE, rows),
    insertMany(sql, "work", WORK, jobs),
  ]);
}
