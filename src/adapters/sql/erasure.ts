import { ERASED_HASH, erasedPayload, erasureConflict, keepsErased } from "../../domain/erasure.ts";
import type { MemoryNode } from "../../domain/node.ts";
import { ALL_OWNERS } from "../../domain/owner.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Erasure, ErasureCounts, ErasureScope, Erasures } from "../../ports/store/events.ts";
import type { AuditRecord } from "../../ports/store/records.ts";
import { readAuditRecord, writeAuditRecords } from "./audit.ts";
import { countBlobsOf, removeBlobsOf } from "./blobs.ts";
import type { IndexWrites } from "./change.ts";
import { COLUMNS } from "./columns.ts";
import { askedBy, Params } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import { fromNodes, type NodeRow, toNode } from "./rows.ts";
import { readSetting, writeSetting } from "./settings.ts";
import * as sql from "./statement.ts";

/** Done differently by each store. */
export type ErasureHooks = {
  /** Writes an owner's data exclusively, and leaves no trace of what is deleted. */
  readonly erasing: <T>(userId: string, work: () => sql.Steps<T>) => Promise<T>;
  /** Counts an owner's memories with a vector, and with a document in the word index. `$1` is the owner, `$2` their ids. */
  readonly vectors: sql.Text;
  readonly documents: sql.Text;
  /** Removes other data stored under the keys of erased memories. */
  readonly release: (owner: sql.OwnerKey, keys: readonly number[]) => sql.Steps<unknown>;
  /** Overwrites erased bytes, and records that with `noteSettled`. @returns false if that was not possible in time */
  readonly settle: (waitMs: number) => Promise<boolean>;
  readonly scan: Erasures["scan"];
};

/** The setting with the private key that signs receipts of erasures. */
const SIGNING_KEY = "forget_signing_key";

type Hooks = ErasureHooks & { readonly indexes: Pick<IndexWrites, "evict"> };

export function bindErasures(access: sql.Access, hooks: Hooks): Erasures {
  const { read, writeAny } = access;
  const unsettled = () => read(ALL_OWNERS, readUnsettled);
  return {
    restingOn: (userId, events) => read(userId, () => readResting(userId, events)),
    reached: async (scope) => {
      const told = await lookAtReceipts(access, scope);
      const reached = await read(scope.userId, () => readReached(scope, told, hooks));
      return reached.counts;
    },
    erase: async (erasure) => {
      const told = await lookAtReceipts(access, erasure);
      return await hooks.erasing(erasure.userId, () => erase(erasure, told, hooks));
    },
    hasUnsettledErasures: async () => (await unsettled()).length > 0,
    erasureStage: async (forgetId) =>
      (await unsettled()).includes(forgetId) ? "logical" : "physical",
    settleErasures: async (waitMs) =>
      (await unsettled()).length === 0 || (await hooks.settle(waitMs)),
    scan: hooks.scan,
    signingKey: (made) => writeAny(() => keepKey(made)),
  };
}

/** @returns the existing key, or the new one */
function* keepKey(made: string): sql.Steps<string> {
  yield* alone(SIGNING_KEY);
  const kept = yield* readSetting(SIGNING_KEY);
  if (kept === undefined) yield* writeSetting(SIGNING_KEY, made);
  return kept ?? made;
}

/** Serializes changes of a setting if several transactions can write at once. */
function* alone(name: string): sql.Steps<void> {
  const { isOwnerInKeys } = yield* sql.dialect();
  if (isOwnerInKeys) yield* sql.run("SELECT pg_advisory_xact_lock(hashtext($1))", name);
}

/** The setting with the ids of unsettled erasures, separated by blanks. */
const UNSETTLED = "unsettled_erasures";

/** The unsettled erasures. */
export function* readUnsettled(): sql.Steps<readonly string[]> {
  return (yield* readSetting(UNSETTLED))?.split(" ") ?? [];
}

/** Settles erasures, but not those added meanwhile. Runs inside a write transaction. */
export function* noteSettled(settled: readonly string[]): sql.Steps<void> {
  const left = (yield* readUnsettled()).filter((id) => !settled.includes(id));
  yield* writeSetting(UNSETTLED, left.length === 0 ? undefined : left.join(" "));
}

const ofOwner = (d: Dialect, table: string): string =>
  `${d.free(`${table}owner`)} = $1::bigint AND ${table}id = ANY ($2::uuid[])`;

const OF_PACK: sql.Table = { name: "erasures", columns: COLUMNS.erasure };
const OF_OWNER: sql.Table = {
  name: "erasures",
  columns: [["owner", "bigint"], ...COLUMNS.erasure],
};

