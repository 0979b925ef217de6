/** Keeps other programs of this user from the keys of this process. */
import { dlopen, ptr } from "bun:ffi";

/** As `prctl` of Linux and `setrlimit` name them. */
const PR_SET_DUMPABLE = 4;
const RLIMIT_CORE = 4;

/**
 * From now on there is no core dump of this process, and on Linux no other process of its user reads its memory or the environment
 * that it was started with. Opening an encrypted pack does the same, but a process that only joins another one opens none. On Windows the
 * system writes no dump unless its user has asked for that.
 */
export function protectProcess(): void {
  if (process.platform === "win32") return;
  const isMac = process.platform === "darwin";
  try {
    const { symbols, close } = dlopen(isMac ? "libSystem.B.dylib" : "libc.so.6", {
      setrlimit: { args: ["int", "ptr"], returns: "int" },
    });
    symbols.setrlimit(RLIMIT_CORE, ptr(new BigUint64Array(2)));
    close();
    if (isMac) return;
    const linux = dlopen("libc.so.6", {
      prctl: { args: ["int", "u64", "u64", "u64", "u64"], returns: "int" },
    });
    linux.symbols.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    linux.close();
  } catch {
    // Another C library: opening the pack protects what opens one.
  }
}
