import { archiveNode, pinNode, promoteNode, reinforceNode } from "../client/sdk.gen.ts";
import type { Node } from "../client/types.gen.ts";
import { t } from "../language/texts.ts";
import { number } from "../parts/format.ts";
import { say } from "../parts/toasts.tsx";
import { later } from "./clock.ts";
import { asFailure } from "./failure.ts";
import { hexOf } from "./hex.ts";
import { answered, key } from "./http.ts";
import { storeChanged } from "./server.ts";

/** How long an archiving is held back. The engine cannot undo one. */
const HELD_MS = 6000;

/** Does a change and reads lists again. A refused one is said, with what the server says. @returns whether it was done */
export async function change(call: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await call();
    say(done);
    return true;
  } catch (error) {
    say(`${t.states.refused} ${asFailure(error).message}`, { isFailure: true });
    return false;
  } finally {
    storeChanged();
  }
}

/** The name of a call, made before its first try, so that a second try changes nothing more. */
export function callId(): { readonly "Idempotency-Key": string } {
  // `randomUUID` is missing on a network address without TLS.
  return { "Idempotency-Key": hexOf(crypto.getRandomValues(new Uint8Array(16))) };
}

export async function promote({ id }: Node): Promise<boolean> {
  const headers = callId();
  return await change(
    () => answered(promoteNode({ path: { node_id: id }, headers })),
    t.changes.promoted,
  );
}

export async function reinforce({ id }: Node): Promise<boolean> {
  const headers = callId();
  return await change(
    () => answered(reinforceNode({ path: { node_id: id }, headers })),
    t.changes.reinforced,
  );
}

export async function pin({ id, pinned }: Node): Promise<boolean> {
  const headers = callId();
  return await change(
    () => answered(pinNode({ path: { node_id: id }, headers, body: { pinned: !pinned } })),
    pinned ? t.changes.released : t.changes.pinned,
  );
}

type Held = { readonly nodes: readonly Node[]; readonly cancel: () => void };

/** What is archived unless it is taken back. */
const held = new Set<Held>();

/** Archives memories in six seconds, unless that is taken back or the page is left, which sends it at once. */
export function archive(wanted: readonly Node[]): void {
  const waiting = new Set([...held].flatMap(({ nodes }) => nodes.map(({ id }) => id)));
  const nodes = wanted.filter(({ id }) => !waiting.has(id));
  const [first] = nodes;
  if (first === undefined) return;
  const text =
    nodes.length === 1
      ? t.changes.archived(first.content.slice(0, 80))
      : t.changes.archivedMany(number(nodes.length));
  const cancel = later(HELD_MS, () => {
    held.delete(entry);
    void send(nodes);
  });
  const entry: Held = { nodes, cancel };
  held.add(entry);
  const undo = (): void => {
    cancel();
    held.delete(entry);
    say(t.changes.kept);
  };
  say(text, { undo, ms: HELD_MS });
}

async function send(nodes: readonly Node[]): Promise<void> {
  const failures: string[] = [];
  for (const { id } of nodes) {
    const headers = callId();
    try {
      await answered(archiveNode({ path: { node_id: id }, headers }));
    } catch (error) {
      failures.push(asFailure(error).message);
    }
  }
  const [reason] = failures;
  if (reason !== undefined) {
    say(`${t.changes.notArchived(failures.length)} ${reason}`, { isFailure: true });
  }
  storeChanged();
}

/** Sends what is held back when the page is left; the browser finishes it after the page is gone. */
export function sendHeldOnLeave(): void {
  addEventListener("pagehide", () => {
    for (const { nodes, cancel } of held) {
      cancel();
      for (const { id } of nodes) {
        const headers = new Headers({ ...callId(), "svc-client": "inspector" });
        if (key.peek() !== undefined) headers.set("authorization", `Bearer ${key.peek()}`);
        void fetch(`/v1/nodes/${id}/archive`, { method: "PUT", keepalive: true, headers });
      }
    }
    held.clear();
  });
}
