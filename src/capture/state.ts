/** What capture keeps in this user's configuration folder: switches, a log without texts, what sessions were shown, and the spool. */
import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { keyFolder } from "../adapters/keystore/key-store.ts";
import { linkSecret } from "../adapters/keystore/link-secret.ts";
import { replaceFile, syncToDisk, writeNewFile } from "../adapters/native/system-files.ts";
import type { Turn } from "./turn.ts";

const PRIVATE = 0o700;

/** Of the assistant that runs a hook, else of this process. */
export const environment: Readonly<Record<string, string | undefined>> = process.env;

/** A secret of this user's processes. @throws Error if there is no place for it */
export function userSecret(): string {
  return linkSecret(environment);
}

/** @throws SvcError without a home folder */
export function captureFolder(...parts: readonly string[]): string {
  return join(dirname(keyFolder(environment)), "capture", ...parts);
}

export type Switches = {
  readonly off: boolean;
  /** Folders, absolute, or patterns with `*`. */
  readonly folders: readonly string[];
  readonly clients: readonly string[];
  readonly sessions: readonly string[];
  /** Whether the file cannot be read. Then everything counts as off: it may say so. */
  readonly isBroken?: true | undefined;
};

const SWITCHES: Switches = { off: false, folders: [], clients: [], sessions: [] };

export function readSwitches(): Switches {
  const text = linesOf(captureFolder("switches.json")).join("\n");
  const given = parsed(text);
  if (text !== "" && !("off" in given)) return { ...SWITCHES, off: true, isBroken: true };
  const list = (name: string): readonly string[] => {
    const value: unknown = given[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  };
  return {
    off: given["off"] === true,
    folders: list("folders"),
    clients: list("clients"),
    sessions: list("sessions"),
  };
}

export function writeSwitches(change: Partial<Switches>): void {
  mkdirSync(captureFolder(), { recursive: true, mode: PRIVATE });
  const switches = { ...SWITCHES, ...readSwitches(), isBroken: undefined, ...change };
  replaceFile(captureFolder("switches.json"), `${JSON.stringify(switches, null, 2)}\n`, 0o600);
}

/** The file that keeps a folder, and those in it, from being captured. */
const IGNORE_FILE = ".svcignore";

/** Why nothing of a session is stored or recalled; undefined: it is. */
export function switchedOff(
  where: { readonly client: string; readonly session: string; readonly folder: string | undefined },
  switches: Switches = readSwitches(),
): string | undefined {
  if (/^(?:0|off|false|no)$/i.test(environment["SVC_CAPTURE"] ?? "")) return "SVC_CAPTURE";
  if (switches.off) return "off";
  if (switches.clients.includes(where.client)) return "client";
  if (switches.sessions.includes(where.session)) return "session";
  if (where.folder === undefined) return undefined;
  const folder = resolve(where.folder);
  if (switches.folders.some((pattern) => isWithin(folder, pattern))) return "folder";
  return isIgnored(folder) ? IGNORE_FILE : undefined;
}

function isWithin(folder: string, pattern: string): boolean {
  const source = pattern
    .replace(/[/\\]+$/, "")
    .split("*")
    .map((part) => RegExp.escape(part))
    .join("[^/\\\\]*");
  return new RegExp(`^${source}(?:[/\\\\]|$)`).test(folder);
}

function isIgnored(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, IGNORE_FILE))) return true;
    if (dirname(at) === at) return false;
  }
}

export type Run = {
  readonly at: string;
  readonly client: string;
  readonly event: string;
  /** Milliseconds since the process started. */
  readonly ms: number;
  /** `stored`, `known`, `forgotten`, `spooled`, `failed:no_pack+spooled`, each also with `+recalled`; `recalled`, `nothing`, `off:<why>`, `failed:<code>`. */
  readonly did: string;
};

const LOG_BYTES = 256 * 1024;

/** Adds to the log; never throws. */
export function logRun(run: Run): void {
  try {
    const file = captureFolder("log.jsonl");
    mkdirSync(captureFolder(), { recursive: true, mode: PRIVATE });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) {
      renameSync(file, `${file}.old`);
    }
    appendFileSync(file, `${JSON.stringify(run)}\n`, { mode: 0o600 });
  } catch {
    // A full disk or a read-only home must not stop an assistant.
  }
}

/** The runs of the last days, oldest first. */
export function readRuns(): readonly Run[] {
  const file = captureFolder("log.jsonl");
  return [`${file}.old`, file].flatMap((path) =>
    linesOf(path).flatMap((line) => {
      const run = parsed(line);
      // SAFETY: only this module writes the file; damaged lines have no time.
      return typeof run["at"] === "string" ? [run as unknown as Run] : [];
    }),
  );
}

/** The memories that a session was shown, and their tokens. */
export type Shown = { readonly ids: readonly string[]; readonly tokens: number };

