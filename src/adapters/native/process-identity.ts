import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Identifies a process so that another one can find out whether it is still alive: host, boot, process id, start time. A process id alone
 * does not suffice, because the system reuses it.
 */
export function processIdentity(): string {
  return [hostname(), bootId(), process.pid, startTime(process.pid) ?? "?"].join("|");
}

/** True if the process is certainly gone; a process of another host counts as alive. */
export function isGone(identity: string): boolean {
  const [host, boot, pid, start] = identity.split("|");
  if (host !== hostname()) return false;
  return boot !== bootId() || isOver(Number(pid), (now) => start === "?" || now === start);
}

/** Whether a process id is unused, or belongs to a process with another start time. */
function isOver(pid: number, isStart: (ticks: string) => boolean): boolean {
  if (!isRunning(pid)) return true;
  const now = startTime(pid);
  return now !== undefined && !isStart(now);
}

const TAG = /^([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{6})([0-9a-f]{10})[0-9a-f]{8}$/;

/**
 * A process identity as 32 unique hexadecimal digits, short enough for a file name, so that another process can tell whether the file is
 * still being written.
 */
export function processTag(): string {
  const pid = process.pid.toString(16).padStart(6, "0");
  const start = startDigits(startTime(process.pid));
  return `${shortHash(hostname())}${shortHash(bootId())}${pid}${start}${randomBytes(4).toString("hex")}`;
}

/** Like `isGone`, for a tag. */
export function isTagGone(tag: string): boolean {
  const [, host, boot, pid = "", start] = TAG.exec(tag) ?? [];
  if (host !== shortHash(hostname())) return false;
  if (boot !== shortHash(bootId())) return true;
  return isOver(Number.parseInt(pid, 16), (now) => start === startDigits(now));
}

function startDigits(ticks: string | undefined): string {
  return BigInt(ticks ?? 0)
    .toString(16)
    .padStart(10, "0")
    .slice(-10);
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 4);
}

function bootId(): string {
  return readText("/proc/sys/kernel/random/boot_id") ?? "?";
}

/** Start time of the process in clock ticks after boot, if available (Linux). */
function startTime(pid: number): string | undefined {
  // The second field is the command in parentheses and may contain anything; the fields after it are fixed.
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not Linux, or the process has ended meanwhile.
    return undefined;
  }
}

/** Whether a process of this system has that id. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

const works = new Set<() => void>();

/** Runs work when the process ends by itself or by `process.exit`; failures are ignored. @returns a function that cancels it */
export function atExit(work: () => void): () => void {
  if (works.size === 0) process.on("exit", runAll);
  works.add(work);
  return () => {
    works.delete(work);
    if (works.size === 0) process.off("exit", runAll);
  };
}

function runAll(): void {
  for (const work of works) {
    try {
      work();
    } catch {
      // The process is ending.
    }
  }
}
