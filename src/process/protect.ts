/** Keeps other programs of this user from the keys of this process. */
import { dlopen, ptr } from "bun:ffi";

/** As `prctl` of Linux and `setrlimit` name them. */
const PR_SET_DUMPABLE = 4;
const RLIMIT_CORE = 4;

/**
 * Disables core dumps of this process, and on Linux keeps other processes of its user from reading its memory or initial environment.
 * Opening an encrypted pack does the same, but a process that only joins another one opens none. On Windows the system writes dumps only on
 * request.
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
    // Another C library: opening the pack protects processes that open one.
  }
}
