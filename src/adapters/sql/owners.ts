import { SvcError } from "../../domain/errors.ts";
import {
  ALL_OWNERS,
  movable,
  type OwnerMemories,
  type OwnerSummary,
  type PackOwner,
  toMoveRecord,
  toOwnerRecord,
} from "../../domain/owner.ts";
import { asInstant, type Instant } from "../../lib/instant.ts";
import type { OwnerMove, OwnerRecord, Owners } from "../../ports/store/store.ts";
import type { Clock } from "../../ports/system.ts";
import { readOwnerNames, writeAuditRecords } from "./audit.ts";
import { addSetting, readSetting, writeSetting } from "./settings.ts";
import * as sql from "./statement.ts";

/** Moves the rows of one owner to another, with their entries in both indexes, as the store requires. */
export type HandOver = (move: OwnerMove) => sql.Steps<void>;

/** The owner of a store, and the data of each owner. */
export function bindOwners(
  { read, snapshot, writeNew, writeAny }: sql.Access,
  clock: Clock,
  handOver: HandOver,
): Owners {
  return {
    // Inside the transaction: all earlier records are older.
    move: (move) => writeNew([move.from, move.into], () => moveOwner(move, clock.now(), handOver)),
    packOwner: () => snapshot(ALL_OWNERS, readPackOwner),
    claimPack: (userId, record) => writeAny(() => claimPack(userId, record)),
    usePack: (userId, record) => writeAny(() => writePackOwner(userId, record)),
    withMemories: (limit) => read(ALL_OWNERS, () => readOwnersWithMemories(limit)),
    list: () => read(ALL_OWNERS, listOwners),
    names: (userId) => read(userId, () => readOwnerNames(userId)),
    previewMove: async (wish) => movable(await read(ALL_OWNERS, listOwners), wish),
  };
}

/**
 * Moves everything of one owner to another. Runs inside a write transaction of both, which must be rolled back if it throws.
 * @returns what was moved
 * @throws SvcError invalid_argument
 */
function* moveOwner(move: OwnerMove, at: Instant, handOver: HandOver): sql.Steps<OwnerSummary> {
  const { from, into, settingId, actorId } = move;
  const moved = movable(yield* listOwners(), move);
  // First, since events may only move if the log records it.
  yield* writeAuditRecords(0, [toMoveRecord(move, moved, at)]);
  yield* handOver(move);
  const whose = yield* readPackOwner();
  if (whose.from === "set" && whose.userId === from)
    yield* writePackOwner(into, { id: settingId, actorId, createdAt: at });
  return moved;
}

/** The setting that names the owner of a store. */
const OWNER = "owner";

const WITH_ANYTHING = sql.statement(`SELECT user_id FROM owners o
  WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.owner = o.owner) OR EXISTS (SELECT 1 FROM events e WHERE e.owner = o.owner) LIMIT 2`);

export function* readPackOwner(): sql.Steps<PackOwner> {
  const userId = yield* readSetting(OWNER);
  if (userId !== undefined) return { from: "set", userId };
  const [first, second] = yield* sql.all<{ user_id: string }>(WITH_ANYTHING);
  if (first === undefined) return { from: "nobody" };
  return second === undefined ? { from: "only", userId: first.user_id } : { from: "several" };
}

/** Sets the owner unless data exists or another writer was faster, which is possible on a server. */
function* claimPack(userId: string, record: OwnerRecord): sql.Steps<PackOwner> {
  const found = yield* readPackOwner();
  if (found.from !== "nobody") return found;
  if (yield* addSetting(OWNER, userId))
    yield* writeAuditRecords(0, [toOwnerRecord(record, null, userId)]);
  return yield* readPackOwner();
}

/** Sets the owner. Runs inside a write transaction. */
export function* writePackOwner(userId: string, record: OwnerRecord): sql.Steps<void> {
  const before = (yield* readSetting(OWNER)) ?? null;
  yield* writeSetting(OWNER, userId);
  yield* writeAuditRecords(0, [toOwnerRecord(record, before, userId)]);
}

