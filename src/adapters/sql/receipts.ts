import { FORGOTTEN } from "../../domain/erasure.ts";
import { SvcError } from "../../domain/errors.ts";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import { asInstant, type Instant } from "../../lib/instant.ts";
import { asUuid, parseUuid, type Uuid } from "../../lib/uuid.ts";
import type {
  AnswerContext,
  ContextNode,
  MemoryUse,
  Page,
  ReceiptLog,
  ReceiptPage,
  StoredReceipt,
  UsePage,
} from "../../ports/store/records.ts";
import { askedBy, Params } from "./conditions.ts";
import { type Dialect, END_OF_TIME, FIRST_ID } from "./dialect.ts";
import * as sql from "./statement.ts";

/** Records of retrievals, which are kept for a limited time. @param apart separates an owner's erasures from concurrent writes */
export function bindReceipts({ read, writeAny }: sql.Access, apart: Apart = nobody) {
  return {
    saveReceipt: (receipt, forgettings, isAlone) =>
      writeAny(() => writeReceipt(receipt, forgettings, apart(receipt.userId)), isAlone),
    noteContexts: (contexts) => writeAny(() => noteContexts(contexts, apart)),
    forgettings: (userId) => read(userId, () => countForgettings(userId)),
    receipt: (requestId, owner) => read(owner, () => readReceipt(requestId, owner)),
    receipts: (page) => read(page.userId, () => readReceipts(page)),
    usesOf: (page) => read(page.userId, () => readUses(page)),
    pruneReceipts: (before, limit) => writeAny(() => pruneReceipts(before, limit)),
  } satisfies ReceiptLog;
}

/** A pack has one writer. */
type Apart = (userId: string) => sql.Steps<void>;
function* nobody(): sql.Steps<void> {}

/** A row of a receipt. A pack stores ids as bytes, because there is one for each question. */
type ReceiptRow = {
  readonly request_id: Uint8Array | string;
  readonly user_id: string;
  readonly created_at: string;
  readonly body: Uint8Array;
};

/** A row of a pack. */
export type PackReceiptRow = ReceiptRow & { readonly key: number; readonly request_id: Uint8Array };

/** The 16 bytes of an id. */
export function toIdBytes(id: string): Uint8Array {
  return Uint8Array.fromHex(id.replaceAll("-", ""));
}

/** The id of 16 bytes. */
export function fromIdBytes(bytes: Uint8Array): Uuid {
  const id = parseUuid(bytes.toHex());
  if (id === undefined) throw new SvcError("internal", "a receipt has an id of another length");
  return id;
}

export function toStoredReceipt(row: ReceiptRow): StoredReceipt {
  const { request_id: id, user_id: userId, created_at: createdAt, body } = row;
  return {
    requestId: typeof id === "string" ? asUuid(id) : fromIdBytes(id),
    userId,
    createdAt: asInstant(createdAt),
    // A plain array, whatever the driver gives.
    body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength),
  };
}

/** An id as `request_id` has it. */
function idIn({ isOwnerInKeys }: Dialect, id: string): sql.SqlValue {
  return isOwnerInKeys ? id : toIdBytes(id);
}

const FROM_RECEIPTS = "SELECT r.request_id, r.user_id, r.created_at, r.body FROM receipts r";

const IS_KNOWN = sql.statement("SELECT 1 FROM receipts WHERE request_id = $1");
const INSERT = sql.statement(({ isOwnerInKeys }) =>
  isOwnerInKeys
    ? `INSERT INTO receipts (request_id, user_id, created_at, body, owner) VALUES ($1::uuid, $2, $3, $4, $5::bigint)
       ON CONFLICT DO NOTHING`
    : "INSERT INTO receipts (request_id, user_id, created_at, body) VALUES ($1, $2, $3, $4)",
);

/**
 * Stores a receipt unless its request has one. Runs inside a transaction.
 * @param forgettings the owner's number when the question began; undefined: any
 * @returns false if the number has changed
 */
function* writeReceipt(
  receipt: StoredReceipt,
  forgettings: number | undefined,
  apart: sql.Steps<void>,
): sql.Steps<boolean> {
  const known = yield* sql.dialect();
  const { requestId, userId, createdAt, body } = receipt;
  const id = idIn(known, requestId);
  if (!known.isOwnerInKeys && (yield* sql.get(IS_KNOWN, id)) !== undefined) return true;
  // From here on no erasure of the owner is running.
  const [, now] = yield* sql.together(apart, countForgettings(userId));
  if (forgettings !== undefined && now !== forgettings) return false;
  const owner = known.isOwnerInKeys ? [(yield* sql.ownerKey(userId)) ?? null] : [];
  yield* sql.run(INSERT, id, userId, createdAt, body, ...owner);
  return true;
}

const NOTE = sql.statement(({ isOwnerInKeys }) =>
  isOwnerInKeys
    ? `INSERT INTO receipt_nodes (owner, request_id, node_id, rank, representation)
         SELECT r.owner, r.request_id, c.* FROM receipts r CROSS JOIN unnest($3::uuid[], $4::integer[], $5::text[]) c
         WHERE r.owner = $1::bigint AND r.request_id = $2::uuid
       ON CONFLICT DO NOTHING`
    : `INSERT OR IGNORE INTO receipt_nodes (node, receipt, rank, representation)
       SELECT n.key, r.key, c.value, $3
       FROM receipts r CROSS JOIN json_each($2) c CROSS JOIN nodes n ON n.id = c.key WHERE r.request_id = $1`,
);

