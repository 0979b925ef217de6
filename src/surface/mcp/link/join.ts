import type { Socket } from "node:net";
import { type Guest, introduce, type Kin, kinAt, NotKin, Silent } from "./hello.ts";
import { isStranger } from "./peer.ts";
import type { Backend } from "./relay.ts";
import { meet, type Seat } from "./rendezvous.ts";
import { wakeStoppedHolder } from "./stopped-holder.ts";

/** How often to check again for a host that is just leaving. */
const TRIES = 20;
/** Milliseconds between two checks. */
const PAUSE_MS = 25;
/** How often to wait for a host that does not answer. */
const SILENCES = 2;
/** Milliseconds of silence after which to check whether a signal has stopped the host; a running one has answered by then. */
const WAKE_MS = 2000;

/** The role of a process that wants to serve a client. */
export type Joined =
  /** Pass everything on to the process that serves the pack. */
  | { readonly role: "guest"; readonly backend: Backend }
  /** Serve the pack, to others too. */
  | { readonly role: "host"; readonly seat: Seat }
  /** Serve the pack to this client alone. */
  | { readonly role: "alone"; readonly reason: string };

export type JoinOptions = {
  /** Number of the user that this process runs as. Default: the real one. */
  readonly user?: number | undefined;
  /** Milliseconds for everything that a host has to send before it serves. */
  readonly patienceMs?: number | undefined;
};

/**
 * Finds the process that serves a pack for processes of one kind, or takes its place if there is none or if it is stopped. A host
 * that was stopped in the middle of a write is woken instead: its place would be useless while it has the pack locked. Never
 * throws.
 */
export async function join(
  address: string,
  kin: Kin,
  guest: Guest,
  { user, patienceMs }: JoinOptions = {},
): Promise<Joined> {
  let silences = 0;
  let reason = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    const meeting = await meet(address, user);
    if (meeting.role !== "guest") return meeting;
    const waking = setTimeout(() => wakeStoppedHolder(address), WAKE_MS);
    const greeting = await greet(meeting.socket, kinAt(kin, address), guest, patienceMs);
    clearTimeout(waking);
    if ("backend" in greeting) return { role: "guest", backend: greeting.backend };
    const { failure } = greeting;
    reason = failure instanceof Error ? failure.message : String(failure);
    if (failure instanceof NotKin) break;
    if (failure instanceof Silent) {
      silences += 1;
      if (silences === SILENCES) break;
      meeting.evict();
    } else {
      // It was on its way out; its place will be free in a moment.
      await Bun.sleep(PAUSE_MS);
    }
  }
  return { role: "alone", reason };
}

async function greet(
  socket: Socket,
  kin: Kin,
  guest: Guest,
  patienceMs: number | undefined,
): Promise<{ readonly backend: Backend } | { readonly failure: unknown }> {
  try {
    if (await isStranger(socket)) throw new NotKin("the socket is served by another user");
    const { repeatable } = await introduce(socket, kin, guest, patienceMs);
    return { backend: { input: socket, output: socket, isOther: true, repeatable } };
  } catch (failure) {
    socket.destroy();
    return { failure };
  }
}
