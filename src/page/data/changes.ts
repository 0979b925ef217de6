import {
  archiveNode,
  pinNode,
  promoteNode,
  reinforceNode,
  restoreNode,
} from "../client/sdk.gen.ts";
import type { Node } from "../client/types.gen.ts";
import { t } from "../language/texts.ts";
import { number } from "../parts/format.ts";
import { say } from "../parts/toasts.tsx";
import { later } from "./clock.ts";
import { asFailure, type CallFailure } from "./failure.ts";
import { hexOf } from "./hex.ts";
import { answered, key } from "./http.ts";
import { storeChanged } from "./server.ts";

/** How long an archiving is held back. */
const HELD_MS = 6000;

/**
 * Does a change and reads lists again.
 * @param done what is said after it
 * @returns why it was refused, or undefined when it was done
 */
export async function tried<T>(
  call: () => Promise<T>,
  done: string | ((answer: T) => string),
): Promise<CallFailure | undefined> {
  try {
    const answer = await call();
    say(typeof done === "string" ? done : done(answer));
    return undefined;
  } catch (error) {
    return asFailure(error);
  } finally {
    storeChanged();
  }
}

/** As `tried`; a refusal is said, with what the server says. @returns whether it was done */
export async function change<T>(
  call: () => Promise<T>,
  done: string | ((answer: T) => string),
): Promise<boolean> {
  const failure = await tried(call, done);
  if (failure !== undefined) {
    say(`${t.states.refused} ${failure.message}`, { isFailure: true });
  }
  return failure === undefined;
}

/** The name of a call, made before its first try, so that a second try changes nothing more. */
export function callId(): { readonly "Idempotency-Key": string } {
  // `randomUUID` is missing on a network address without TLS.
  return { "Idempotency-Key": hexOf(crypto.getRandomValues(new Uint8Array(16))) };
}

/** Names of calls: what is tried again with the same input has the name of its first try. */
export function callIds(): (input: unknown) => ReturnType<typeof callId> {
  const names = new Map<string, ReturnType<typeof callId>>();
  return (input) => {
    const key = JSON.stringify(input);
    const name = names.get(key) ?? callId();
    names.set(key, name);
    return name;
  };
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

export async function restore({ id }: Node): Promise<boolean> {
  const headers = callId();
  return await change(
    () => answered(restoreNode({ path: { node_id: id }, headers })),
    t.changes.restored,
  );
}

export async function pin({ id, pinned }: Node): Promise<boolean> {
  const headers = callId();
  return await change(
    () => answered(pinNode({ path: { node_id: id }, headers, body: { pinned: !pinned } })),
    pinned ? t.changes.released : t.changes.pinned,
  );
}

/** A memory to archive, and the name of that call, the same however often it is sent. */
type Waiting = { readonly node: Node; readonly headers: ReturnType<typeof callId> };
type Held = { readonly waiting: Set<Waiting>; readonly cancel: () => void };

/** What is archived unless it is taken back, and what is being sent. */
const held = new Set<Held>();

/** Archives memories in six seconds, unless that is taken back or the page is left, which sends it at once. */
export function archive(wanted: readonly Node[]): void {
  const before = new Set(
    [...held].flatMap(({ waiting }) => [...waiting].map(({ node }) => node.id)),
  );
  const nodes = wanted.filter(({ id }) => !before.has(id));
  const [first] = nodes;
  if (first === undefined) return;
  const text =
    nodes.length === 1
      ? t.changes.archived(first.content.slice(0, 80))
      : t.changes.archivedMany(number(nodes.length));
  const cancel = later(HELD_MS, () => void send(entry));
  const waiting = new Set(nodes.map((node) => ({ node, headers: callId() })));
  const entry: Held = { waiting, cancel };
  held.add(entry);
  const undo = (): void => {
    cancel();
    held.delete(entry);
    say(t.changes.kept);
  };
  say(text, { undo, ms: HELD_MS });
}

/** One after the other; those that are left are sent at once when the page is left meanwhile. */
async function send(entry: Held): Promise<void> {
  const failures: string[] = [];
  for (const one of entry.waiting) {
    const { node, headers } = one;
    try {
      await answered(archiveNode({ path: { node_id: node.id }, headers }));
    } catch (error) {
      failures.push(asFailure(error).message);
    }
    entry.waiting.delete(one);
  }
  held.delete(entry);
  const [reason] = failures;
  if (reason !== undefined) {
    say(`${t.changes.notArchived(failures.length)} ${reason}`, { isFailure: true });
  }
  storeChanged();
}

/** Sends what is held back when the page is left; the browser finishes it after the page is gone. */
export function sendHeldOnLeave(): void {
  addEventListener("pagehide", () => {
    for (const { waiting, cancel } of held) {
      cancel();
      for (const { node, headers: name } of waiting) {
        const headers = new Headers({ ...name, "svc-client": "inspector" });
        if (key.peek() !== undefined) headers.set("authorization", `Bearer ${key.peek()}`);
        void fetch(`/v1/nodes/${node.id}/archive`, { method: "PUT", keepalive: true, headers });
      }
    }
    held.clear();
  });
}
