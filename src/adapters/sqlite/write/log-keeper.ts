import type { Database } from "bun:sqlite";
import { ask, checkpoint } from "../connection/ask.ts";
import { type PackLayout, schemasOf } from "../connection/layout.ts";
import type { MainFile } from "../connection/main-file.ts";
import { readMark, writeMark } from "../connection/own-log.ts";

/** Milliseconds after the last write of this process at which the log is moved into the pack. */
const IDLE_MS = 2000;

export type LogKeeperOptions = {
  readonly layout: PackLayout;
  /** The main file, which must not be written from outside. Default: not looked at. */
  readonly file?: (() => MainFile | undefined) | undefined;
  /** Whether the writing connection is free. */
  readonly isIdle: () => boolean;
};

/** Binds the log of a pack to its main file (`own-log.ts`), and moves it into the pack when nobody writes, and at the end. */
export class LogKeeper {
  readonly #writer: Database;
  readonly #options: LogKeeperOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastWriteMs = 0;
  /** Changes by this connection that have been processed. */
  #changes = 0;
  /** The mark before a transaction that begins the log; absent: the log is in use. */
  #former: { readonly mark: string | undefined } | undefined;
  /** Whether the log has changes that this process has to move. */
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

  /** Marks the log if the transaction has changed anything and begins it. Runs inside it, as its last step. */
  beforeCommit(): void {
    if (this.#read("SELECT total_changes() AS n") === this.#changes) return;
    this.#isUsed = true;
    // Otherwise another process has begun the log meanwhile.
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

  /** Schedules emptying the log once nobody writes any more. */
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
   * Moves the log into the pack and truncates it to nothing. Waits at most one busy timeout. Never throws.
   * @returns false if other processes are active, the disk is full or the file was moved away; the log then keeps its content
   */
  empty(): boolean {
    const file = this.#options.file?.();
    if (file?.isOurs === false) return false;
    const isEmpty = emptyLog(this.#writer, this.#options.layout, this.#isUsed);
    if (isEmpty) this.#isUsed = false;
    this.#changes = this.#read("SELECT total_changes() AS n");
    file?.accept();
    return isEmpty;
  }

  /**
   * Empties the log for the last time, if possible. Of processes that end at one moment each would take another one for the last,
   * which removes the log: they try again at different times. Never throws.
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

/**
 * Moves the log into the files of a pack and truncates it to nothing.
 * @param isMarked whether the pack is marked, as one that has all of the log
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
          // Otherwise another process has begun the log again.
          if (readMark(database) === mark) writeMark(database, mark);
        })
        .immediate();
    }
    return checkpoint(database, main, "TRUNCATE");
  } catch {
    return false;
  }
}
