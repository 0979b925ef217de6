import type { Database } from "bun:sqlite";
import { ask, checkpoint } from "../connection/ask.ts";
import { isBusy } from "../connection/failures.ts";
import { type PackLayout, schemasOf } from "../connection/layout.ts";
import type { MainFile } from "../connection/main-file.ts";
import { readMark, writeMark } from "../connection/own-log.ts";

/** Milliseconds after this process's last write before the log is checkpointed. */
const IDLE_MS = 2000;

export type LogKeeperOptions = {
  readonly layout: PackLayout;
  /** The main file, which must not be written from outside. Default: unchecked. */
  readonly file?: (() => MainFile | undefined) | undefined;
  /** Whether the writing connection is free. */
  readonly isIdle: () => boolean;
};

/** Binds a pack's log to its main file (`own-log.ts`), and checkpoints when idle, and at the end. */
export class LogKeeper {
  readonly #writer: Database;
  readonly #options: LogKeeperOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastWriteMs = 0;
  /** Processed changes of this connection. */
  #changes = 0;
  /** The mark before a transaction that starts the log; absent: the log is in use. */
  #former: { readonly mark: string | undefined } | undefined;
  /** Whether the log has changes that this process must checkpoint. */
  #isUsed = false;

  constructor(writer: Database, options: LogKeeperOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  beforeBegin(): void {
    const mark = readMark(this.#writer);
    // In this order: what was read is in the file then.
    this.#former = checkpoint(this.#writer, "main", "NOOP") ? { mark } : undefined;
  }

  /** Marks the log if the transaction is the first in it and has changed anything. Runs inside it, as its last step. */
  beforeCommit(): void {
    if (this.#read("SELECT total_changes() AS n") === this.#changes) return;
    this.#isUsed = true;
    // Otherwise another process has started the log meanwhile.
    if (this.#former !== undefined && readMark(this.#writer) === this.#former.mark)
      writeMark(this.#writer, this.#former.mark);
    this.#changes = this.#read("SELECT total_changes() AS n");
  }

  afterCommit(): void {
    this.#options.file?.()?.accept();
    this.#watch();
  }

  /** Takes over the log of a process that did not end normally. */
  begin(): void {
    this.#isUsed ||= !checkpoint(this.#writer, "main", "NOOP");
    this.#watch();
  }

  /** Schedules emptying the log when idle. */
  #watch(): void {
    if (!this.#isUsed) return;
    this.#lastWriteMs = performance.now();
    this.#timer ??= this.#wake(IDLE_MS);
  }

  #wake(afterMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const restMs = this.#lastWriteMs + IDLE_MS - performance.now();
      const isDone = restMs <= 0 && this.#options.isIdle() && this.empty();
      this.#timer = isDone ? undefined : this.#wake(restMs > 0 ? restMs : IDLE_MS);
    }, afterMs).unref();
  }

  /**
   * Checkpoints and truncates the log. Waits at most one busy timeout. Never throws.
   * @returns false if other processes are active, the disk is full or the file was moved away; the log then keeps its content
   */
  empty(): boolean {
    const file = this.#options.file?.();
    if (file?.isOurs === false) return false;
    const isEmpty = emptyLog(this.#writer, this.#options.layout, this.#isUsed);
    if (isEmpty) {
      this.#isUsed = false;
      unmap(this.#writer);
    }
    this.#changes = this.#read("SELECT total_changes() AS n");
    file?.accept();
    return isEmpty;
  }

  /**
   * Empties the log for the last time, if possible. Processes that end at the same moment would each see another one, so that no one
   * removes the log: they retry at different times. Never throws.
   */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#isUsed ||= !checkpoint(this.#writer, "main", "NOOP");
      if (!this.#isUsed) return;
      for (let tries = 0; tries < 3 && !this.empty(); tries += 1) {
        await Bun.sleep(5 + Math.random() * 10);
      }
    } catch {
      // A full disk, or a file that was moved away: the log keeps its content.
    }
  }

  #read(sql: string): number {
    return ask<number>(this.#writer, sql) ?? 0;
  }
}

/** Mapped pages count as memory of the process, although the system has them anyway; those that are still wanted come back quickly. */
function unmap(database: Database): void {
  const bytes = ask<number>(database, "PRAGMA mmap_size") ?? 0;
  if (bytes === 0) return;
  database.run("PRAGMA mmap_size = 0");
  database.run(`PRAGMA mmap_size = ${bytes}`);
}

/**
 * Checkpoints and truncates the log.
 * @param isMarked whether the pack is marked as containing all of the log
 * @returns false if other connections are active; the log may then be full
 */
export function emptyLog(database: Database, layout: PackLayout, isMarked: boolean): boolean {
  const [main = "main", ...indexes] = schemasOf(layout);
  try {
    if (indexes.some((schema) => !checkpoint(database, schema, "TRUNCATE"))) return false;
    const mark = readMark(database);
    if (!checkpoint(database, main, "PASSIVE")) return false;
    if (isMarked) {
      database
        .transaction(() => {
          // Otherwise another process has started the log again.
          if (readMark(database) === mark) writeMark(database, mark);
        })
        .immediate();
    }
    return checkpoint(database, main, "TRUNCATE");
  } catch {
    return false;
  }
}

/** Milliseconds for the previously closing process to end. */
const CLOSING_PAUSE_MS = 3;
/** How often a closing process requests its turn. */
const CLOSING_TRIES = 50;

/**
 * Processes that close at the same instant each see the other, so that neither checkpoints the log. The write lock makes them close one
 * after the other; a moment later the previous one is gone.
 */
export async function waitForTurn(writer: Database): Promise<void> {
  try {
    await patientlyBegin(writer);
    await Bun.sleep(CLOSING_PAUSE_MS);
    writer.run("ROLLBACK");
  } catch {
    // Another process writes for too long, or the disk is full: the next process will clean up the log.
  }
}

/** Takes the write lock, without blocking the event loop for long. @throws SQLiteError */
async function patientlyBegin(writer: Database): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      writer.run("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (!isBusy(error) || tries === CLOSING_TRIES) throw error;
      await Bun.sleep(1 + Math.random() * 5);
    }
  }
}
