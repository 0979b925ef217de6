import { delimiter, isAbsolute } from "node:path";
import type { Environment } from "./child-process.ts";

/** The absolute path of a program. Folders that depend on the working directory are left out: it may be anybody's. */
export function findProgram(name: string, environment: Environment): string | undefined {
  const folders = (environment["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder));
  const path = Bun.which(name, { PATH: folders.join(delimiter), cwd: "/" });
  return path !== null && isAbsolute(path) ? path : undefined;
}
