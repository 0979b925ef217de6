import { randomBytes } from "node:crypto";
import { linkSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";

/** How often two processes may meet at the address before one of them goes its own way. */
const TRIES = 5;
/** Milliseconds after which a socket that does not connect counts as of no use. */
const CONNECT_MS = 1000;

/** What became of a process at the address of a pack. */
export type Meeting =
  /** Somebody serves the pack. */
  | { readonly role: "guest"; readonly socket: Socket }
  /** Nobody did; from now on this process does. */
  | { readonly role: "host"; readonly seat: Seat }
  /** The address cannot be used; the pack can be opened all the same. */
  | { readonly role: "alone"; readonly reason: string };

/** The address of a pack, held by this process. */
export type Seat = {
  /** Who connects, from the first one on, also those who came before this was called. Sockets are paused. */
  receive(guest: (socket: Socket) => void): void;
  /** Frees the address and takes no more connections. Those that stand are left alone. Idempotent. */
  leave(): void;
};

/**
 * Connects to whoever serves a pack, or takes the place when it is empty or was left by a process that is gone. Two
 * processes that come at the same moment get one place: the address is made in one step, and only then does it exist.
 * No file of another user is touched or spoken to.
 */
export async function meet(address: string): Promise<Meeting> {
  if (process.platform === "win32") return alone("local sockets are not used on this system");
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const owner = ownerOf(address);
      if (owner === undefined) {
        const seat = await take(address);
        if (seat !== undefined) return { role: "host", seat };
        continue;
      }
      if (owner !== process.getuid?.()) return alone("the socket belongs to another user");
      const socket = await connect(address);
      if (socket !== undefined) return { role: "guest", socket };
      removeStale(address);
    }
    return alone("the socket is taken and given up again and again");
  } catch (error) {
    return alone(error instanceof Error ? error.message : String(error));
  }
}

function alone(reason: string): Meeting {
  return { role: "alone", reason };
}

/** The user of the file at the address; undefined when there is none. */
function ownerOf(address: string): number | undefined {
  return lstatSync(address, { throwIfNoEntry: false })?.uid;
}

function removeStale(address: string): void {
  const stat = lstatSync(address, { throwIfNoEntry: false });
  // Whatever else has this name was not left behind by a process of ours.
  if (stat === undefined || !stat.isSocket()) return;
  unlinkIfThere(address);
}

function connect(address: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection(address);
    const timer = setTimeout(() => give(undefined), CONNECT_MS);
    const give = (found: Socket | undefined): void => {
      clearTimeout(timer);
      socket.off("error", onError);
      if (found === undefined) socket.destroy();
      resolve(found);
    };
    const onError = (): void => give(undefined);
    socket.on("error", onError);
    socket.once("connect", () => {
      socket.pause();
      give(socket);
    });
  });
}

/** @returns undefined when somebody else was faster */
async function take(address: string): Promise<Seat | undefined> {
  const folder = dirname(address);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Made under a name of its own, with its permission, and only then put into place.
  const own = `${address}.${randomBytes(4).toString("hex")}`;
  const waiting: Socket[] = [];
  let receiver = (socket: Socket): void => {
    waiting.push(socket);
  };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    // Whoever listens later hears of it by the closing.
    socket.on("error", () => undefined);
    receiver(socket);
  });
  await listen(server, own);
  try {
    linkSync(own, address);
  } catch (error) {
    server.close();
    unlinkIfThere(own);
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    throw error;
  }
  const inode = lstatSync(address).ino;
  unlinkIfThere(own);
  return {
    receive: (guest) => {
      receiver = guest;
      for (const socket of waiting.splice(0)) guest(socket);
    },
    leave: () => {
      // Somebody who took this process for gone may hold the address by now.
      if (lstatSync(address, { throwIfNoEntry: false })?.ino === inode) unlinkIfThere(address);
      if (server.listening) server.close();
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // For this user alone, from the first moment on.
    const mask = process.umask(0o177);
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
    process.umask(mask);
  });
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