const EMPTY = sql.statement(
  (d) => `UPDATE events SET content = '', content_hash = $3, metadata = $4 WHERE ${ofOwner(d, "")}`,
);
const CALL_OFF = sql.statement(
  ({
    isOwnerInKeys,
  }) => `UPDATE work SET status = 'complete', due = NULL, payload = NULL, last_error = NULL, lease_owner = NULL,
     lease_expires_at = NULL, generation = generation + 1, updated_at = $3
   WHERE ${
     isOwnerInKeys
       ? "owner = $1::bigint AND event_id = ANY ($2::uuid[])"
       : "subject IN (SELECT key FROM events WHERE id = ANY ($2::uuid[]))"
   }`,
);
const CLEAR = sql.statement("UPDATE operations SET payload = $2 WHERE key = ANY ($1::bigint[])");
const DROP_RECEIPTS = sql.statement(({ isOwnerInKeys }) =>
  isOwnerInKeys
    ? "DELETE FROM receipts WHERE owner = $1::bigint AND request_id = ANY ($2::uuid[])"
    : "DELETE FROM receipts WHERE key = ANY ($2::integer[])",
);
const RETIRE = sql.statement(
  (d) => `UPDATE nodes SET lifecycle_state = 'archived' WHERE ${ofOwner(d, "")} RETURNING key`,
);
const DROP_NODES = sql.statement((d) => `DELETE FROM nodes WHERE ${ofOwner(d, "")}`);

/**
 * Erases in the caller's transaction, which holds the owner's lock and must be rolled back if it throws.
 * @throws SvcError request_conflict
 */
function* erase(erasure: Erasure, told: Told, hooks: Hooks): sql.Steps<AuditRecord> {
  const { forgetId, actorId, at, userId, events, nodes } = erasure;
  const earlier = yield* readAuditRecord(forgetId);
  if (earlier !== undefined) return earlier;
  yield* requireFits(erasure);
  const { isOwnerInKeys } = yield* sql.dialect();
  const owner = (yield* sql.ownerKey(userId)) ?? 0;
  const { operations, receipts, counts } = yield* readReached(erasure, told, hooks);
  // Memories too: a plan for one of them must not recreate it under its id.
  const ids = [...new Set([...events, ...nodes])];
  yield* sql.insert(
    isOwnerInKeys ? OF_OWNER : OF_PACK,
    ids.map((id) => [...(isOwnerInKeys ? [owner] : []), id, forgetId, at, actorId]),
  );
  const mark = JSON.stringify({ erased: forgetId, erased_at: at });
  yield* sql.run(EMPTY, owner, events, ERASED_HASH, mark);
  yield* sql.run(CALL_OFF, owner, events, at);
  yield* sql.beyondWall(sql.run(CLEAR, operations, JSON.stringify(erasedPayload(forgetId))));
  yield* removeBlobsOf(owner, events);
  yield* sql.run(DROP_RECEIPTS, owner, receipts);
  // As if they had been retired first: the entries of adjacent turns are rewritten.
  const keys = (yield* sql.all<{ key: number }>(RETIRE, owner, nodes)).map(({ key }) => key);
  yield* hooks.indexes.evict(owner, keys);
  yield* hooks.release(owner, keys);
  // Edges go with them.
  yield* sql.run(DROP_NODES, owner, nodes);
  const record = erasure.recordOf(counts);
  yield* writeAuditRecords(owner, [record]);
  yield* alone(UNSETTLED);
  yield* writeSetting(UNSETTLED, [...(yield* readUnsettled()), forgetId].join(" "));
  return record;
}

const WITH_CONTENT = sql.statement(
  (d) => `SELECT count(*)::float8 AS n FROM events e WHERE ${ofOwner(d, "e.")} AND content <> ''`,
);
const KNOWN = sql.statement(
  (d) => `SELECT count(*)::float8 AS n FROM nodes n WHERE ${ofOwner(d, "n.")}`,
);

function* count(text: sql.Text, ...values: readonly sql.SqlValue[]): sql.Steps<number> {
  return (yield* sql.get<{ n: number }>(text, ...values))?.n ?? 0;
}

/** Whether the state matches the erasure's preview. @throws SvcError request_conflict */
function* requireFits({ userId, events, nodes, kept }: Erasure): sql.Steps<void> {
  const owner = (yield* sql.ownerKey(userId)) ?? 0;
  const there = yield* count(WITH_CONTENT, owner, events);
  const known = yield* count(KNOWN, owner, nodes);
  const named = new Set<Uuid>([...nodes, ...kept]);
  const isWhole = (yield* readResting(userId, events)).every(({ id }) => named.has(id));
  if (there !== events.length || known !== nodes.length || !isWhole) throw erasureConflict();
}