/** Of each form the ranks by id as JSON, which SQLite reads several times as fast as a list of objects. */
function ranksOf(context: readonly ContextNode[]): readonly (readonly [string, string])[] {
  const members = new Map<string, string[]>();
  for (const { nodeId, rank, representation } of context) {
    members.getOrInsertComputed(representation, () => []).push(`"${nodeId}":${rank}`);
  }
  return Array.from(members, ([shown, ranks]) => [shown, `{${ranks.join()}}`]);
}

/** See the port. Runs inside a transaction. */
function* noteContexts(contexts: readonly AnswerContext[], apart: Apart): sql.Steps<void> {
  const known = yield* sql.dialect();
  for (const { requestId, userId, context } of contexts) {
    const id = idIn(known, requestId);
    const owner = known.isOwnerInKeys ? ((yield* sql.ownerKey(userId)) ?? null) : null;
    const of = <Name extends keyof ContextNode>(name: Name) => context.map((node) => node[name]);
    const rows = known.isOwnerInKeys
      ? [[owner, id, of("nodeId"), of("rank"), of("representation")]]
      : ranksOf(context).map(([shown, ranks]) => [id, ranks, shown]);
    yield* sql.together(apart(userId), ...rows.map((values) => sql.run(NOTE, ...values)));
  }
}

const FORGETTINGS = sql.statement(`SELECT count(*)::float8 AS count FROM operations
  WHERE namespace_id = $1 AND op_type = '${FORGOTTEN}' AND op_type <> 'DIRECT_STORE_REQUESTED'`);

/** The number of erasures of the owner's data. */
function* countForgettings(userId: string): sql.Steps<number> {
  return (yield* sql.get<{ count: number }>(FORGETTINGS, userId))?.count ?? 0;
}

/** The receipt of an owner's request. */
export function* readReceipt(requestId: Uuid, owner: Owner): sql.Steps<StoredReceipt | undefined> {
  const params = new Params(idIn(yield* sql.dialect(), requestId));
  const mine = isEverybody(owner) ? "true" : yield* askedBy(params, owner);
  const row = yield* sql.get<ReceiptRow>(
    `${FROM_RECEIPTS} WHERE r.request_id = $1::uuid AND ${mine} ORDER BY r.created_at LIMIT 1`,
    ...params.values,
  );
  return row && toStoredReceipt(row);
}

/** A page of an owner's receipts, newest first. */
export function* readReceipts(page: ReceiptPage): sql.Steps<readonly StoredReceipt[]> {
  const { before, timeFrom = "", timeTo = END_OF_TIME, userId, limit } = page;
  // One bound for both: the scan starts at the first comparison with a column, which may be far from the page.
  const end = before && before.at < timeTo ? before : { at: timeTo, id: FIRST_ID };
  const params = new Params(timeFrom, end.at, idIn(yield* sql.dialect(), end.id), limit);
  const rows = yield* sql.all<ReceiptRow>(
    `${FROM_RECEIPTS} WHERE ${yield* askedBy(params, userId)} AND r.created_at >= $1
       AND (r.created_at, r.request_id) < ($2, $3::uuid) ORDER BY r.created_at DESC, r.request_id DESC LIMIT $4`,
    ...params.values,
  );
  return rows.map(toStoredReceipt);
}

type UseRow = ReceiptRow & Omit<ContextNode, "nodeId">;

/** A page of the answers whose context contained a memory. */
function* readUses({ userId, nodeId, before, limit }: UsePage): sql.Steps<Page<MemoryUse>> {
  const known = yield* sql.dialect();
  const { isOwnerInKeys, join } = known;
  const end = before ?? { at: END_OF_TIME, id: FIRST_ID };
  const params = new Params(nodeId, end.at, idIn(known, end.id), limit + 1);
  const mine = yield* askedBy(params, userId);
  const [from, isWanted, same] = isOwnerInKeys
    ? [
        "receipt_nodes c JOIN receipts r ON r.owner = c.owner AND r.request_id = c.request_id",
        "c.node_id = $1::uuid",
        "r.owner = k.owner AND r.request_id = k.request_id",
      ]
    : [
        "nodes n CROSS JOIN receipt_nodes c ON c.node = n.key CROSS JOIN receipts r ON r.key = c.receipt",
        "n.id = $1",
        "r.key = k.owner",
      ];
  // Only keys are sorted.
  const rows = yield* sql.all<UseRow>(
    `SELECT k.rank, k.representation, r.request_id, r.user_id, r.created_at, r.body
     FROM (SELECT c.rank, c.representation, r.${isOwnerInKeys ? "owner" : "key"} AS owner, r.request_id, r.created_at FROM ${from}
       WHERE ${isWanted} AND ${mine} AND (r.created_at, r.request_id) < ($2, $3::uuid)
       ORDER BY r.created_at DESC, r.request_id DESC LIMIT $4) k
     ${join} receipts r ON ${same} ${known.again("k.created_at DESC, k.request_id DESC")}`,
    ...params.values,
  );
  const items = rows.slice(0, limit).map(({ rank, representation, ...row }) => {
    return { rank, representation, receipt: toStoredReceipt(row) };
  });
  return { items, hasMore: rows.length > limit };
}

const PRUNE = sql.statement(({ isOwnerInKeys }) => {
  const key = isOwnerInKeys ? "owner, request_id" : "key";
  const order = isOwnerInKeys ? "request_id" : "key";
  return `DELETE FROM receipts WHERE (${key}) IN
    (SELECT ${key} FROM receipts WHERE created_at < $1 ORDER BY created_at, ${order} LIMIT $2)`;
});

/** Removes the oldest receipts from before a moment. Runs inside a transaction. @returns how many */
export function* pruneReceipts(before: Instant, limit: number): sql.Steps<number> {
  return yield* sql.run(PRUNE, before, limit);
}
