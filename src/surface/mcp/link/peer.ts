import type { Socket } from "node:net";

/** `getsockopt` of Linux: level, option, bytes of pid, uid and gid. */
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const CREDENTIALS = 12;

/** Whether the other end of a connection is certainly held by another user. */
export async function isStranger(socket: Socket): Promise<boolean> {
  const peer = await peerUser(socket);
  return peer !== undefined && peer !== process.getuid?.();
}

/**
 * Number of the user who holds the other end of a local connection, according to the system; undefined if the system does not
 * say.
 */
export async function peerUser(socket: Socket): Promise<number | undefined> {
  const file = fileOf(socket);
  if (file === undefined) return undefined;
  try {
    return process.platform === "darwin" ? await onMac(file) : await onLinux(file);
  } catch {
    // The library or call does not exist here: the proof alone decides.
    return undefined;
  }
}

/** The runtime does not declare the file descriptor of a socket. */
function fileOf(socket: Socket): number | undefined {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined;
  if (typeof handle !== "object" || handle === null || !("fd" in handle)) return undefined;
  return typeof handle.fd === "number" && handle.fd >= 0 ? handle.fd : undefined;
}

async function onLinux(file: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const { dlopen, ptr } = await import("bun:ffi");
  const declared = { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" } as const;
  const library = dlopen("libc.so.6", { getsockopt: declared });
  const credentials = new Uint32Array(CREDENTIALS / 4);
  const length = new Uint32Array([CREDENTIALS]);
  const { getsockopt } = library.symbols;
  const result = getsockopt(file, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(length));
  return result === 0 && length[0] === CREDENTIALS ? credentials[1] : undefined;
}

async function onMac(file: number): Promise<number | undefined> {
  const { dlopen, ptr } = await import("bun:ffi");
  const declared = { args: ["i32", "ptr", "ptr"], returns: "i32" } as const;
  const library = dlopen("libSystem.B.dylib", { getpeereid: declared });
  const [user, group] = [new Uint32Array(1), new Uint32Array(1)];
  return library.symbols.getpeereid(file, ptr(user), ptr(group)) === 0 ? user[0] : undefined;
}
