import { constants, type Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import { asInstant, type Instant } from "../../../lib/instant.ts";
import { readManifest } from "../schema/manifest.ts";
import { readPackSetting, writePackSetting } from "../schema/pack-settings.ts";
import { ask } from "./ask.ts";
import { type PackLayout, schemasOf } from "./layout.ts";

/**
 * What a pack records about its log. The main file says that the log is in use before the first change that is only in the log is
 * acknowledged, and until a checkpoint has moved all changes. Whichever process makes the checkpoint, an incomplete copy of the
 * main file alone can be recognised.
 */
export type LogMark = {
  /** `new`: the mark may not be in the main file yet. `used`: it is. `empty`: all changes up to this one are. */
  readonly state: "new" | "used" | "empty";
  /** When it was made: later changes may be only in the log. */
  readonly since: Instant;
  /** 16 hexadecimal digits, new each time the log is taken into use or emptied. */
  readonly id: string;
  /** The program that keeps this mark: one that does not know it writes another version into the manifest. */
  readonly version: string;
  /** `used`: the first salt of the log at that time, 8 hexadecimal digits; it grows by one each time SQLite restarts the log. */
  readonly log?: string | undefined;
  /** `new`, `empty`: the ids of the marks that the main file may still have, with blanks between them; absent: unknown. */
  readonly follows?: string | undefined;
};

/**
 * Keeps a log in use from being removed with this connection, which may be the last: the mark, which a reader cannot change,
 * would then report a lost log.
 */
export function keepLogInUse(database: Database, layout: PackLayout): void {
  if (!isLogInUse(database)) return;
  for (const schema of schemasOf(layout)) {
    // A C int; the runtime wants room for eight bytes.
    database.fileControl(schema, constants.SQLITE_FCNTL_PERSIST_WAL, new Int32Array([1, 0]));
    // Otherwise SQLite would keep the file but truncate it to nothing.
    database.run(`PRAGMA ${schema}.journal_size_limit = -1`);
  }
}

/** What a file lacks that was copied without its log, or, `isTorn`, while it was being written. */
export type LogGap = { readonly since: Instant; readonly isTorn: boolean };

/** Changes that are not in a pack because it was used without its log. */
export type LostLog = { readonly since: Instant; readonly foundAt: Instant };

const MARK = "log_mark";
const LOST = "log_lost";
/** How often a log may have restarted since the mark; the salts of two different logs are hardly ever this close. */
const BEGINNINGS_MAX = 1 << 24;

/** The mark as stored; undefined in a pack that never had one. */
export function readMarkText(database: Database): string | undefined {
  return readPackSetting(database, MARK);
}

export function parseMark(text: string | undefined): LogMark | undefined {
  const { state, since, id, version, log, follows } = fieldsOf(text);
  if (state !== "new" && state !== "used" && state !== "empty") return undefined;
  if (since === undefined || id === undefined || version === undefined) return undefined;
  return { state, since: asInstant(since), id, version, log, follows };
}

/** Whether a pack says that its log contains changes that the main file may lack. */
export function isLogInUse(database: Database): boolean {
  const { state = "empty" } = parseMark(readMarkText(database)) ?? {};
  return state !== "empty";
}

/** @param former the mark that it takes the place of */
export function freshMark(
  state: "new" | "empty",
  since: Instant,
  version: string,
  former?: { readonly mark: LogMark | undefined; readonly isInMainFile: boolean },
): LogMark {
  const { mark, isInMainFile = false } = former ?? {};
  const isArrived = isInMainFile || mark?.state === "used";
  const rest = isArrived ? "" : mark?.follows && ` ${mark.follows}`;
  const follows = mark && rest !== undefined ? `${mark.id}${rest}` : undefined;
  return { state, since, id: randomBytes(8).toString("hex"), version, follows };
}

/**
 * Whether a log belongs to the main file beside it: the mark that is read with the log must be that of the main file, or one
 * that was written after it.
 * @param own the mark in the main file alone
 */
export function isOwnLog(own: LogMark | undefined, withLog: LogMark | undefined): boolean {
  if (withLog === undefined || withLog.id === own?.id) return true;
  if (withLog.state === "used") return false;
  return withLog.follows === undefined || withLog.follows.split(" ").includes(own?.id ?? "");
}

/**
 * Writes the mark, and its number to the first page of the main file, which is copied first. Runs inside a write transaction, or
 * alone.
 * @returns the mark as stored
 */
export function writeMark(database: Database, mark: LogMark | undefined): string | undefined {
  const text = mark && JSON.stringify(mark);
  writePackSetting(database, MARK, text);
  database.run(`PRAGMA main.user_version = ${mark === undefined ? 0 : numberOf(mark)}`);
  return text;
}

/** 31 bits of the id of a mark. */
function numberOf({ id }: LogMark): number {
  return Number.parseInt(id.slice(0, 8), 16) >>> 1;
}

/**
 * What a pack lacks because its log is missing or belongs to another file, or because it was copied while being written. Correct
 * even while other processes write. Runs outside a transaction.
 */
export function findLogGap(database: Database): LogGap | undefined {
  const mark = parseMark(readMarkText(database));
  // A program that does not know the mark has opened the pack since, and may have moved the log into it.
  if (mark === undefined || mark.version !== readManifest(database)?.softwareVersion) return;
  const isTorn = !isWhole(database, mark);
  if (!isTorn && (mark.state === "empty" || hasLog(database, mark))) return;
  // Between the two reads another process may have moved the log into the pack.
  if (parseMark(readMarkText(database))?.id !== mark.id) return;
  return { since: mark.since, isTorn };
}

/** Whether the first page is from the same moment as the mark. */
function isWhole(database: Database, mark: LogMark): boolean {
  return database
    .query<{ value: string; number: number }, [string]>(
      `SELECT value, (SELECT user_version FROM pragma_user_version) AS number
         FROM main.pack_settings WHERE name = ?`,
    )
    .all(MARK)
    .every(({ value, number }) => parseMark(value)?.id !== mark.id || number === numberOf(mark));
}

/**
 * Whether the log of the file is beside it. A process that was killed while it restarted the log leaves one without frames:
 * everything it contained before is in the main file.
 */
function hasLog(database: Database, mark: LogMark): boolean {
  if (framesInLog(database) > 0) return true;
  const salt = firstSalt(database);
  return salt !== undefined && isLaterLog(mark, salt);
}

/** Whether a log can be the one that was there when the mark was written, restarted or not. */
export function isLaterLog({ log }: LogMark, salt: string): boolean {
  if (log === undefined) return true;
  return (Number.parseInt(salt, 16) - Number.parseInt(log, 16)) >>> 0 < BEGINNINGS_MAX;
}

/** The first salt of the log beside the main file, 8 hexadecimal digits; undefined if there is no log or an empty one. */
export function firstSalt(database: Database): string | undefined {
  const header = Buffer.alloc(20);
  try {
    // SQLite holds no lock on this file that closing its descriptor could drop.
    const file = openSync(`${mainFileOf(database)}-wal`, "r");
    try {
      return readSync(file, header) < header.length ? undefined : header.toString("hex", 16);
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** The main file of a connection, without links. */
export function mainFileOf(database: Database): string {
  let path = mainFiles.get(database);
  if (path === undefined) {
    path = ask<string>(database, "SELECT file FROM pragma_database_list WHERE name = 'main'") ?? "";
    mainFiles.set(database, path);
  }
  return path;
}

// Asked for in every write.
const mainFiles = new WeakMap<Database, string>();

/** Frames that belong to the main file; 0 without a log. */
function framesInLog(database: Database): number {
  return database.query<{ log: number }, []>("PRAGMA main.wal_checkpoint(NOOP)").get()?.log ?? 0;
}

/** Records that a pack was used with a gap. Runs inside a write transaction. */
export function noteLostLog(database: Database, { since }: LogGap, foundAt: Instant): void {
  writePackSetting(database, LOST, JSON.stringify({ since, foundAt }));
  writeMark(database, undefined);
}

/** The warning about a pack with a gap. */
export function tellGap(path: string, { since, isTorn }: LogGap): string {
  const what = isTorn
    ? `was copied while it was being written; what was changed after ${since} is missing or incomplete`
    : `what was changed after ${since} is in its log ${path}-wal, which is not here or not that of this file`;
  return `${path}: ${what}. Copy the original again, 5 seconds after its last write or with its log`;
}

/** Removes that record. Runs inside a write transaction, or alone. */
export function forgetLostLog(database: Database): void {
  if (readLostLog(database) !== undefined) writePackSetting(database, LOST, undefined);
}

export function readLostLog(database: Database): LostLog | undefined {
  const { since, foundAt } = fieldsOf(readPackSetting(database, LOST));
  if (since === undefined || foundAt === undefined) return undefined;
  return { since: asInstant(since), foundAt: asInstant(foundAt) };
}

function fieldsOf(text: string | undefined): Readonly<Record<string, string | undefined>> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    if (typeof value !== "object" || value === null) return {};
    return Object.fromEntries(Object.entries(value).filter(([, it]) => typeof it === "string"));
  } catch {
    return {};
  }
}