const RESTING = sql.statement((d) => {
  const keys = d.isOwnerInKeys
    ? "SELECT c.node_key FROM node_evidence c WHERE c.owner = $1::bigint AND c.event_id = ANY ($2::uuid[])"
    : `SELECT c.node FROM ${d.each("$2", "uuid", "i")} CROSS JOIN events e ON e.id = i.value
       CROSS JOIN node_evidence c ON c.event = e.key`;
  return `${fromNodes(d)} WHERE ${d.free("n.owner")} = $1::bigint AND n.key IN (${keys}) ORDER BY n.id`;
});

/** All nodes of an owner that cite one of some events, in any state, by id. */
function* readResting(userId: string, events: readonly Uuid[]): sql.Steps<readonly MemoryNode[]> {
  const owner = yield* sql.ownerKey(userId);
  return (yield* sql.all<NodeRow>(RESTING, owner ?? null, events)).map(toNode);
}

/** The rows that an erasure affects besides those of its events and nodes. */
type Reached = {
  /** Places in the log. */
  readonly operations: readonly (string | number)[];
  readonly receipts: readonly (string | number)[];
  readonly counts: ErasureCounts;
};

const EDGES = sql.statement((d) =>
  d.isOwnerInKeys
    ? "SELECT id FROM edges WHERE owner = $1::bigint AND (source = ANY ($2::uuid[]) OR target = ANY ($2::uuid[]))"
    : `SELECT DISTINCT e.id FROM ${d.each("$2", "uuid", "i")} CROSS JOIN nodes n ON n.id = i.value
       CROSS JOIN edges e ON e.source = n.key OR e.target = n.key`,
);

/** Data erased with it. */
function* readReached(scope: ErasureScope, told: Told, hooks: ErasureHooks): sql.Steps<Reached> {
  const { userId, events, nodes } = scope;
  const owner = (yield* sql.ownerKey(userId)) ?? 0;
  const edges = yield* sql.all<{ id: string }>(EDGES, owner, nodes);
  const ids = new Set<string>([...events, ...nodes, ...edges.map(({ id }) => id)]);
  const [operations, receipts, vectors, textEntries, blobs] = yield* sql.together(
    readOperations(scope, owner, ids),
    readReceipts(scope, told),
    count(hooks.vectors, owner, nodes),
    count(hooks.documents, owner, nodes),
    countBlobsOf(owner, events),
  );
  const counted = { operations: operations.length, receipts: receipts.length };
  const counts = { edges: edges.length, vectors, textEntries, ...counted, blobs };
  return { operations, receipts, counts };
}

const OWN_OPERATIONS = sql.statement(
  "SELECT key FROM operations WHERE target_id = ANY ($1::text[]) AND payload::json ->> 'erased' IS NULL",
);
const OTHER_OPERATIONS = sql.statement(
  ({ isOwnerInKeys }) => `SELECT key, op_type AS "opType", payload FROM operations
   WHERE ${isOwnerInKeys ? "owner IN ($1::bigint, 0)" : "key > $1"} AND op_type <> 'DIRECT_STORE_REQUESTED'
     AND payload::json ->> 'erased' IS NULL`,
);

type Operation = {
  readonly key: string | number;
  readonly opType: string;
  readonly payload: string;
};

/** Operations on erased objects, and those on others that keep part of them. */
function* readOperations(
  { events, texts }: ErasureScope,
  owner: sql.OwnerKey,
  ids: ReadonlySet<string>,
): sql.Steps<readonly (string | number)[]> {
  // Those written under a former owner of the object stay with that owner.
  const own = yield* sql.beyondWall(sql.all<Pick<Operation, "key">>(OWN_OPERATIONS, [...ids]));
  const found = new Set(own.map(({ key }) => key));
  const isKept = keepsErased(ids, texts);
  const { isOwnerInKeys } = yield* sql.dialect();
  const note = (operation: Operation): boolean => {
    if (!found.has(operation.key) && isKept(operation)) found.add(operation.key);
    return true;
  };
  const from = isOwnerInKeys ? owner : yield* firstPlace(owner, events);
  yield* sql.each(Number.POSITIVE_INFINITY, note, OTHER_OPERATIONS, from);
  return [...found];
}

