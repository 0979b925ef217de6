import { type Guest, introduce, type Kin, NotKin } from "./hello.ts";
import type { Backend } from "./relay.ts";
import { meet, type Seat } from "./rendezvous.ts";

/** How often a host that is just leaving is looked for again. */
const TRIES = 20;
/** Milliseconds between two looks. */
const PAUSE_MS = 25;

/** What a process that wants to serve a client is to do. */
export type Joined =
  /** Pass everything on to the process that serves the pack. */
  | { readonly role: "guest"; readonly backend: Backend }
  /** Serve the pack, to others too. */
  | { readonly role: "host"; readonly seat: Seat }
  /** Serve the pack to this client alone. */
  | { readonly role: "alone"; readonly reason: string };

/** Finds the process that serves a pack for processes of one kind, or takes its place. Never throws. */
export async function join(address: string, kin: Kin, guest: Guest): Promise<Joined> {
  for (let tries = 0; ; tries += 1) {
    const meeting = await meet(address);
    if (meeting.role !== "guest") return meeting;
    const { socket } = meeting;
    socket.on("error", () => undefined);
    try {
      const { repeatable } = await introduce(socket, kin, guest);
      return { role: "guest", backend: { input: socket, output: socket, repeatable } };
    } catch (error) {
      socket.destroy();
      const reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NotKin || tries >= TRIES) return { role: "alone", reason };
      // It was on its way out; its place is free in a moment.
      await Bun.sleep(PAUSE_MS);
    }
  }
}
