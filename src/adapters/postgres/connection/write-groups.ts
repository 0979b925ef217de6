import { SvcError } from "../../../domain/errors.ts";
import { ALL_OWNERS, type AllOwners } from "../../../domain/owner.ts";
import { ownerKey, sortedKeys } from "../owner-key.ts";
import { isConflict, isUnnamed, isUnreachable } from "./failures.ts";
import type { Sql, WriteSql } from "./sql.ts";

/** Whether missing rows of owners are created. */
type Mode = "known" | "new";
type Work<T> = (sql: WriteSql) => Promise<T>;
type Task = {
  readonly mode: Mode;
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
};
/** Runs work in a transaction on owners' data. */
type Begin = <T>(
  owners: AllOwners | readonly string[],
  work: (sql: Sql) => Promise<T>,
) => Promise<T>;

/** How a task ended, reported once its transaction is committed. */
type Settle = () => void;

/** The group of writes without an owner, which takes no lock. */
const NOBODY = "";
/** Maximum calls in one transaction. */
const GROUP_MAX = 64;

const LOCK = "UPDATE owners SET version = version + 1 WHERE owner = $1::bigint RETURNING user_id";
const LOCK_OR_MAKE = `INSERT INTO owners (owner, user_id, version) VALUES ($1::bigint, $2, 1)
  ON CONFLICT (owner) DO UPDATE SET version = owners.version + 1 RETURNING user_id`;

/**
 * The writes of a process, by owner. Overlapping calls for one owner share a transaction and a commit; each runs in its own savepoint, so
 * that one that throws is rolled back alone. A call for several owners has its own transaction.
 */
export class WriteGroups {
  readonly #begin: Begin;
  readonly #waiting = new Map<string, Task[]>();

  /** @param begin runs work in a transaction, rerunning it after conflicts */
  constructor(begin: Begin) {
    this.#begin = begin;
  }

  /** Runs work under the locks of its owners and resolves once it is durable. */
  run<T>(userIds: readonly string[], mode: Mode, work: Work<T>): Promise<T> {
    const [only = NOBODY, ...others] = new Set(userIds);
    if (others.length > 0) {
      return this.#begin(userIds, async (sql) => work(await lockOwners(sql, userIds, mode)));
    }
    return new Promise<T>((resolve, reject) => {
      // SAFETY: the task resolves with what its own work returned.
      const task: Task = { mode, work, resolve: (value) => resolve(value as T), reject };
      const waiting = this.#waiting.get(only);
      if (waiting !== undefined) waiting.push(task);
      else {
        this.#waiting.set(only, [task]);
        void this.#drain(only);
      }
    });
  }

  async #drain(userId: string): Promise<void> {
    // One turn of the event loop lets calls that are already here join the group.
    await new Promise<void>((resolve) => setImmediate(resolve));
    for (;;) {
      const group = this.#waiting.get(userId)?.splice(0, GROUP_MAX) ?? [];
      if (group.length === 0) {
        this.#waiting.delete(userId);
        return;
      }
      await this.#commit(userId, group);
    }
  }

  async #commit(userId: string, group: readonly Task[]): Promise<void> {
    try {
      const owners = userId === NOBODY ? ALL_OWNERS : [userId];
      const settled = await this.#begin(owners, (sql) => performAll(sql, userId, group));
      for (const settle of settled) settle();
    } catch (error) {
      for (const task of group) task.reject(error);
    }
  }
}

async function performAll(
  sql: Sql,
  userId: string,
  group: readonly Task[],
): Promise<readonly Settle[]> {
  const [only] = group;
  const mode = group.some((task) => task.mode === "new") ? "new" : "known";
  const writing = await lockOwners(sql, userId === NOBODY ? [] : [userId], mode);
  // A call that is alone in its transaction needs no savepoint: undoing it undoes the transaction.
  if (group.length === 1 && only !== undefined) return [await perform(writing, only)];
  const settled: Settle[] = [];
  for (const task of group) settled.push(await attempt(writing, task));
  return settled;
}

async function perform(sql: WriteSql, task: Task): Promise<Settle> {
  const value = await task.work(sql);
  return () => task.resolve(value);
}

/** Like `perform`, in a savepoint. Errors of the whole transaction are thrown. */
async function attempt(sql: WriteSql, task: Task): Promise<Settle> {
  await sql.run("SAVEPOINT task");
  try {
    const settle = await perform(sql, task);
    await sql.run("RELEASE SAVEPOINT task");
    return settle;
  } catch (error) {
    if (isConflict(error) || isUnnamed(error) || isUnreachable(error)) throw error;
    await sql.run("ROLLBACK TO SAVEPOINT task");
    await sql.run("RELEASE SAVEPOINT task");
    return () => task.reject(error);
  }
}

/** Locks the rows of owners, always in the same order. */
async function lockOwners(sql: Sql, userIds: readonly string[], mode: Mode): Promise<WriteSql> {
  const known = new Set<string>();
  for (const [userId, key] of sortedKeys(userIds)) {
    const row = await (mode === "new"
      ? sql.get<{ user_id: string }>(LOCK_OR_MAKE, key, userId)
      : sql.get<{ user_id: string }>(LOCK, key));
    if (row === undefined) continue;
    if (row.user_id !== userId) throw sharedKey(userId);
    known.add(userId);
  }
  return { ...sql, knows: (userId) => known.has(userId) };
}

/** If two user ids share a number, the later one has no data and cannot get any. */
export function sharedKey(userId: string): SvcError {
  return new SvcError(
    "internal",
    `the user id has the number ${ownerKey(userId)}, as another one has that is in use; choose another user id`,
  );
}