/** Events examined before the erased ones. */
const EARLIER = 10_000;
const FIRST_PLACE =
  sql.statement(`SELECT p.key FROM (SELECT e.key, e.id FROM events e WHERE e.owner = $1 AND e.key <
     (SELECT min(f.key) FROM events f WHERE f.id = ANY ($2::uuid[])) ORDER BY e.key DESC LIMIT ${EARLIER}) e
   CROSS JOIN operations p ON p.target_id = e.id AND p.op_type = 'DIRECT_STORE_REQUESTED' ORDER BY e.key DESC LIMIT 1`);

/**
 * A position in a pack's log before everything about the events: an operation cannot refer to later events. By log order, since clocks
 * jump: the plan of the last event before them that was stored with one.
 */
function* firstPlace(owner: sql.OwnerKey, events: readonly Uuid[]): sql.Steps<number> {
  return (yield* sql.get<{ key: number }>(FIRST_PLACE, owner, events))?.key ?? 0;
}

/** The examined receipts by request, and whether they mention it. */
type Told = ReadonlyMap<string, boolean>;

type ReceiptRow = {
  /** Its key. */
  readonly place: string | number;
  readonly request: string | Uint8Array;
};
type BodyRow = ReceiptRow & { readonly at: string; readonly body: Uint8Array };

const requestOf = ({ request }: ReceiptRow): string =>
  typeof request === "string" ? request : request.toHex();

const placeOf = ({ isOwnerInKeys }: Dialect): string => (isOwnerInKeys ? "r.request_id" : "r.key");
const bodies = (d: Dialect): string =>
  `SELECT ${placeOf(d)} AS place, r.request_id AS request, r.created_at AS at, r.body FROM receipts r`;

/** Receipts read at a time, and milliseconds of examining them before yielding. */
const RECEIPTS = 20;
const TURN_MS = 10;

/** Examines all receipts of an owner, which takes long, before the erasure examines newer ones. */
async function lookAtReceipts(
  { read }: sql.Access,
  { userId, isTold }: Pick<ErasureScope, "userId" | "isTold">,
): Promise<Told> {
  const told = new Map<string, boolean>();
  let turn = performance.now();
  for (let last: BodyRow | undefined; ; ) {
    const after = last;
    const rows = await read(userId, () => readBodies(userId, after));
    for (const row of rows) {
      told.set(requestOf(row), isReceiptTold(row, isTold));
      if (performance.now() - turn < TURN_MS) continue;
      await nextTurn();
      turn = performance.now();
    }
    last = rows.at(-1);
    if (last === undefined) return told;
  }
}

/** The next receipts of an owner, oldest first. */
function* readBodies(userId: string, after: BodyRow | undefined): sql.Steps<readonly BodyRow[]> {
  const d = yield* sql.dialect();
  const params = new Params();
  const conditions = [yield* askedBy(params, userId)];
  if (after !== undefined) {
    const place = `${params.add(after.at)}, ${params.add(after.request)}::uuid`;
    conditions.push(`(r.created_at, r.request_id) > (${place})`);
  }
  return yield* sql.all<BodyRow>(
    `${bodies(d)} WHERE ${conditions.join(" AND ")} ORDER BY r.created_at, r.request_id LIMIT ${RECEIPTS}`,
    ...params.values,
  );
}

function* readReceipts(
  { userId, isTold }: Pick<ErasureScope, "userId" | "isTold">,
  told: Told,
): sql.Steps<readonly (string | number)[]> {
  const d = yield* sql.dialect();
  const params = new Params();
  const rows = yield* sql.all<ReceiptRow>(
    `SELECT ${placeOf(d)} AS place, r.request_id AS request FROM receipts r WHERE ${yield* askedBy(params, userId)}`,
    ...params.values,
  );
  const found: (string | number)[] = [];
  for (const row of rows) {
    const known = told.get(requestOf(row));
    const isOne = known ?? (yield* isNewOneTold(row, isTold));
    if (isOne) found.push(row.place);
  }
  return found;
}

function* isNewOneTold({ place }: ReceiptRow, isTold: ErasureScope["isTold"]): sql.Steps<boolean> {
  const d = yield* sql.dialect();
  const row = yield* sql.get<BodyRow>(`${bodies(d)} WHERE ${placeOf(d)} = $1`, place);
  return row !== undefined && isReceiptTold(row, isTold);
}

function isReceiptTold({ body }: BodyRow, isTold: ErasureScope["isTold"]): boolean {
  try {
    // A plain array, whatever the driver returns.
    return isTold(new Uint8Array(body.buffer, body.byteOffset, body.byteLength));
  } catch {
    // An unreadable receipt may mention it.
    return true;
  }
}
