import type { Database } from "bun:sqlite";
import type { Instant } from "../../../lib/instant.ts";
import type { Clock } from "../../../ports/system.ts";
import { ask, checkpoint } from "../connection/ask.ts";
import { type PackLayout, schemasOf } from "../connection/layout.ts";
import {
  firstSalt,
  freshMark,
  isLogInUse,
  keepLogInUse,
  parseMark,
  readMarkText,
  writeMark,
} from "../connection/log-mark.ts";
import type { MainFile } from "../connection/main-file.ts";

/** Milliseconds after the last write of this process at which the log is moved into the pack. */
const IDLE_MS = 2000;
/** Milliseconds for which the other processes must be silent too. */
const QUIET_MS = 500;
/** Milliseconds that a write waits for readers to let its mark into the main file. */
const MARK_WAIT_MS = 1000;

export type LogKeeperOptions = {
  readonly layout: PackLayout;
  readonly clock: Clock;
  readonly softwareVersion: string;
  /** The main file, which must not be written from outside. Default: not looked at. */
  readonly file?: (() => MainFile | undefined) | undefined;
  /** Whether the writing connection is free. */
  readonly isIdle: () => boolean;
};

/**
 * Keeps the main file of a pack worth copying. Some seconds after the last write the log is moved into it and emptied; while the
 * log contains changes that the main file lacks, the main file says so (`LogMark`).
 */
export class LogKeeper {
  readonly #writer: Database;
  readonly #options: LogKeeperOptions;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastWriteMs = 0;
  /** Changes by this connection, and by all others, that have been processed. */
  #changes = 0;
  #foreign = 0;
  /** The stored mark that needs no further check; one known to be in the main file; one that must get there. */
  #used: string | undefined;
  #arrived: string | undefined;
  #toCarry: string | undefined;
  /** First salt of the log for which the mark needs no further check. */
  #log: string | undefined;
  /** Whether a reader kept the last mark out of the main file for longer than writes wait. */
  #isHeldUp = false;
  #isFirst = true;
  /** Whether the log contains anything that this process must move. */
  #isOurs = false;

  constructor(writer: Database, options: LogKeeperOptions) {
    this.#writer = writer;
    this.#options = options;
  }

