import { homedir } from "node:os";
import { resolve } from "node:path";
import { workingFolder } from "../config/path.ts";

/** The command line that starts this program again, the executable's absolute path first. */
export const SELF: readonly [string, ...string[]] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, resolve(import.meta.dir, "../main.ts")];

/** What decides where the files of assistants are. */
export type Surroundings = {
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  readonly home: string;
  /** The working directory, which is the current project. Absolute. */
  readonly folder: string;
};

/** The surroundings of this process. */
export function surroundings(): Surroundings {
  const { platform, env: environment } = process;
  return { platform, environment, home: homedir(), folder: workingFolder() };
}
