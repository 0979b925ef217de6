import { SvcError } from "../../domain/errors.ts";
import { LEASE_SECONDS, type Lease, toPlanRecord } from "../../domain/jobs.ts";
import type { MemoryEvent } from "../../domain/node.ts";
import { withWordsOf } from "../../domain/search/turns.ts";
import type { Admission, EventLog } from "../../ports/store/events.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import { ADMITTED } from "../../ports/store/work.ts";
import { snowball } from "../stemming/stem.ts";
import { readAuditRecord, writeAuditRecords } from "./audit.ts";
import { writeBlobs } from "./blobs.ts";
import { type ChangeHooks, change, type Entry, writeNodes } from "./change.ts";
import { ensureOwner } from "./owners.ts";
import { EVENT_TABLE, eventValues } from "./rows.ts";
import * as sql from "./statement.ts";
import { newLease, type Worker } from "./work.ts";

/** A server's error code for an existing key. */
const TAKEN = "23505";

export type Admitting = {
  readonly worker: Worker;
  readonly hooks: Omit<ChangeHooks, "mayAdd">;
  /** Separates an owner's erasures from concurrent writes. */
  readonly apart?: (userId: string) => sql.Steps<void>;
};

/** Events to store, with everything made from them at once. */
export function bindAdmission(
  { writeNew }: sql.Access,
  admitting: Admitting,
): Pick<EventLog, "admit" | "admitOnce"> {
  const admit = <T>(admission: Admission, work: () => sql.Steps<T>): Promise<T> =>
    withWordsOf(admission.nodes ?? [], snowball, () => writeNew(ownersOf(admission), work));
  return {
    admit: (admission) => admit(admission, () => append(admission, admitting)),
    admitOnce: async (admission, guard) => {
      const once = (): Promise<AuditRecord | undefined> =>
        admit(admission, function* (): sql.Steps<AuditRecord | undefined> {
          const existing = yield* readAuditRecord(guard);
          if (existing === undefined) yield* append(admission, admitting);
          return existing;
        });
      try {
        return await once();
      } catch (error) {
        // Without an owner there is no lock: another process may have written the same meanwhile.
        if (!(error instanceof SvcError) || error.data["reason"] !== TAKEN) throw error;
        return await once();
      }
    },
  };
}

/** The owners of everything that an admission writes. */
function ownersOf({ events, nodes = [] }: Admission): readonly string[] {
  return [...events.map(({ userId }) => userId), ...nodes.map(({ node }) => node.userId)];
}

/**
 * Appends an admission. Runs inside a write transaction of its owners, which must be rolled back if it throws.
 * @throws what the decision of its change throws; the rejection if it names something erased
 */
function* append(admission: Admission, { worker, hooks, apart }: Admitting): sql.Steps<void> {
  const { nodes = [], plans = [], auditRecords, named, change: planned } = admission;
  const known = yield* sql.dialect();
  const lease = admission.leaseJobs ? yield* newLease(worker, LEASE_SECONDS) : undefined;
  if (named !== undefined) {
    if (apart !== undefined) yield* apart(named.userId);
    if (yield* namesErased(named.ids)) throw named.refusal;
  }
  for (const [userId, events] of sql.byOwner(known, admission.events, (event) => event.userId)) {
    yield* writeEvents(yield* ensureOwner(userId), events, admission, lease);
  }
  for (const [userId, some] of Map.groupBy(plans, ({ event }) => event.userId)) {
    yield* writeAuditRecords(yield* ensureOwner(userId), some.map(toPlanRecord));
  }
  const [first] = ownersOf(admission);
  yield* writeAuditRecords(first === undefined ? 0 : yield* ensureOwner(first), auditRecords);
  for (const [userId, some] of sql.byOwner(known, nodes, ({ node }) => node.userId)) {
    const owner = yield* ensureOwner(userId);
    const keys = yield* writeNodes(
      owner,
      some.map(({ node }) => node),
    );
    const entries = some.flatMap(({ node, lexical }): Entry[] => {
      const key = keys.get(node.id);
      return key === undefined
        ? []
        : [{ key, node, lexical, vector: undefined, at: node.createdAt }];
    });
    yield* hooks.indexes.write(owner, entries);
  }
  if (planned !== undefined)
    yield* change(planned.reads, planned.decide, { ...hooks, mayAdd: false });
}

const ERASED = sql.statement(
  "SELECT 1 AS found FROM erasures WHERE event_id = ANY ($1::uuid[]) LIMIT 1",
);

/** Whether something erased is named. What was made before the erasure must not be written after it. */
function* namesErased(ids: readonly string[]): sql.Steps<boolean> {
  return ids.length > 0 && (yield* sql.beyondWall(sql.get(ERASED, ids))) !== undefined;
}

const EVENTS: sql.NumberedTable = { name: "events", columns: EVENT_TABLE, counter: "next_event" };
/** The work for each event of the owner $1 among those of $2; extraction runs in order within each scope. */
const worked = (columns: string, values: string) =>
  sql.statement(({ isOwnerInKeys, free }) => {
    const [name, id] = isOwnerInKeys ? ["event_id, ", "id, "] : ["", ""];
    return `INSERT INTO work (${name}subject, owner, status, updated_at, kind, ${columns})
      SELECT ${id}key, owner, 'pending', timestamp, ${values} FROM events WHERE ${free("owner")} = $1::bigint AND id = ANY ($2::uuid[])`;
  });
const JOBS = worked(
  "generation, lease_owner, lease_expires_at",
  "'materialization', $3::integer, $4::text, $5::text",
);
const EXTRACTIONS = worked("lane, due", "'extraction', scope, timestamp");

function* writeEvents(
  owner: sql.OwnerKey,
  events: readonly MemoryEvent[],
  { extracts, blobs = [] }: Admission,
  lease: Lease | undefined,
): sql.Steps<void> {
  const ids = events.map(({ id }) => id);
  const rows = events.map((event) => [event.id, ...eventValues(event)]);
  const claim = lease === undefined ? [0, null, null] : [ADMITTED, lease.holder, lease.until];
  yield* sql.together(
    sql.insertNumbered(EVENTS, { owner, userId: events[0]?.userId ?? "", rows }),
    sql.run(JOBS, owner, ids, ...claim),
    extracts === true ? sql.run(EXTRACTIONS, owner, ids) : noSteps(),
    writeBlobs(
      owner,
      blobs.filter(({ event }) => ids.includes(event)),
    ),
  );
}

function* noSteps(): sql.Steps<void> {}