export function readShown(session: string): Shown {
  let tokens = 0;
  const ids = linesOf(shownFile(session)).flatMap((line) => {
    const [id = "", cost = "0"] = line.split(" ");
    tokens += Number(cost) || 0;
    return id === "" ? [] : [id];
  });
  return { ids, tokens };
}

export function addShown(session: string, ids: readonly string[], tokens: number): void {
  mkdirSync(captureFolder("shown"), { recursive: true, mode: PRIVATE });
  const lines = ids.map((id, at) => `${id} ${at === 0 ? tokens : 0}\n`).join("");
  appendFileSync(shownFile(session), lines, { mode: 0o600 });
}

/** After a compaction a memory may be shown again. The tokens of the session still count. */
export function forgetShown(session: string): void {
  const { tokens } = readShown(session);
  if (tokens === 0) return;
  truncateSync(shownFile(session));
  addShown(session, ["-"], tokens);
}

/** Removes what sessions of earlier weeks were shown. */
export function sweepShown(olderThanMs: number): void {
  for (const name of namesIn(captureFolder("shown"))) {
    const path = captureFolder("shown", name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > olderThanMs)
      rmSync(path, { force: true });
  }
}

function shownFile(session: string): string {
  return captureFolder("shown", short(session));
}

/** Minutes between two sweeps. */
const SWEEP_EVERY = 60;

/** Takes the right to sweep, which one process gets in an hour. */
export function claimSweep(): boolean {
  const marks = namesIn(captureFolder()).filter((name) => name.startsWith("sweep-"));
  const now = Math.floor(Date.now() / 60_000);
  if (marks.some((name) => Math.abs(now - Number(name.slice(6))) < SWEEP_EVERY)) return false;
  try {
    mkdirSync(captureFolder(), { recursive: true, mode: PRIVATE });
    // Atomic: of two that begin at once, one gets it.
    writeNewFile(captureFolder(`sweep-${now}`), "");
  } catch {
    return false;
  }
  for (const name of marks) rmSync(captureFolder(name), { force: true });
  return true;
}

/** Turns that no process could store yet wait in the spool, those that the pack refused among the dead. */
type Tray = "spool" | "dead";

/** A waiting turn, and how to take it away. */
export type Waiting = { readonly turn: Turn; readonly path: string; readonly why: string };

/**
 * Keeps a turn until a process opens the pack. Durable when it returns; repeating it changes nothing.
 * @throws Error on a full disk or in a read-only home
 */
export function spool(mainFile: string, turn: Turn, tray: Tray = "spool", why = ""): void {
  const folder = trayOf(tray, mainFile);
  mkdirSync(folder, { recursive: true, mode: PRIVATE });
  const path = join(folder, `${turn.id}.turn`);
  if (existsSync(path)) return;
  const draft = join(folder, `.${turn.id}.${randomBytes(4).toString("hex")}`);
  try {
    writeNewFile(draft, `${seal(JSON.stringify({ turn, why }))}\n`);
    renameSync(draft, path);
    syncToDisk(folder);
  } finally {
    rmSync(draft, { force: true });
  }
}

export function isWaiting(mainFile: string, tray: Tray = "spool"): boolean {
  try {
    return namesIn(trayOf(tray, mainFile)).some(isTurn);
  } catch {
    // Without a home folder nothing was kept.
    return false;
  }
}

/** The waiting turns of a pack in order of time. A file that cannot be read stays, and is counted. */
export function waiting(
  mainFile: string,
  tray: Tray = "spool",
): { readonly turns: readonly Waiting[]; readonly unreadable: number } {
  const folder = trayOf(tray, mainFile);
  const names = namesIn(folder).filter(isTurn);
  const turns = names.flatMap((name): Waiting[] => {
    const path = join(folder, name);
    try {
      const { turn, why }: Waiting = JSON.parse(open(readFileSync(path, "utf8").trim()));
      return [{ turn, why, path }];
    } catch {
      return [];
    }
  });
  turns.sort((one, other) => (one.turn.at < other.turn.at ? -1 : 1));
  return { turns, unreadable: names.length - turns.length };
}

export function dropWaiting({ path }: Waiting): void {
  rmSync(path, { force: true });
}

function isTurn(name: string): boolean {
  return name.endsWith(".turn");
}

function trayOf(tray: Tray, mainFile: string): string {
  return captureFolder(tray, short(mainFile));
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

const CIPHER = "aes-256-gcm";
const [NONCE, TAG] = [12, 16];

/** Waiting turns are sealed with a key of this user, so that a copy of the folder without the keys says nothing. */
function seal(text: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(CIPHER, spoolKey(), nonce);
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64");
}

function open(sealed: string): string {
  const bytes = Buffer.from(sealed, "base64");
  const decipher = createDecipheriv(CIPHER, spoolKey(), bytes.subarray(0, NONCE));
  decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
  const body = decipher.update(bytes.subarray(NONCE + TAG));
  return Buffer.concat([body, decipher.final()]).toString("utf8");
}

function spoolKey(): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", userSecret(), "", "svc:spool:v1", 32));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
