import { toPlanRecord } from "../../../domain/jobs.ts";
import type { MemoryEvent } from "../../../domain/node.ts";
import { isOfConversation } from "../../../domain/search/turns.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { Admission } from "../../../ports/store/events.ts";
import type { EventBlob } from "../../../ports/store/records.ts";
import { ADMITTED } from "../../../ports/store/work.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { writeBlobs } from "../../sql/blobs.ts";
import { EVENT_TABLE, eventValues } from "../../sql/rows.ts";
import { insertNumbered, type NumberedTable } from "../connection/insert-many.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { keepFromErasing, namesErased } from "../erasure/names-erased.ts";
import { writeNodes } from "../graph/write-nodes.ts";
import { NO_OWNER, type OwnerKey, ownerKey } from "../owner-key.ts";
import { writeDocuments } from "../search/write-documents.ts";

/** Who gets the jobs of an admission, and until when; undefined: any worker. */
export type JobLease = { readonly holder: string; readonly until: Instant } | undefined;

/** Events with their jobs. The work of extraction is done one after the other in each scope. */
const EVENTS: NumberedTable = {
  table: "events",
  columns: EVENT_TABLE,
  counter: "next_event",
  also: (
    from,
  ) => `INSERT INTO work (owner, kind, subject, event_id, lane, status, due, generation, lease_owner, lease_expires_at, updated_at)
    SELECT $1::bigint, 'materialization', key, id, NULL, 'pending', NULL, $${from}::integer, $${from + 1}, $${from + 2}, timestamp
      FROM written
    UNION ALL SELECT $1::bigint, 'extraction', key, id, scope, 'pending', timestamp, 0, NULL, NULL, timestamp
      FROM written WHERE $${from + 3}`,
};

/** The owners of everything that an admission writes. */
export function ownersOf({ events, nodes = [] }: Admission): readonly string[] {
  return [...events.map(({ userId }) => userId), ...nodes.map(({ node }) => node.userId)];
}

/**
 * Appends an admission, but for its change. Runs inside a write transaction with the locks of its owners.
 * @throws the refusal of what it names
 */
export async function writeAdmission(
  sql: Sql,
  admission: Admission,
  lease: JobLease,
): Promise<void> {
  const { nodes = [], plans = [], auditRecords, named } = admission;
  if (named !== undefined) {
    await keepFromErasing(sql, ownerKey(named.userId), "shared");
    if (await namesErased(sql, named.ids)) throw named.refusal;
  }
  const byOwner = Map.groupBy(admission.events, ({ userId }) => ownerKey(userId));
  for (const [owner, events] of byOwner) {
    await writeEvents(sql, owner, events, { lease, extracts: admission.extracts === true });
    await run(sql, writeBlobs(owner, blobsOf(admission, events)));
  }
  const [first] = ownersOf(admission);
  const owner = first === undefined ? NO_OWNER : ownerKey(first);
  for (const [of, some] of Map.groupBy(plans, ({ event }) => ownerKey(event.userId))) {
    await run(sql, writeAuditRecords(of, some.map(toPlanRecord)));
  }
  await run(sql, writeAuditRecords(owner, auditRecords));
  for (const [of, some] of Map.groupBy(nodes, ({ node }) => ownerKey(node.userId))) {
    const keys = await writeNodes(
      sql,
      of,
      some.map(({ node }) => node),
    );
    // Once all nodes exist: neighbours that arrive together are written once.
    const texts = some.flatMap(({ node, lexical }) => (lexical ? (keys.get(node.id) ?? []) : []));
    const areAlone = !some.some(({ node }) => isOfConversation(node));
    await writeDocuments(sql, of, texts, areAlone);
  }
}

function blobsOf({ blobs = [] }: Admission, events: readonly MemoryEvent[]): readonly EventBlob[] {
  const ids = new Set(events.map(({ id }) => id));
  return blobs.filter(({ event }) => ids.has(event));
}

async function writeEvents(
  sql: Sql,
  owner: OwnerKey,
  events: readonly MemoryEvent[],
  { lease, extracts }: { readonly lease: JobLease; readonly extracts: boolean },
): Promise<void> {
  const userId = events[0]?.userId ?? "";
  const rows = events.map((event) => [event.id, ...eventValues(event)]);
  const claim = lease === undefined ? [0, null, null] : [ADMITTED, lease.holder, lease.until];
  await insertNumbered(sql, [owner, userId], EVENTS, rows, [...claim, extracts]);
}
