import { createHash, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/**
 * Names a process so that another one can tell whether it still lives: host, boot, process id, start time.
 * A process id alone is not enough, because the system hands it out again.
 */
export function processIdentity(): string {
  return [hostname(), bootId(), process.pid, startTime(process.pid) ?? "?"].join("|");
}

/** True when the named process is certainly gone; a process of another host counts as living. */
export function isGone(identity: string): boolean {
  const [host, boot, pid, start] = identity.split("|");
  if (host !== hostname()) return false;
  if (boot !== bootId()) return true;
  if (!isRunning(Number(pid))) return true;
  const now = startTime(Number(pid));
  return now !== undefined && start !== "?" && now !== start;
}

const TAG = /^([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{6})([0-9a-f]{10})[0-9a-f]{8}$/;

/**
 * 32 hexadecimal digits, never the same twice, that name this process by host, boot, process id and start time: short
 * enough for the name of a file, so that another process can tell from it whether the file is still being written.
 */
export function processTag(): string {
  const pid = process.pid.toString(16).padStart(6, "0");
  const start = startDigits(startTime(process.pid));
  return `${shortHash(hostname())}${shortHash(bootId())}${pid}${start}${randomBytes(4).toString("hex")}`;
}

/** As `isGone`, for a tag. */
export function isTagGone(tag: string): boolean {
  const [, host, boot, pid = "", start] = TAG.exec(tag) ?? [];
  if (host !== shortHash(hostname())) return false;
  if (boot !== shortHash(bootId())) return true;
  const id = Number.parseInt(pid, 16);
  if (!isRunning(id)) return true;
  const now = startTime(id);
  return now !== undefined && start !== startDigits(now);
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

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs as another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function bootId(): string {
  return readText("/proc/sys/kernel/random/boot_id") ?? "?";
}

/** Clock ticks after boot at which the process began, where the system tells (Linux). */
function startTime(pid: number): string | undefined {
  // The second field is the command in parentheses and may hold anything; the fields after it are fixed.
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    // Not Linux, or the process ended meanwhile.
    return undefined;
  }
}
