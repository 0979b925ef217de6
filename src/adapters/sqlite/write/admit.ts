import type { Database } from "bun:sqlite";
import { type Lease, toPlanRecord } from "../../../domain/jobs.ts";
import type { Instant } from "../../../lib/instant.ts";

import type { Admission } from "../../../ports/store/events.ts";
import { ADMITTED } from "../../../ports/store/work.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { writeBlobs } from "../../sql/blobs.ts";
import { change } from "../../sql/change.ts";
import { eventValues } from "../../sql/rows.ts";
import { run } from "../connection/run.ts";
import { namesErased } from "../erasure/names-erased.ts";
import { changeHooks } from "./change.ts";
import { advanceIndexSequence } from "./index-sequence.ts";
import { writeDocuments } from "./lexical-index.ts";
import { ensureOwner } from "./owners.ts";
import { INSERT_EVENT } from "./rows.ts";
import { writeNode } from "./write-node.ts";

/** The work of all events of an admission, whose keys follow each other: one statement costs less than one for each. */
const INSERT_JOBS = `INSERT INTO work (subject, kind, owner, status, generation, lease_owner, lease_expires_at, updated_at)
  SELECT key, 'materialization', owner, 'pending', ?, ?, ?, timestamp FROM events WHERE key BETWEEN ? AND ?`;

/** The work of extraction is done one after the other in each scope. */
const INSERT_EXTRACTIONS = `INSERT INTO work (subject, kind, owner, lane, status, due, updated_at)
  SELECT key, 'extraction', owner, scope, 'pending', timestamp, timestamp FROM events WHERE key BETWEEN ? AND ?`;

/**
 * Appends an admission. Runs inside a write transaction, which must be rolled back when it throws.
 * @throws what the decision of its change throws; the refusal of what it names
 */
export function writeAdmission(
  database: Database,
  admission: Admission,
  lease: Lease | undefined,
  now: Instant,
): void {
  const { named } = admission;
  if (named !== undefined && namesErased(database, () => named.ids)) throw named.refusal;
  const insertEvent = database.query(INSERT_EVENT);
  const claim = lease === undefined ? [0, null, null] : [ADMITTED, lease.holder, lease.until];
  const owners = new Map<string, number>();
  const keys: (number | bigint)[] = [];
  for (const event of admission.events) {
    const owner = owners.get(event.userId) ?? ensureOwner(database, event.userId);
    owners.set(event.userId, owner);
    keys.push(insertEvent.run(event.id, owner, ...eventValues(event)).lastInsertRowid);
  }
  const [first] = keys;
  const last = keys.at(-1);
  if (first !== undefined && last !== undefined) {
    database.query(INSERT_JOBS).run(...claim, first, last);
    if (admission.extracts === true) database.query(INSERT_EXTRACTIONS).run(first, last);
  }
  keepBlobs(database, admission, owners);
  const plans = (admission.plans ?? []).map(toPlanRecord);
  run(database, writeAuditRecords(0, [...plans, ...admission.auditRecords]));
  const nodes = admission.nodes ?? [];
  const texts = nodes.flatMap(({ node, lexical }) => {
    const key = writeNode(database, node, ensureOwner(database, node.userId));
    return key !== undefined && lexical ? [key] : [];
  });
  // Once all nodes exist: neighbours that arrive together are written once.
  writeDocuments(database, texts);
  if (nodes.length > 0) advanceIndexSequence(database);
  if (admission.change !== undefined) {
    const { reads, decide } = admission.change;
    run(
      database,
      change(
        reads,
        decide,
        changeHooks(() => now),
      ),
    );
  }
}

function keepBlobs(
  database: Database,
  { events, blobs = [] }: Admission,
  owners: ReadonlyMap<string, number>,
): void {
  const users = new Map(events.map(({ id, userId }) => [id, userId]));
  for (const [userId = "", some] of Map.groupBy(blobs, ({ event }) => users.get(event))) {
    run(database, writeBlobs(owners.get(userId) ?? 0, some));
  }
}
