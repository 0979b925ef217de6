import type { Database } from "bun:sqlite";
import { copyFileSync, statSync, truncateSync } from "node:fs";
import { ask, mainFileOf } from "./ask.ts";
import { fileOverwritten } from "./failures.ts";
import { hasMoved } from "./open-database.ts";
import { asidePath, isMarkedSo, isOwnLog, readMark } from "./own-log.ts";
import { type Cipher, type HeldName, holdName } from "./pack-files.ts";

/** Detects a main file that another program has overwritten in place while it is open, for example with `cp`. */
export class MainFile {
  readonly #database: Database;
  readonly #path: string;
  readonly #held: HeldName;
  /** Time and size of the file when it was last verified. */
  #stamp = "";
  /** The pack's mark at that time, and a value that changes with each commit of another connection. */
  #mark: string | undefined;
  #version: number | undefined;
  /** Where the log was set aside; empty if there was none. */
  #aside: string | undefined;

  constructor(database: Database, cipher: Cipher | undefined) {
    this.#database = database;
    this.#path = mainFileOf(database);
    this.#held = holdName(this.#path, cipher);
    this.accept();
  }

  /** The file is as this connection left it. */
  accept(): void {
    this.#stamp = this.#now();
    // In this order: a commit in between is noticed by the next check.
    this.#version = this.#changes();
    this.#mark = readMark(this.#database);
  }

  /**
   * Runs outside of transactions.
   * @throws SvcError storage_failed if the file was overwritten; its log is then set aside, so that it is never applied to the file
   */
  requireOurs(): void {
    if (this.#aside === undefined) {
      // Moving the file away is detected separately, at the commit.
      if (this.#now() === this.#stamp || hasMoved(this.#database, "main")) return;
      // The connection may read the new content: without another connection's commit, the mark is known.
      const isRight = (own: string | undefined): boolean => {
        const isKnown = this.#changes() === this.#version;
        return isOwnLog(own, isKnown ? this.#mark : readMark(this.#database));
      };
      if (isMarkedSo(this.#held.name, isRight)) {
        this.accept();
        return;
      }
      this.#aside = this.#setLogAside();
    }
    throw fileOverwritten(this.#path, this.#aside);
  }

  /** Whether {@link requireOurs} passes. */
  get isOurs(): boolean {
    try {
      this.requireOurs();
      return true;
    } catch {
      return false;
    }
  }

  /** Forgets the key. */
  close(): void {
    this.#held.release();
  }

  #changes(): number | undefined {
    return ask(this.#database, "PRAGMA data_version");
  }

  #now(): string {
    const stat = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    return `${stat?.mtimeNs} ${stat?.size}`;
  }

  /** @returns the name of the copy; empty without a log */
  #setLogAside(): string {
    const log = `${this.#path}-wal`;
    if ((statSync(log, { throwIfNoEntry: false })?.size ?? 0) === 0) return "";
    const aside = asidePath(log);
    copyFileSync(log, aside);
    // SQLite would apply it when the last connection closes; then it can no longer read it.
    truncateSync(log);
    return aside;
  }
}
