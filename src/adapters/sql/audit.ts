import type { LifecycleState } from "../../domain/enums.ts";
import { SvcError } from "../../domain/errors.ts";
import {
  ALL_OWNERS,
  OWNER_RENAMED,
  OWNERS_JOINED,
  type OwnerName,
  ownerTarget,
} from "../../domain/owner.ts";
import { auditRecordForm } from "../../domain/records/audit.ts";
import { rowWriter } from "../../domain/records/rows.ts";
import type { PageForm } from "../../domain/search/pages.ts";
import { asInstant } from "../../lib/instant.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type {
  AuditLog,
  AuditRecord,
  AuditRecordPage,
  AuditRecordsOnTarget,
  ChangeLog,
  ChangePage,
  LoggedChange,
  Page,
} from "../../ports/store/records.ts";
import { COLUMNS } from "./columns.ts";
import { END_OF_TIME, FIRST_ID } from "./dialect.ts";
import {
  FROM_OPERATIONS,
  NODE_COLUMNS,
  NODE_PAGE,
  type NodeRow,
  type OperationRow,
  toAuditRecord,
} from "./rows.ts";
import * as sql from "./statement.ts";

/** What was done, and by whom: append-only records, stored separately from their subjects. */
export function bindAudit({ read }: sql.Access): AuditLog {
  return {
    auditRecord: (id) => read(ALL_OWNERS, () => readAuditRecord(id)),
    auditRecordsOf: (wanted) => read(ALL_OWNERS, () => readAuditRecords(wanted)),
    changesOf: (wanted) => read(wanted.userId, () => readChanges(wanted)),
    auditRecordsOn: (wanted) => read(ALL_OWNERS, () => readAuditRecordsOn(wanted)),
  };
}

/** The only kind missing from the index of operations that callers list. */
const UNLISTED = "DIRECT_STORE_REQUESTED";
/**
 * Whether an operation may be a change of a memory, as SQL. Stores are listed as events; a few have a target id chosen by the caller. A
 * partial index is used only if the statement repeats its condition.
 */
export const IS_TOLD = `op_type NOT IN ('${UNLISTED}', 'FAST_INGEST_BATCH', 'ANSWER_CITATIONS_RECORDED', 'PAIR_CHANGE_REQUESTED')`;

const BY_ID = sql.statement(`${FROM_OPERATIONS} WHERE id = $1::uuid`);
const BY_IDS = sql.statement(`${FROM_OPERATIONS} WHERE id = ANY ($1::uuid[])`);

export function* readAuditRecord(id: Uuid): sql.Steps<AuditRecord | undefined> {
  const row = yield* sql.beyondWall(sql.get<OperationRow>(BY_ID, id));
  return row && toAuditRecord(row);
}

/** Records by their ids; missing ones are absent. */
export function* readAuditRecordsById(
  ids: readonly Uuid[],
): sql.Steps<ReadonlyMap<Uuid, AuditRecord>> {
  if (ids.length === 0) return new Map();
  const rows = yield* sql.beyondWall(sql.all<OperationRow>(BY_IDS, ids));
  return new Map(rows.map(toAuditRecord).map((record) => [record.id, record]));
}

const OPERATION_PAGE: PageForm<OperationRow, AuditRecord> = {
  toItem: toAuditRecord,
  charsOf: ({ payload }) => payload.length,
};

/** A page of one owner's operations of one kind, under any recorded name, by target. */
export function* readAuditRecords(given: AuditRecordPage): sql.Steps<Page<AuditRecord>> {
  const { userId, opType, mentions, afterTargetId = "", limit } = given;
  const { placeIn } = yield* sql.dialect();
  const listed = opType === UNLISTED ? "" : `AND op_type <> '${UNLISTED}'`;
  const names = yield* readOwnerNames(userId);
  const parts = names.map((_, place) => {
    const [name, since, until] = [5, 6, 7].map((first) => `$${first + 3 * place}`);
    // Every text contains the empty text.
    return `${FROM_OPERATIONS} WHERE namespace_id = ${name} AND op_type = $1 AND target_id > $2 ${listed}
      AND created_at > ${since} AND created_at <= ${until} AND ${placeIn}(payload, $4) > 0 ORDER BY target_id LIMIT $3`;
  });
  const [first = "", ...others] = parts;
  const union = parts.map((part) => `SELECT * FROM (${part}) named`).join(" UNION ALL ");
  return yield* sql.beyondWall(
    sql.page(
      OPERATION_PAGE,
      limit,
      others.length === 0 ? first : `SELECT * FROM (${union}) named ORDER BY target_id LIMIT $3`,
      ...[opType, afterTargetId, limit + 1, mentions ?? ""],
      ...names.flatMap((name) => [name.userId, name.since ?? "", name.until ?? END_OF_TIME]),
    ),
  );
}

