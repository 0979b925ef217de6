import { createHash, randomBytes } from "node:crypto";
import { linkSync, lstatSync, mkdirSync, readdirSync, renameSync, unlinkSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { basename, dirname, isAbsolute, join } from "node:path";

/** How often two processes may collide at the address before one of them gives up on it. */
const TRIES = 5;
/** Milliseconds after which a socket that does not connect counts as unusable. */
const CONNECT_MS = 1000;

/** What a process found at the address of a pack. */
export type Meeting =
  /** Another process serves the pack. */
  | { readonly role: "guest"; readonly socket: Socket }
  /** No process did; now this one does. */
  | { readonly role: "host"; readonly seat: Seat }
  /** The address cannot be used; the pack can still be opened. */
  | { readonly role: "alone"; readonly reason: string };

/** The address of a pack, held by this process. */
export type Seat = {
  readonly address: string;
  /** Receives connections, including those made before this call. Sockets are paused. */
  receive(guest: (socket: Socket) => void): void;
  /**
   * Frees the address, accepts no more connections and ends those not yet received. The others stay. Idempotent; happens automatically when
   * the process exits normally.
   */
  leave(): void;
};

/**
 * Connects to the process that serves a pack, or takes its place if it is free or was left by a process that has gone. If two processes
 * arrive at once, one gets it: the address is created atomically. Files of other users, or replaceable by them, are never touched or
 * connected to.
 * @param user number of the user that this process runs as
 */
export async function meet(address: string, user: number = ownUser()): Promise<Meeting> {
  const isPipe = address.startsWith("\\\\.\\pipe\\");
  try {
    if (!isPipe) mkdirSync(dirname(address), { recursive: true, mode: 0o700 });
    const complaint = isPipe ? undefined : folderComplaint(dirname(address), user);
    if (complaint !== undefined) return alone(`the socket is not used: ${complaint}`);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const meeting = await (isPipe ? meetAtPipe(address) : meetOnce(address, user));
      if (meeting !== undefined) return meeting;
    }
    return alone("the socket is taken and given up again and again");
  } catch (error) {
    return alone(error instanceof Error ? error.message : String(error));
  }
}

/** Connects to the process that serves a pack, and takes no place if there is none. */
export async function reach(
  address: string,
  user: number = ownUser(),
): Promise<Socket | undefined> {
  if (!address.startsWith("\\\\.\\pipe\\")) {
    const found = findFile(address);
    if (!found?.isSocket || found.owner !== user) return undefined;
    if (folderComplaint(dirname(address), user) !== undefined) return undefined;
  }
  const connection = await connect(address);
  return connection.outcome === "connected" ? connection.socket : undefined;
}

/** @returns undefined if the address has changed meanwhile */
async function meetOnce(address: string, user: number): Promise<Meeting | undefined> {
  const found = findFile(address);
  if (found === undefined) {
    const seat = await take(address);
    return seat && { role: "host", seat };
  }
  if (found.owner !== user) return alone("the socket belongs to another user");
  if (!found.isSocket) return alone("the name of the socket is that of another file");
  const connection = await connect(address);
  switch (connection.outcome) {
    case "connected":
      return { role: "guest", socket: connection.socket };
    case "refused":
      // No listener: a leftover.
      removeIfPossible(address, found.mark);
      return undefined;
    case "gone":
      return undefined;
    case "failed":
      return alone(`the socket cannot be used: ${connection.reason}`);
  }
}

/** The system removes the name of a pipe with the process that listens there. @returns undefined if it has changed meanwhile */
async function meetAtPipe(address: string): Promise<Meeting | undefined> {
  const connection = await connect(address);
  if (connection.outcome === "connected") {
    return { role: "guest", socket: connection.socket };
  }
  if (connection.outcome === "failed")
    return alone(`the pipe cannot be used: ${connection.reason}`);
  const door = openDoor();
  try {
    await listen(door.server, address);
  } catch (error) {
    // Another process was faster.
    if (hasCode(error, "EADDRINUSE") || hasCode(error, "EACCES")) return undefined;
    throw error;
  }
  return { role: "host", seat: door.seatAt(address, () => undefined) };
}

function ownUser(): number {
  return process.getuid?.() ?? 0;
}

function alone(reason: string): Meeting {
  return { role: "alone", reason };
}

type Connection =
  | { readonly outcome: "connected"; readonly socket: Socket }
  | { readonly outcome: "refused" }
  /** The file no longer exists, or its listener has just stopped. */
  | { readonly outcome: "gone" }
  | { readonly outcome: "failed"; readonly reason: string };

function connect(address: string): Promise<Connection> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const give = (connection: Connection): void => {
      clearTimeout(timer);
      if (connection.outcome !== "connected") socket.destroy();
      resolve(connection);
    };
    const timer = setTimeout(() => give({ outcome: "failed", reason: "no answer" }), CONNECT_MS);
    // Permanent handler: the receiver of the socket notices its end by the close event.
    socket.on("error", (error) => {
      if (hasCode(error, "ECONNREFUSED")) give({ outcome: "refused" });
      else if (isLeft(error)) give({ outcome: "gone" });
      else give({ outcome: "failed", reason: error.message });
    });
    socket.once("connect", () => {
      socket.pause();
      give({ outcome: "connected", socket });
    });
  });
}

function isLeft(error: Error): boolean {
  return ["ENOENT", "ECONNRESET", "EPIPE"].some((code) => hasCode(error, code));
}

