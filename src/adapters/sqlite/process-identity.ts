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
