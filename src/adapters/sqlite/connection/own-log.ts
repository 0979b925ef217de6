import { constants, type Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, parse } from "node:path";
import { FOREIGN_LOG, SvcError } from "../../../domain/errors.ts";
import { shellWord } from "../../../lib/text.ts";
import { openSqlite } from "../../native/load-library.ts";
import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";
import { codeOf } from "./failures.ts";
import type { NamedFile } from "./pack-files.ts";
import { realPath } from "./sidecars.ts";

/*
 * A pack records which log belongs to it. The first transaction in a log writes a mark with a new id, and so does the last one before the
 * log is emptied; each names the mark that the main file has until a checkpoint. So a log read with another main file, such as a copy that
 * replaced the pack, is detected.
 */
const MARK = "log_mark";

/** The mark: its id, a blank, and the id that the main file may have instead. Undefined in a pack that never had one. */
export function readMark(database: Database): string | undefined {
  return readPackSetting(database, MARK);
}

/** Runs inside a write transaction. @param former the mark in the main file */
export function writeMark(database: Database, former: string | undefined): void {
  writePackSetting(database, MARK, `${randomBytes(8).toString("hex")} ${idOf(former)}`);
}

/** @param own the mark in the main file alone @param withLog the mark that is read with the log */
export function isOwnLog(own: string | undefined, withLog: string | undefined): boolean {
  return withLog === undefined || withLog.split(" ").includes(idOf(own));
}

function idOf(mark: string | undefined): string {
  return mark?.split(" ")[0] ?? "";
}

/** Number of checks, and milliseconds between them, while another process checkpoints. */
const LOOKS_MAX = 20;
const LOOK_PAUSE_MS = 2;

/**
 * Rejects a log written for another state of the main file: a copy replaced the file, and applying the log would corrupt it. A damaged file
 * passes.
 * @throws SvcError storage_failed with `data.reason` "foreign_log"; nothing was changed
 */
export function requireOwnLog({ path, name }: NamedFile): void {
  const real = realPath(path);
  if ((statSync(`${real}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  // It cannot checkpoint when it is closed.
  const database = readOnly(name);
  const isOurs = (own: string | undefined): boolean => isOwnLog(own, readMark(database));
  try {
    if (!isMarkedSo(name, isOurs)) throw foreignLog(real);
  } finally {
    database.close();
  }
}

/** Whether the mark in the main file alone is right. An unreadable file passes: SQLite reports what is wrong with it. */
export function isMarkedSo(name: string, isRight: (own: string | undefined) => boolean): boolean {
  for (let looks = 0, before: string | null | undefined; looks < LOOKS_MAX; looks += 1) {
    const text = markInFile(name);
    if (text === undefined) Bun.sleepSync(LOOK_PAUSE_MS);
    else if (isRightOrUnread(() => isRight(text ?? undefined))) return true;
    // No checkpoint happened meanwhile.
    else if (text === before) return false;
    before = text;
  }
  return true;
}

function isRightOrUnread(isRight: () => boolean): boolean {
  try {
    return isRight();
  } catch (error) {
    // The file alone can be read.
    return codeOf(error)?.startsWith("SQLITE_CORRUPT") !== true;
  }
}

/** The mark in the main file alone; null without one, undefined if the file cannot be read. */
function markInFile(name: string): string | null | undefined {
  try {
    const alone = readOnly(`${name}&immutable=1`);
    try {
      return readMark(alone) ?? null;
    } finally {
      alone.close();
    }
  } catch {
    return undefined;
  }
}

function readOnly(name: string): Database {
  return openSqlite(name, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
}

function foreignLog(path: string): SvcError {
  const log = `${path}-wal`;
  const aside = asidePath(log);
  const message = `${log}: is not the log of ${path} as it is now: a copy was put in the place of the pack, and the log of the former one was left. Nothing was opened or changed. To use the copy, set the log aside: mv ${shellWord(log)} ${shellWord(aside)}`;
  return new SvcError("storage_failed", message, { path, reason: FOREIGN_LOG });
}

/** The side files of a file or folder of that name, including its log. */
export function setAsideOf(path: string): readonly string[] {
  const { dir, name } = parse(path);
  return readdirSync(dir).flatMap((other) =>
    other.startsWith(`${name}.set-aside-`) ? [join(dir, other)] : [],
  );
}

/** A free timestamped name next to a file or folder, for what must not be used but not be lost either. */
export function asidePath(path: string): string {
  const time = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const { dir, name, ext } = parse(path);
  for (let i = 0; ; i += 1) {
    const free = join(dir, `${name}.set-aside-${time}${i === 0 ? "" : `-${i}`}${ext}`);
    if (!existsSync(free)) return free;
  }
}
