import type { Socket } from "node:net";
import type { Log } from "../../contract/core/log.ts";
import { type Guest, isStranger, type Kin, receive } from "./handshake.ts";
import { BYE } from "./relay.ts";
import type { Seat } from "./rendezvous.ts";

/** Milliseconds for answering running calls. */
const LEAVE_MS = 10_000;
/** Milliseconds for guests to end their side. A running one does so at once; stopped ones are not waited for. */
const END_MS = 1500;
/** Milliseconds for a guest to read the rest of its data. */
const PART_MS = 2000;

export type ServedGuest = {
  /** Resolves when nothing more is read or written. */
  readonly ended: Promise<void>;
};

export type HostDeps = {
  readonly seat: Seat;
  readonly kin: Kin;
  /** Speaks MCP on a connection. */
  readonly serve: (guest: Guest, socket: Socket) => ServedGuest;
  readonly log: Log;
  /** Milliseconds for everything that a guest has to send before it is served. Default: 5 s. */
  readonly patienceMs?: number | undefined;
};

export type Host = {
  /** Frees the address, answers running calls (bounded), closes the connections to all guests. Idempotent. */
  leave(): Promise<void>;
};

/** Serves the processes that connect to the address of a pack. */
export function hostGuests(deps: HostDeps): Host {
  const { seat, kin, serve, log, patienceMs } = deps;
  const open = new Set<Socket>();
  const served = new Map<Socket, Promise<void>>();
  let isLeaving = false;
  const take = async (socket: Socket): Promise<void> => {
    if (await isStranger(socket)) throw new Error("it is another user's");
    const guest = await receive(socket, kin, patienceMs);
    if (guest === undefined || isLeaving) return;
    const gone = closing(socket);
    // A guest that has gone does not read its answers.
    const over = Promise.race([serve(guest, socket).ended, gone]);
    served.set(socket, over);
    await over;
  };
  seat.receive((socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      served.delete(socket);
    });
    take(socket)
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        log("info", `a connection to the socket came to nothing: ${reason}`);
      })
      .finally(() => part(socket));
  });
  const leave = async (): Promise<void> => {
    isLeaving = true;
    seat.leave();
    for (const socket of open) {
      if (served.has(socket)) socket.write(`${BYE}\n`);
      else socket.destroy();
    }
    const timer = setTimeout(() => {
      for (const socket of served.keys()) if (!socket.readableEnded) socket.destroy();
    }, END_MS);
    await settledWithin([...served.values()], LEAVE_MS);
    clearTimeout(timer);
    await settledWithin([...open].map(closing), PART_MS);
    for (const socket of open) socket.destroy();
  };
  let leaving: Promise<void> | undefined;
  return {
    leave: () => {
      leaving ??= leave();
      return leaving;
    },
  };
}

/** Ends a connection once everything is sent, or after a short time. */
function part(socket: Socket): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), PART_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.destroySoon();
}

function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once("close", () => resolve());
  });
}

async function settledWithin(work: readonly Promise<unknown>[], ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([Promise.allSettled(work), late]);
  clearTimeout(timer);
}