const ON_TARGET = sql.statement(
  `${FROM_OPERATIONS} WHERE target_id = $1 AND (created_at, id) > ($2, $3::uuid) ORDER BY created_at, id LIMIT $4`,
);

/** A page of the operations on one target, in the order of recording. */
export function* readAuditRecordsOn(given: AuditRecordsOnTarget): sql.Steps<Page<AuditRecord>> {
  const { targetId, after, limit } = given;
  const place = [after?.createdAt ?? "", after?.id ?? FIRST_ID];
  return yield* sql.beyondWall(
    sql.page(OPERATION_PAGE, limit, ON_TARGET, targetId, ...place, limit + 1),
  );
}

const IS_WANTED = `($2::text[] IS NULL OR o.op_type = ANY ($2::text[])) AND ($3::text IS NULL OR o.actor_id = $3)`;
/** The pattern of memory ids, as SQL. */
const IS_ID = "'^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'";

/** A pack lists changes by the owner's memories; on a server each operation has its transaction's owner. */
const CHANGES = sql.statement(({ isOwnerInKeys }) =>
  isOwnerInKeys
    ? `SELECT c.* FROM unnest($5::bigint[]) writer CROSS JOIN LATERAL (
         ${FROM_OPERATIONS} o WHERE o.owner = writer AND ${IS_TOLD} AND ${IS_WANTED}
           AND created_at >= $4 AND (created_at, id) < ($6, $7::uuid)
           AND EXISTS (SELECT 1 FROM nodes n WHERE n.owner = $1::bigint AND n.id = CASE WHEN o.target_id ~ ${IS_ID} THEN o.target_id::uuid END)
         ORDER BY created_at DESC, id DESC LIMIT $8) c
       ORDER BY c.created_at DESC, c.id DESC LIMIT $8`
    : `SELECT o.id, o.op_type, o.target_id, o.payload, o.actor_id, o.namespace_id, o.created_at
       FROM memory_operations m CROSS JOIN operations o ON o.key = m.operation
       WHERE m.owner = $1 AND ${IS_WANTED} AND m.at >= $4 AND m.at <= $6 AND (m.at, o.id) < ($6, $7)
       ORDER BY m.at DESC, o.id DESC LIMIT $8`,
);

/**
 * A page of the changes of an owner's memories, newest first. A record stays with the memory's owner at the time of writing; records that
 * changed no memory have none.
 */
export function* readChanges(wanted: ChangePage): sql.Steps<Page<AuditRecord>> {
  const { userId, opTypes, actorId, timeFrom = "", timeTo = END_OF_TIME, before, limit } = wanted;
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const names = yield* readOwnerNames(userId);
  const writers: sql.OwnerKey[] = [0];
  for (const name of names) writers.push((yield* sql.ownerKey(name.userId)) ?? 0);
  // One bound for both: the scan starts at the first comparison, which may be far from the page.
  const end = before && before.at < timeTo ? [before.at, before.id] : [timeTo, FIRST_ID];
  return yield* sql.beyondWall(
    sql.page(
      OPERATION_PAGE,
      limit,
      CHANGES,
      ...[owner, opTypes ?? null, actorId ?? null, timeFrom, [...new Set(writers)], ...end],
      limit + 1,
    ),
  );
}

const VALUES: sql.Table["columns"] = [["id", "uuid"], ...COLUMNS.operation];
const OPERATIONS: sql.Table = { name: "operations", columns: VALUES };
const OWNED: sql.Table = { name: "operations", columns: [["owner", "bigint"], ...VALUES] };
const KNOWN = sql.statement("SELECT id FROM operations WHERE id = ANY ($1::uuid[]) LIMIT 1");
const valuesOf = rowWriter(auditRecordForm);

/**
 * Appends audit records in order. Runs inside a write transaction.
 * @param owner whose transaction it is; 0: none
 * @throws SvcError storage_failed if one of them already exists
 */
export function* writeAuditRecords(
  owner: sql.OwnerKey,
  records: readonly AuditRecord[],
): sql.Steps<void> {
  if (records.length === 0) return;
  const rows = records.map(valuesOf);
  if (!(yield* sql.dialect()).isOwnerInKeys) return yield* sql.insert(OPERATIONS, rows);
  // Keys are unique per owner, ids globally: check whether another transaction wrote one.
  const [known] = yield* sql.together(
    sql.beyondWall(
      sql.get<{ id: string }>(
        KNOWN,
        records.map(({ id }) => id),
      ),
    ),
    sql.insert(
      OWNED,
      rows.map((row) => [owner, ...row]),
    ),
  );
  if (known === undefined) return;
  const message = `the operation ${known.id} is there already; nothing of this call was stored`;
  throw new SvcError("storage_failed", message);
}

