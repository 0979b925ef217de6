import { linkSync, unlinkSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { makeSocketFolder } from "./address.ts";
import {
  type FileMark,
  findFile,
  folderComplaint,
  hasCode,
  passingFiles,
  passingName,
  removeFile,
  whenThere,
} from "./socket-file.ts";

/** How often two processes may meet at the address before one of them goes its own way. */
const TRIES = 5;
/** Milliseconds after which a socket that does not connect counts as of no use. */
const CONNECT_MS = 1000;

/** What became of a process at the address of a pack. */
export type Meeting =
  /** Somebody serves the pack. */
  | {
      readonly role: "guest";
      readonly socket: Socket;
      /** Frees the address of who was met there and does not answer, unless somebody else has it by now. */
      readonly evict: () => void;
    }
  /** Nobody did; from now on this process does. */
  | { readonly role: "host"; readonly seat: Seat }
  /** The address cannot be used; the pack can be opened all the same. */
  | { readonly role: "alone"; readonly reason: string };

/** The address of a pack, held by this process. */
export type Seat = {
  readonly address: string;
  /** Who connects, from the first one on, also those who came before this was called. Sockets are paused. */
  receive(guest: (socket: Socket) => void): void;
  /**
   * Frees the address, takes no more connections and ends those that nobody received. The others are left alone.
   * Idempotent; happens by itself when the process ends in an orderly way.
   */
  leave(): void;
};

/**
 * Connects to whoever serves a pack, or takes the place when it is empty or was left by a process that is gone. Two
 * processes that come at the same moment get one place: the address is made in one step, and only then does it exist.
 * No file of another user is touched or spoken to, and none where another user could put one in its place.
 * @param user number of the user that this process runs as
 */
export async function meet(address: string, user: number = ownUser()): Promise<Meeting> {
  if (process.platform === "win32") return alone("local sockets are not used on this system");
  try {
    makeSocketFolder(address);
    const complaint = folderComplaint(dirname(address), user);
    if (complaint !== undefined) return alone(`the socket is not used: ${complaint}`);
    for (let tries = 0; tries < TRIES; tries += 1) {
      const meeting = await meetOnce(address, user);
      if (meeting !== undefined) return meeting;
    }
    return alone("the socket is taken and given up again and again");
  } catch (error) {
    return alone(error instanceof Error ? error.message : String(error));
  }
}

/** @returns undefined when the address has changed meanwhile */
async function meetOnce(address: string, user: number): Promise<Meeting | undefined> {
  const found = findFile(address);
  if (found === undefined) {
    const seat = await take(address);
    return seat && { role: "host", seat };
  }
  if (found.owner !== user) return alone("the socket belongs to another user");
  if (!found.isSocket) return alone("the name of the socket is that of another file");
  const evict = (): void => removeIfPossible(address, found.mark);
  const connection = await connect(address);
  switch (connection.outcome) {
    case "connected":
      return { role: "guest", socket: connection.socket, evict };
    case "refused":
      // Nobody listens: it was left behind.
      evict();
      return undefined;
    case "gone":
      return undefined;
    case "failed":
      return alone(`the socket cannot be used: ${connection.reason}`);
  }
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
  /** The file is no more, or whoever listened stopped just now. */
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
    // For good: who has the socket hears of its end by the closing.
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

/** @returns undefined when somebody else was faster */
async function take(address: string): Promise<Seat | undefined> {
  // Made under a name of its own, with its permission, and only then put into place.
  const own = passingName(address);
  const waiting = new Set<Socket>();
  let receiver = (socket: Socket): void => {
    waiting.add(socket);
  };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    // Whoever listens later hears of it by the closing.
    socket.on("error", () => undefined);
    receiver(socket);
  });
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
  const leave = (): void => {
    process.off("exit", leave);
    // Somebody who took this process for gone may hold the address by now.
    removeIfPossible(address, mark);
    if (server.listening) server.close();
    for (const socket of waiting) socket.destroy();
    waiting.clear();
  };
  process.once("exit", leave);
  await sweep(address);
  return {
    address,
    receive: (guest) => {
      receiver = guest;
      for (const socket of waiting) guest(socket);
      waiting.clear();
    },
    leave,
  };
}

/** One step: of several processes that try, one has the address. */
function isPutInPlace(own: string, address: string): boolean {
  try {
    linkSync(own, address);
    return true;
  } catch (error) {
    // ENOENT: it was taken for left behind, in the moment before it listened.
    if (hasCode(error, "EEXIST") || hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** Removes what processes left behind that ended while they took their place or gave it up. */
async function sweep(address: string): Promise<void> {
  for (const path of passingFiles(address)) {
    const found = findFile(path);
    if (!found?.isSocket || found.owner !== ownUser()) continue;
    const connection = await connect(path);
    if (connection.outcome === "connected") connection.socket.destroy();
    if (connection.outcome === "refused") removeIfPossible(path, found.mark);
  }
}

/** A socket that nobody answers on is in nobody's way: the next process at the address removes it. */
function removeIfPossible(path: string, mark: FileMark): void {
  try {
    removeFile(path, mark);
  } catch {
    // The folder may be gone, or be closed to changes by now.
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // For this user alone, from the first moment on.
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