  /** Marks the pack if the transaction has changed anything. Runs inside it, as its last step. */
  beforeCommit(): void {
    const changes = this.#ask("SELECT total_changes() AS n");
    if (changes === this.#changes) return;
    this.#changes = changes;
    this.#isOurs = true;
    const text = readMarkText(this.#writer);
    const log = firstSalt(this.#writer);
    if (text === undefined || text !== this.#used || log !== this.#log) this.#mark(text, log);
  }

  #mark(text: string | undefined, log: string | undefined): void {
    const { clock, softwareVersion: version } = this.#options;
    const mark = parseMark(text);
    const isKept = mark !== undefined && mark.state !== "empty";
    if (isKept && (mark.version === version || !this.#isFirst)) {
      if (mark.state === "used" && mark.log === log) this.#used = text;
      else if (mark.state === "new" && mark.id !== this.#arrived) this.#toCarry = mark.id;
      else {
        // Again for each beginning of the log, so that it always holds a mark.
        this.#used = writeMark(this.#writer, { ...mark, state: "used", log, follows: undefined });
        if (mark.state === "new") this.#toCarry = mark.id;
      }
      this.#log = log;
    } else {
      const fresh = freshMark("new", clock.now(), version, {
        mark,
        isInMainFile: log === undefined,
      });
      writeMark(this.#writer, fresh);
      this.#toCarry = fresh.id;
    }
    this.#isFirst = false;
    // The mark itself is a change.
    this.#changes = this.#ask("SELECT total_changes() AS n");
  }

  /** What the callers of a committed transaction must wait for: until it settles, a copy would not know about the log. */
  afterCommit(): Promise<void> | undefined {
    this.#options.file?.()?.accept();
    if (this.#isOurs) this.#watch();
    const id = this.#toCarry;
    if (id === undefined) return undefined;
    this.#toCarry = undefined;
    return this.#carry(id);
  }

  async #carry(id: string): Promise<void> {
    const end = performance.now() + (this.#isHeldUp ? 0 : MARK_WAIT_MS);
    for (let pauseMs = 1; !isMoved(this.#writer, "main", "PASSIVE"); pauseMs *= 2) {
      // A reader takes long. The write is safe in the log; its callers do not wait for that reader, and neither do those of the
      // following writes, each of which tries once.
      this.#isHeldUp = performance.now() > end;
      if (this.#isHeldUp) return;
      await Bun.sleep(pauseMs);
    }
    this.#isHeldUp = false;
    this.#arrived = id;
    this.#options.file?.()?.accept();
  }

  /** Takes over the log of a process that did not end normally. */
  begin(): void {
    this.#isOurs ||= isLogInUse(this.#writer);
    if (this.#isOurs) this.#watch();
  }

  /** Schedules emptying the log once nobody writes any more. */
  #watch(): void {
    this.#lastWriteMs = performance.now();
    this.#timer ??= this.#wake(IDLE_MS);
  }

  #wake(afterMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      const nextMs = this.#tryToEmpty();
      this.#timer = nextMs === undefined ? undefined : this.#wake(nextMs);
    }, afterMs).unref();
  }

  /** @returns milliseconds until the next attempt; undefined when the log is empty */
  #tryToEmpty(): number | undefined {
    const restMs = this.#lastWriteMs + IDLE_MS - performance.now();
    if (restMs > 0) return restMs;
    try {
      const foreign = this.#ask("PRAGMA data_version");
      if (foreign !== this.#foreign) {
        this.#foreign = foreign;
        return QUIET_MS;
      }
      return this.#options.isIdle() && this.empty() ? undefined : IDLE_MS;
    } catch {
      // A full disk, or a file that was moved away: the log keeps its content.
      return IDLE_MS;
    }
  }

  /**
   * Moves the log into the pack, records there that all of it is in the main file, and truncates the log to nothing. Waits at
   * most one busy timeout.
   * @returns false if other processes are active; the pack is then as before, or its log is still full
   */
  empty(): boolean {
    if (this.#options.file?.()?.isOurs === false) return false;
    const isEmpty = this.#empty();
    this.#options.file?.()?.accept();
    return isEmpty;
  }

  #empty(): boolean {
    const { layout, clock, softwareVersion } = this.#options;
    try {
      return emptyLog(this.#writer, layout, { at: clock.now(), softwareVersion });
    } finally {
      this.#changes = this.#ask("SELECT total_changes() AS n");
    }
  }

  /** Empties the log for the last time, if possible. Never throws. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#isOurs ||= isLogInUse(this.#writer);
      if (!this.#isOurs) return;
      for (let tries = 0; tries < 3; tries += 1) {
        if (this.empty()) return;
        await Bun.sleep(5 + Math.random() * 10);
      }
      keepLogInUse(this.#writer, this.#options.layout);
    } catch {
      // A full disk, or a file that was moved away: the log keeps its content.
    }
  }

  #ask(sql: string): number {
    return ask<number>(this.#writer, sql) ?? 0;
  }
}

/**
 * Moves the log into the files of a pack, records there that all of it is in them, and truncates the log to nothing.
 * @returns false if other connections are active
 */
export function emptyLog(
  database: Database,
  layout: PackLayout,
  told: { readonly at: Instant; readonly softwareVersion: string },
): boolean {
  const [main = "main", ...indexes] = schemasOf(layout);
  if (indexes.some((schema) => !isMoved(database, schema, "TRUNCATE"))) return false;
  if (!isMoved(database, main, "PASSIVE")) return false;
  return isUnmarked(database, told) && isMoved(database, main, "TRUNCATE");
}

function isUnmarked(
  database: Database,
  { at, softwareVersion }: { readonly at: Instant; readonly softwareVersion: string },
): boolean {
  if (!isLogInUse(database)) return true;
  try {
    database.run("BEGIN IMMEDIATE");
    const former = { mark: parseMark(readMarkText(database)), isInMainFile: false };
    writeMark(database, freshMark("empty", at, softwareVersion, former));
    database.run("COMMIT");
    return true;
  } catch {
    // Another process writes, or the disk is full.
    if (database.inTransaction) database.run("ROLLBACK");
    return false;
  }
}

/** Whether all of the log is in the file. */
function isMoved(database: Database, schema: string, mode: "PASSIVE" | "TRUNCATE"): boolean {
  try {
    return checkpoint(database, schema, mode);
  } catch {
    return false;
  }
}
