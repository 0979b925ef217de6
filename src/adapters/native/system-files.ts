import { closeSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { IS_WINDOWS } from "./platform.ts";

/** Windows: what a file answers that a scanner or an index service has just opened; it lets go within a moment. */
export const PASSING = ["EBUSY", "EPERM", "EACCES"];
/** Milliseconds between two tries, and how many there are: one and a half seconds in all. */
const PAUSE_MS = 50;
const TRIES = 30;

/**
 * Waits until the content of a file, or the names in a folder, are on disk. Never use it on a file that this process has open in
 * SQLite: closing a descriptor of it would drop SQLite's locks. Windows writes names to its own log and refuses to flush folders.
 */
export function syncToDisk(path: string): void {
  if (IS_WINDOWS && statSync(path).isDirectory()) return;
  const descriptor = openSync(path, IS_WINDOWS ? "r+" : "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives a file another name, replacing what has that name. Where another program holds it open for a moment, it waits. */
export function renameFile(from: string, to: string): void {
  retryWhile(IS_WINDOWS ? PASSING : [], () => renameSync(from, to));
}

/** Calls again, for a while, what fails with one of these codes. @throws the last failure */
export function retryWhile(codes: readonly string[], change: () => void): void {
  for (let tries = 1; ; tries += 1) {
    try {
      change();
      return;
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (!codes.includes(code) || tries === TRIES) throw error;
      Bun.sleepSync(PAUSE_MS);
    }
  }
}
