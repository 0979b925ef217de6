import type { Database } from "bun:sqlite";
import { closeSync, openSync, readSync } from "node:fs";
import { SvcError } from "../../domain/errors.ts";

/** A library for SQLite to load. */
export type Extension = {
  /** Its name in messages. */
  readonly title: string;
  /** Absolute path. */
  readonly path: string;
  readonly entry: string;
};

/**
 * Loads a library on a connection. @throws SvcError `internal` (`data.path`) that names the file and the cause in one line
 */
export function loadInto(database: Database, { title, path, entry }: Extension): void {
  try {
    database.loadExtension(path, entry);
  } catch (cause) {
    throw loadFailure(title, path, cause);
  }
}

/** An error of one line that names an unusable library and the reason. Its `data.path` is the file. */
export function loadFailure(title: string, path: string, cause: unknown): SvcError {
  const reason = reasonFor(path, cause).replaceAll("\n", " ");
  const remedy = FORBIDDEN.test(reason)
    ? "; the system forbids code from there (noexec, SELinux): set XDG_CACHE_HOME to a folder where it may run"
    : "";
  const message = `the ${title} cannot be loaded (${path}: ${reason})${remedy}`;
  return new SvcError("internal", message, { path }, { cause });
}

/** How loaders say that a folder or a policy lets no code run. */
const FORBIDDEN = /failed to map segment|not permitted|permission denied/i;

/** SQLite reports its second attempt, under a name with another suffix. Ask the system's loader for its own message. */
function reasonFor(path: string, cause: unknown): string {
  const machine = elfMachine(path);
  const own = ELF_MACHINES[process.arch];
  if (machine !== undefined && own !== undefined && machine !== own) {
    return `it is for another processor than ${process.arch}`;
  }
  try {
    process.dlopen({ exports: {} }, path);
  } catch (error) {
    const words = error instanceof Error ? error.message : "";
    // Otherwise it was loaded, but is not a Node module.
    if (words.startsWith(`${path}: `)) return words.slice(path.length + 2);
  }
  return cause instanceof Error ? cause.message : "unknown failure";
}

const ELF_MACHINES: Readonly<Record<string, number>> = { x64: 62, arm64: 183 };

/** The processor that an ELF file is for; undefined for any other file. */
function elfMachine(path: string): number | undefined {
  const head = Buffer.alloc(20);
  try {
    const file = openSync(path, "r");
    readSync(file, head);
    closeSync(file);
  } catch {
    return undefined;
  }
  return head.toString("latin1", 0, 4) === "\x7fELF" ? head.readUInt16LE(18) : undefined;
}