type SummaryRow = {
  readonly userId: string;
  readonly memories: number;
  readonly events: number;
  readonly written: string | null;
  readonly told: string | null;
};

/** A pack counts in its indexes, owner by owner; a server scans its tables once. */
const SUMMARIES = sql.statement(({ isOwnerInKeys }) => {
  const each = (table: string, time: string): string =>
    `(SELECT owner, count(*)::float8 AS many, max(${time}) AS last FROM ${table} GROUP BY owner)`;
  return isOwnerInKeys
    ? `SELECT o.user_id AS "userId", coalesce(n.many, 0) AS memories, coalesce(e.many, 0) AS events, n.last AS written, e.last AS told
       FROM owners o LEFT JOIN ${each("nodes", "updated_at")} n ON n.owner = o.owner
         LEFT JOIN ${each("events", "timestamp")} e ON e.owner = o.owner
       WHERE n.many > 0 OR e.many > 0 ORDER BY memories DESC, o.user_id`
    : `SELECT * FROM (SELECT o.user_id AS userId, (SELECT count(*) FROM nodes n WHERE n.owner = o.owner) AS memories,
         (SELECT count(*) FROM events e WHERE e.owner = o.owner) AS events,
         (SELECT max(updated_at) FROM nodes n WHERE n.owner = o.owner) AS written,
         (SELECT max(timestamp) FROM events e WHERE e.owner = o.owner) AS told
       FROM owners o ORDER BY o.owner) WHERE memories > 0 OR events > 0 ORDER BY memories DESC`;
});

/** The data of each owner, those with the most memories first; owners without data are left out. */
export function* listOwners(): sql.Steps<readonly OwnerSummary[]> {
  const rows = yield* sql.all<SummaryRow>(SUMMARIES);
  return rows.map(({ written, told, ...rest }) => {
    const last = (written ?? "") > (told ?? "") ? written : told;
    return { ...rest, lastUsed: last === null ? undefined : asInstant(last) };
  });
}

/** Owners whose memories are counted. A store with more does not belong to one person. */
const COUNTED = 50;
const WITH_MEMORIES = sql.statement(
  ({
    isOwnerInKeys,
  }) => `SELECT * FROM (SELECT o.owner, o.user_id AS "userId", (SELECT count(*)::float8 FROM nodes n WHERE n.owner = o.owner) AS memories
    FROM (SELECT owner, user_id FROM owners ORDER BY owner LIMIT $1) o) counted
  WHERE memories > 0 ORDER BY memories DESC, ${isOwnerInKeys ? '"userId"' : "owner"} LIMIT $2`,
);

/** Owners with memories, those with the most first. @param limit at least 1 */
function* readOwnersWithMemories(limit: number): sql.Steps<readonly OwnerMemories[]> {
  const rows = yield* sql.all<OwnerMemories>(WITH_MEMORIES, COUNTED, limit);
  return rows.map(({ userId, memories }) => ({ userId, memories }));
}

const MAKE = sql.statement("INSERT INTO owners (user_id) VALUES ($1) RETURNING owner");

/** The number of an owner; a new one is assigned in a pack, and derived on a server. Runs inside a write transaction. */
export function* ensureOwner(userId: string): sql.Steps<sql.OwnerKey> {
  const known = yield* sql.ownerKey(userId);
  if (known !== undefined) return known;
  const made = yield* sql.get<{ owner: number }>(MAKE, userId);
  // A larger one would be read as another owner's key.
  if (made !== undefined && Number.isSafeInteger(made.owner)) return made.owner;
  throw new SvcError(
    "storage_failed",
    "the pack has an owner with the highest possible number, so that it can have no further one; it was not made by svc",
    { reason: "owner_number" },
  );
}
