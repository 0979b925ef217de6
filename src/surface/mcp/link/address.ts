import { createHash } from "node:crypto";
import { lstatSync, mkdirSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { folderComplaint } from "./socket-file.ts";

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where processes of this user meet: the session's runtime folder, else one in the folder of configuration. Assistants pass on
 * few variables, so the usual place of the runtime folder is checked, too.
 * @param own folder of this user's configuration of the program, which may not exist
 */
export function socketFolder(environment: Environment, own: string): string {
  const user = process.getuid?.() ?? 0;
  const session = environment["XDG_RUNTIME_DIR"] ?? `/run/user/${user}`;
  const isUsable =
    isAbsolute(session) &&
    lstatSync(session, { throwIfNoEntry: false }) !== undefined &&
    folderComplaint(session, user) === undefined;
  return isUsable ? join(session, "svc") : join(own, "run");
}

/**
 * Where the processes of one pack meet: a socket in a folder of this user.
 * @param mainFile absolute, without links, so that one pack has one address
 */
export function socketAddress(folder: string, mainFile: string): string {
  const name = createHash("sha256").update(mainFile).digest("hex").slice(0, 24);
  return join(folder, `${name}.sock`);
}

/**
 * Where the processes of one pack meet on Windows: a named pipe. Every user may use any name there, so this one can only be
 * computed by who knows the secret; who listens has to prove that all the same.
 */
export function pipeAddress(secret: string, mainFile: string): string {
  const name = createHash("sha256")
    .update(JSON.stringify([secret, mainFile]))
    .digest("hex");
  return `\\\\.\\pipe\\svc-${name.slice(0, 32)}`;
}

/** Creates the folder of an address, for this user alone. */
export function makeSocketFolder(address: string): void {
  mkdirSync(dirname(address), { recursive: true, mode: 0o700 });
}
