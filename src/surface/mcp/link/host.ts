import type { Socket } from "node:net";
import type { Log } from "../../contract/log.ts";
import { type Guest, type Kin, receive, type Welcome } from "./hello.ts";
import type { Seat } from "./rendezvous.ts";

/** Says that the server takes nothing more: the guest ends its side after what it has sent, and gets all answers. */
export const BYE = '{"svc":"bye"}';
/** Milliseconds that guests have to end their side, and calls under way to be answered. */
const LEAVE_MS = 10_000;

/** One served connection. */
export type ServedGuest = {
  /** Resolves when nothing more is read or written. */
  readonly ended: Promise<void>;
};

export type HostDeps = {
  readonly seat: Seat;
  readonly kin: Kin;
  readonly welcome: Welcome;
  /** Speaks MCP on a connection. */
  readonly serve: (guest: Guest, socket: Socket) => ServedGuest;
  readonly log: Log;
};

export type Host = {
  /** Frees the address, lets calls under way be answered (bounded), parts with all guests. Idempotent. */
  leave(): Promise<void>;
};

/** Serves the processes that come to the address of a pack. */
export function hostGuests(deps: HostDeps): Host {
  const { seat, kin, welcome, serve, log } = deps;
  const served = new Map<Socket, Promise<void>>();
  let isLeaving = false;
  const take = async (socket: Socket): Promise<void> => {
    const guest = isLeaving ? undefined : await receive(socket, kin, welcome);
    if (guest === undefined || isLeaving) {
      socket.end();
      return;
    }
    const { ended } = serve(guest, socket);
    served.set(socket, ended);
    await ended;
    served.delete(socket);
    socket.end();
  };
  seat.receive((socket) => {
    take(socket).catch((error: unknown) => {
      served.delete(socket);
      socket.destroy();
      log("warn", `a connection ended: ${error instanceof Error ? error.message : String(error)}`);
    });
  });
  let leaving: Promise<void> | undefined;
  const leave = async (): Promise<void> => {
    isLeaving = true;
    seat.leave();
    for (const socket of served.keys()) socket.write(`${BYE}\n`);
    await settledWithin([...served.values()], LEAVE_MS);
    for (const socket of served.keys()) socket.destroy();
  };
  return {
    leave: () => {
      leaving ??= leave();
      return leaving;
    },
  };
}

async function settledWithin(work: readonly Promise<unknown>[], ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([Promise.allSettled(work), late]);
  clearTimeout(timer);
}
