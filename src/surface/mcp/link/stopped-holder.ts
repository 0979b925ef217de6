import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/**
 * Wakes (SIGCONT) the process that listens at an address if a signal stopped it while it has a file locked for writing: it then
 * keeps everybody from the pack, including processes that take its place. A stopped process that blocks nobody is left alone.
 * Linux only; elsewhere, and for processes that are not visible here, nothing happens. Never throws.
 */
export function wakeStoppedHolder(address: string): void {
  try {
    const sockets = socketsAt(address, readFileSync("/proc/net/unix", "utf8"));
    if (sockets.size === 0) return;
    const holders = writersIn(readFileSync("/proc/locks", "utf8")).filter((pid) =>
      isStoppedWith(pid, sockets),
    );
    for (const pid of holders) process.kill(pid, "SIGCONT");
  } catch {
    // There is no such list here, or the process continued by itself.
  }
}

/**
 * The listening sockets at an address, as `/proc/PID/fd` shows them. A listed path is the one under which a socket was created,
 * before it was put in place.
 */
function socketsAt(address: string, list: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of list.split("\n")) {
    // Slot, count, protocol, flags (this one: listens), type, state, inode, path.
    const [, inode, path = ""] = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/.exec(line) ?? [];
    const rest = path.startsWith(address) ? path.slice(address.length) : undefined;
    if (rest !== undefined && /^(?:\.[0-9a-f]{8})?$/.test(rest)) found.add(`socket:[${inode}]`);
  }
  return found;
}

/** Processes that hold a write lock; waiting ones are listed in another form. */
function writersIn(locks: string): readonly number[] {
  const pids = [...locks.matchAll(/^\d+: POSIX +\S+ +WRITE (\d+) /gm)].map(([, pid]) =>
    Number(pid),
  );
  return [...new Set(pids)].filter((pid) => pid > 0);
}

/** Stopped by a signal, not by a debugger, which must decide for itself. */
function isStoppedWith(pid: number, sockets: ReadonlySet<string>): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    if (!stat.slice(stat.lastIndexOf(")")).startsWith(") T ")) return false;
    return holdsAny(pid, sockets) ?? isSameProgram(pid);
  } catch {
    // It has gone, or belongs to another user.
    return false;
  }
}

/** Undefined if the system hides it even from its own user, as it does for a process that has an encrypted pack open. */
function holdsAny(pid: number, sockets: ReadonlySet<string>): boolean | undefined {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => sockets.has(readlinkSync(`${folder}/${name}`)));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EACCES") return undefined;
    throw error;
  }
}

function isSameProgram(pid: number): boolean {
  const [own, other] = ["self", pid].map((name) => readFileSync(`/proc/${name}/comm`, "utf8"));
  return own === other;
}