/** @returns undefined if another process was faster */
async function take(address: string): Promise<Seat | undefined> {
  // Created under its own name, with its permissions, and only then put in place.
  const own = passingName(address);
  const door = openDoor();
  const { server } = door;
  await listen(server, own);
  const mark = findFile(own)?.mark;
  let isOurs = false;
  try {
    isOurs = mark !== undefined && isPutInPlace(own, address);
  } finally {
    if (!isOurs) server.close();
    whenThere(() => unlinkSync(own));
  }
  if (mark === undefined || !isOurs) return undefined;
  // A process that assumed this one had gone may hold the address by now.
  const seat = door.seatAt(address, () => removeIfPossible(address, mark));
  await sweep(address);
  return seat;
}

type Door = {
  readonly server: Server;
  /** The address of a listening server. @param free gives up its address */
  seatAt(address: string, free: () => void): Seat;
};

/** A server whose connections wait until they are received. */
function openDoor(): Door {
  const waiting = new Set<Socket>();
  let receiver = (socket: Socket): void => {
    waiting.add(socket);
  };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    // A later listener notices it by the close event.
    socket.on("error", () => undefined);
    receiver(socket);
  });
  const seatAt = (address: string, free: () => void): Seat => {
    const leave = (): void => {
      process.off("exit", leave);
      free();
      if (server.listening) server.close();
      for (const socket of waiting) socket.destroy();
      waiting.clear();
    };
    process.once("exit", leave);
    const receive = (guest: (socket: Socket) => void): void => {
      receiver = guest;
      for (const socket of waiting) guest(socket);
      waiting.clear();
    };
    return { address, receive, leave };
  };
  return { server, seatAt };
}

/** Atomic: of several processes that try, one gets the address. */
function isPutInPlace(own: string, address: string): boolean {
  try {
    linkSync(own, address);
    return true;
  } catch (error) {
    // ENOENT: another process removed it as a leftover just before it listened.
    if (hasCode(error, "EEXIST") || hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** Removes leftovers of processes that ended while taking or giving up their address. */
async function sweep(address: string): Promise<void> {
  for (const path of passingFiles(address)) {
    const found = findFile(path);
    if (!found?.isSocket || found.owner !== ownUser()) continue;
    const connection = await connect(path);
    if (connection.outcome === "connected") connection.socket.destroy();
    if (connection.outcome === "refused") removeIfPossible(path, found.mark);
  }
}

/** A socket without a listener does no harm: the next process at the address removes it. */
function removeIfPossible(path: string, mark: FileMark): void {
  try {
    removeFile(path, mark);
  } catch {
    // The folder may have been removed or made read-only by now.
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // Private to this user from the start.
    const mask = process.umask(0o177);
    try {
      server.once("error", reject);
      server.listen(path, () => {
        server.off("error", reject);
        resolve();
      });
    } finally {
      process.umask(mask);
    }
  });
}

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where processes of this user meet: the session's runtime folder, else one in the configuration folder. Assistants pass on few variables,
 * so the usual runtime folder is checked too.
 * @param own this user's configuration folder of the program, which may not exist
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
 * Where the processes of one pack meet on Windows: a named pipe. Any user may create any name there, so this one is derived from the
 * secret; the listener still has to prove that it knows it.
 */
export function pipeAddress(secret: string, mainFile: string): string {
  const name = createHash("sha256")
    .update(JSON.stringify([secret, mainFile]))
    .digest("hex");
  return `\\\\.\\pipe\\svc-${name.slice(0, 32)}`;
}

/** Identifies a file regardless of its name: an inode number alone is reused for the next file. */
type FileMark = {
  readonly device: bigint;
  readonly inode: bigint;
  readonly madeAt: bigint;
};

type FoundFile = {
  readonly mark: FileMark;
  readonly isSocket: boolean;
  readonly owner: number;
};

/** The file of that name, without following links; undefined if there is none. */
export function findFile(path: string): FoundFile | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return {
    mark: { device: stat.dev, inode: stat.ino, madeAt: stat.mtimeNs },
    isSocket: stat.isSocket(),
    owner: Number(stat.uid),
  };
}

function isSameFile(one: FileMark, other: FileMark | undefined): boolean {
  return one.device === other?.device && one.inode === other.inode && one.madeAt === other.madeAt;
}

/** Why a folder does not belong to this user alone; undefined if it does. */
function folderComplaint(folder: string, user: number): string | undefined {
  // A link would let another user choose the folder.
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) return "its folder is a link, or no folder";
  if (stat.uid !== user) return "its folder belongs to another user";
  return (stat.mode & 0o077) === 0 ? undefined : "its folder is open to other users";
}

/** A temporary name for a file that is about to be renamed or removed. */
function passingName(path: string): string {
  return `${path}.${randomBytes(4).toString("hex")}`;
}

/** Files with a temporary name of a process that ended, or still runs. */
function passingFiles(path: string): readonly string[] {
  const [folder, name] = [dirname(path), basename(path)];
  return readdirSync(folder)
    .filter(
      (other) => other.startsWith(`${name}.`) && /^[0-9a-f]{8}$/.test(other.slice(name.length + 1)),
    )
    .map((other) => join(folder, other));
}

/** Removes the file of that name if it is still this one, and not a later one of the same name. */
export function removeFile(path: string, mark: FileMark): void {
  if (!isSameFile(mark, findFile(path)?.mark)) return;
  // Checking and removing are two steps. Renaming is one, and can be undone.
  const aside = passingName(path);
  if (!whenThere(() => renameSync(path, aside))) return;
  if (!isSameFile(mark, findFile(aside)?.mark)) giveBack(aside, path);
  whenThere(() => unlinkSync(aside));
}

/** @returns whether there was such a file */
function whenThere(change: () => void): boolean {
  try {
    change();
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

function giveBack(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    // The next one already exists: its process serves new connections.
    if (!hasCode(error, "EEXIST")) throw error;
  }
}
