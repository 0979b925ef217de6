import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { isBusy, toSvcError } from "../connection/failures.ts";

type Task = {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (reason: unknown) => void;
};

export type WriteQueueOptions = {
  /** Calls that may wait; a further caller waits for a free place, nothing is dropped. */
  readonly capacity: number;
  /** Milliseconds to wait for writers of other processes before a group fails. */
  readonly busyTimeoutMs: number;
  /** Names the pack in errors. */
  readonly path: string;
  /** If given, the pack is read-only, and every caller gets this error. */
  readonly refusal?: SvcError | undefined;
  /** Called before each transaction; if it throws, the callers get the error. Default: nothing. */
  readonly beforeBegin?: (() => void) | undefined;
  /** Called before each commit; if it throws, the whole group is rolled back and its callers get the error. Default: nothing. */
  readonly beforeCommit?: (() => void) | undefined;
  /** Called after each commit. Default: nothing. */
  readonly afterCommit?: (() => void) | undefined;
};

/** Maximum calls in one transaction. Limits how long other processes wait. */
const GROUP_MAX = 256;

/**
 * The only writer of a process. Concurrent calls share one transaction and one fsync (group commit); each runs in its own
 * savepoint, so that one that throws is rolled back alone. A call's promise settles after the commit.
 */
export class WriteQueue {
  readonly #database: Database;
  readonly #options: WriteQueueOptions;
  readonly #tasks: Task[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #apart: (() => Promise<void>)[] = [];
  #draining: Promise<void> | undefined;
  #closed = false;

  constructor(database: Database, options: WriteQueueOptions) {
    this.#database = database;
    this.#options = options;
  }

  /**
   * Runs `work` inside a write transaction and resolves with its result once that is durable.
   * @param isAlone whether nobody else is about to write: then the group does not wait for company
   * @throws SvcError engine_closed, pack_read_only, disk_full, storage_busy, storage_failed; or what `work` or `beforeCommit` throws
   */
  async run<T>(work: () => T, isAlone = false): Promise<T> {
    while (!this.#closed && this.#tasks.length >= this.#options.capacity) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    if (this.#closed) throw closed();
    if (this.#options.refusal !== undefined) throw this.#options.refusal;
    return new Promise<T>((resolve, reject) => {
      // SAFETY: the task resolves with what its own work returned.
      this.#tasks.push({ work, resolve: (value) => resolve(value as T), reject });
      this.#draining ??= this.#drain(isAlone);
    });
  }

  /**
   * Runs exclusive work next, and writes nothing until it ends. Writers elsewhere on the same files then delay calls, however long, instead
   * of failing them.
   * @throws SvcError engine_closed; what `work` throws
   */
  async apart<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closed();
    return new Promise<T>((resolve, reject) => {
      this.#apart.push(() => work().then(resolve, reject));
      this.#draining ??= this.#drain();
    });
  }

  /** Whether the writing connection is free. */
  get isIdle(): boolean {
    return this.#draining === undefined;
  }

  /** Rejects new calls and waits until the accepted ones are durable or have failed. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await this.#draining;
  }

  async #drain(isAlone = false): Promise<void> {
    for (let waits = !isAlone; this.#tasks.length + this.#apart.length > 0; waits = true) {
      // One turn of the event loop lets requests that are already here join the group.
      if (waits) await new Promise<void>((resolve) => setImmediate(resolve));
      const apart = this.#apart.shift();
      if (apart !== undefined) {
        await apart();
        continue;
      }
      const group = this.#tasks.splice(0, GROUP_MAX);
      await this.#commit(group);
      for (const wake of this.#waiting.splice(0)) wake();
    }
    this.#draining = undefined;
  }

  async #commit(group: readonly Task[]): Promise<void> {
    try {
      this.#options.beforeBegin?.();
      await this.#begin();
      const [only] = group;
      // A call that is alone in its transaction needs no savepoint: rolling it back rolls back the transaction.
      const settle =
        group.length === 1 && only !== undefined
          ? [this.#perform(only)]
          : group.map((task) => this.#attempt(task));
      this.#options.beforeCommit?.();
      this.#control("COMMIT");
      this.#options.afterCommit?.();
      for (const settled of settle) settled();
    } catch (error) {
      if (this.#database.inTransaction) this.#database.run("ROLLBACK");
      const failure = toSvcError(error, this.#options.path);
      for (const task of group) task.reject(failure);
    }
  }

  /** A statement without rows, prepared once. */
  #control(sql: string): void {
    this.#database.query(sql).run();
  }

  /** Waits for the write lock without blocking the event loop for longer than one short busy timeout. */
  async #begin(): Promise<void> {
    const deadline = performance.now() + this.#options.busyTimeoutMs;
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, 50)) {
      try {
        this.#control("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        if (!isBusy(error) || performance.now() > deadline) throw error;
        await Bun.sleep(pauseMs * (0.5 + Math.random()));
      }
    }
  }

  /** Runs a task; the returned function settles its promise after the commit. */
  #perform(task: Task): () => void {
    const value = task.work();
    return () => task.resolve(value);
  }

  /** Like `#perform`, in a savepoint: a call that throws is rolled back alone. */
  #attempt(task: Task): () => void {
    this.#control("SAVEPOINT task");
    try {
      const settle = this.#perform(task);
      this.#control("RELEASE task");
      return settle;
    } catch (error) {
      // SQLite rolls the whole transaction back on a full disk and on I/O errors: then no call's work has survived.
      if (!this.#database.inTransaction) throw error;
      this.#control("ROLLBACK TO task");
      this.#control("RELEASE task");
      return () => task.reject(toSvcError(error, this.#options.path));
    }
  }
}

function closed(): SvcError {
  return new SvcError("engine_closed", "the pack was closed");
}