type NameRow = {
  readonly user_id: string;
  readonly since: string | null;
  readonly until: string | null;
  /** Position in the log. */
  readonly place: number;
};

const MOVES = `op_type IN ('${OWNER_RENAMED}', '${OWNERS_JOINED}')`;
/** The index is by target; all owner targets are adjacent. */
const [FIRST, END] = [ownerTarget(""), "owner;"];

const NAMES = sql.statement(`WITH RECURSIVE moves AS MATERIALIZED (
     SELECT key, substr(target_id, ${FIRST.length + 1}) AS before, payload::json ->> 'after' AS after, created_at
     FROM operations WHERE target_id >= '${FIRST}' AND target_id < '${END}' AND ${MOVES}),
   named (user_id, until, place) AS (
     SELECT $1::text COLLATE "C", NULL::text COLLATE "C", 9223372036854775807
     UNION SELECT moves.before, moves.created_at, moves.key FROM named JOIN moves ON moves.after = named.user_id AND moves.key < named.place)
   SELECT named.user_id, named.until, named.place::float8 AS place,
     (SELECT latest.created_at FROM moves latest WHERE latest.key = (SELECT max(moves.key) FROM moves
        WHERE moves.before = named.user_id AND moves.key < named.place)) AS since
   FROM named`);

/**
 * The former names of an owner, from the operations that moved everything from one name to another. They are in log order, which is more
 * reliable than clocks.
 */
export function* readOwnerNames(userId: string): sql.Steps<readonly OwnerName[]> {
  const rows = yield* sql.beyondWall(sql.all<NameRow>(NAMES, userId));
  return rows
    .sort((a, b) => b.place - a.place)
    .map(({ user_id: name, since, until }) => ({
      userId: name,
      since: since === null ? undefined : asInstant(since),
      until: until === null ? undefined : asInstant(until),
    }));
}

type LoggedRow = Pick<LoggedChange, "place" | "at"> & {
  readonly node: LoggedChange["nodeId"];
  readonly was: LifecycleState | null;
  readonly state: LifecycleState | null;
} & (NodeRow | { readonly id: null });

const CHANGE_PAGE: PageForm<LoggedRow, LoggedChange> = {
  toItem: ({ place, node: nodeId, was, state, at, ...row }) => {
    const node = row.id === null ? undefined : NODE_PAGE.toItem(row);
    return { place, nodeId, was: was ?? undefined, state: state ?? undefined, at, node };
  },
  charsOf: (row) => (row.id === null ? 0 : NODE_PAGE.charsOf(row)),
};

const AFTER = sql.statement(
  `SELECT c.key AS place, c.node, c.was, c.state, c.at, ${NODE_COLUMNS} FROM changes c
     JOIN owners o ON o.owner = c.owner LEFT JOIN nodes n ON n.owner = c.owner AND n.id = c.node
   WHERE c.owner = $1::bigint AND c.key > $2::integer ORDER BY c.key LIMIT $3`,
);
const NEWEST = sql.statement(
  "SELECT coalesce(max(key), 0) AS newest FROM changes WHERE owner = $1::bigint",
);

/** Triggers write the log. */
export function bindChanges({ read }: sql.Access): ChangeLog {
  return { changesAfter: (wanted) => read(wanted.userId, () => readChangesAfter(wanted)) };
}

type Wanted = Parameters<ChangeLog["changesAfter"]>[0];
type Found = Awaited<ReturnType<ChangeLog["changesAfter"]>>;

function* readChangesAfter({ userId, after, limit }: Wanted): sql.Steps<Found> {
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const { newest } = (yield* sql.get<{ newest: number }>(NEWEST, owner)) ?? { newest: 0 };
  const place = after ?? newest;
  return { ...(yield* sql.page(CHANGE_PAGE, limit, AFTER, owner, place, limit + 1)), newest };
}

const JOINED = sql.statement(
  `INSERT INTO changes (owner, key, node, was, state, at)
   SELECT $2::bigint, row_number() OVER (ORDER BY n.key)
       + (SELECT coalesce(max(c.key), 0) FROM changes c WHERE c.owner = $2::bigint), n.id, NULL, n.lifecycle_state, n.updated_at
     FROM nodes n WHERE n.owner = $1::bigint`,
);
const FORGET = sql.statement("DELETE FROM changes WHERE owner = $1::bigint");

/** Lists the memories of one owner as new ones of another, who is about to get them. Runs inside a write transaction of both. */
export function* joinChanges(from: sql.OwnerKey, into: sql.OwnerKey): sql.Steps<void> {
  yield* sql.run(JOINED, from, into);
  yield* sql.run(FORGET, from);
}
