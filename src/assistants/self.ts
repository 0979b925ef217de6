import { resolve } from "node:path";

/** The command line that starts this program again, the executable's absolute path first. */
export const SELF: readonly [string, ...string[]] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, resolve(import.meta.dir, "../main.ts")];
