import { useMemo, useState } from "preact/hooks";
import { addDays, asInstant } from "../../lib/instant.ts";
import * as api from "../client/sdk.gen.ts";
import type { Node } from "../client/types.gen.ts";
import { counted, memoryCount } from "../parts/format.ts";
import { say } from "../parts/toasts.tsx";
import { answered, asFailure, type CallFailure } from "./http.ts";
import { storeChanged } from "./server.ts";

const UNDO_MS = 6000;
/** Browsers finish this many calls after the page is left. */
const MOST_KEPT_ALIVE = 100;

/** Makes a change and reloads lists. @param done the message afterwards @returns why it was rejected, or undefined on success */
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

/** Like `tried`; a rejection is shown with the server's message. @returns whether it succeeded */
export async function change<T>(
  call: () => Promise<T>,
  done: string | ((answer: T) => string),
): Promise<boolean> {
  const failure = await tried(call, done);
  if (failure !== undefined) {
    say(`Not changed. ${failure.message}`, { isFailure: true });
  }
  return failure === undefined;
}

/** The request id of a call, created before its first attempt, so that a retry changes nothing more. */
export function callId(): { readonly "Idempotency-Key": string } {
  // `randomUUID` is missing on a network address without TLS.
  return { "Idempotency-Key": hexOf(crypto.getRandomValues(new Uint8Array(16))) };
}

/** Request ids of calls: a retry with the same input reuses that of the first attempt. */
export function callIds(): (input: unknown) => ReturnType<typeof callId> {
  const names = new Map<string, ReturnType<typeof callId>>();
  return (input) => {
    const key = JSON.stringify(input);
    const name = names.get(key) ?? callId();
    names.set(key, name);
    return name;
  };
}

const requestOf = ({ id }: Node) => ({ path: { node_id: id }, headers: callId() });
type ChangeRequest = ReturnType<typeof requestOf>;

/** Submits a form: whether it is being sent, and why the last attempt was rejected. */
export function useSending() {
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  const nameOf = useMemo(callIds, []);
  const send: typeof tried = async (call, done) => {
    setSending(true);
    const refused = await tried(call, done);
    setSending(false);
    setFailure(refused);
    return refused;
  };
  return { isSending, failure, setFailure, nameOf, send };
}

export async function promote(node: Node): Promise<boolean> {
  const request = requestOf(node);
  return await change(() => answered(api.promoteNode(request)), "Stable now.");
}

export async function reinforce(node: Node): Promise<boolean> {
  const request = requestOf(node);
  return await change(() => answered(api.reinforceNode(request)), "Reinforced.");
}

export async function pin(node: Node): Promise<boolean> {
  const request = { ...requestOf(node), body: { pinned: !node.pinned } };
  return await change(
    () => answered(api.pinNode(request)),
    node.pinned ? "No longer pinned." : "Pinned: a candidate for every question, and kept.",
  );
}

/** Memories whose archiving was sent: pressing the key again sends nothing. */
const sent = new WeakSet<Node>();

/** Archives memories at once; a key restores them for six seconds. */
export async function archive(wanted: readonly Node[]): Promise<void> {
  const nodes = wanted.filter((node) => !sent.has(node));
  for (const node of nodes) sent.add(node);
  const keepalive = nodes.length <= MOST_KEPT_ALIVE;
  const done = await changeEach(nodes, (request) => api.archiveNode({ ...request, keepalive }));
  for (const node of nodes) if (!done.includes(node)) sent.delete(node);
  const [first] = done;
  if (first === undefined) return;
  const what = done.length === 1 ? `“${first.content.slice(0, 80)}”` : memoryCount(done.length);
  say(`Archived ${what}`, { undo: () => void restore(done), ms: UNDO_MS });
}

export async function restore(nodes: readonly Node[]): Promise<void> {
  const done = await changeEach(nodes, api.restoreNode);
  for (const node of done) sent.delete(node);
  if (done.length === 1) say("Restored. It can be found again.");
  else if (done.length > 1) say(`Restored ${memoryCount(done.length)}.`);
}

/** Changes memories one by one and shows which were rejected. @returns those that were changed */
async function changeEach(
  nodes: readonly Node[],
  call: (request: ChangeRequest) => Parameters<typeof answered<Node>>[0],
): Promise<readonly Node[]> {
  const failures: string[] = [];
  const calls = nodes.map(async (node) => {
    try {
      await answered(call(requestOf(node)));
      return [node];
    } catch (error) {
      failures.push(asFailure(error).message);
      return [];
    }
  });
  const done = (await Promise.all(calls)).flat();
  const [reason] = failures;
  if (reason !== undefined) {
    const what = counted(failures.length, "memory was", "memories were");
    say(`${what} not changed: ${reason}`, { isFailure: true });
  }
  storeChanged();
  return done;
}

/** A contradiction must be resolved first, and a replaced memory stays as it was. */
export function canBeReplaced({ lifecycle_state: state }: Node): boolean {
  return state === "tentative" || state === "stable";
}

/** When a memory's retention ends; undefined: never. */
export function endOf({ pinned, ttl_days, created_at }: Node): string | undefined {
  return pinned || ttl_days === null ? undefined : addDays(asInstant(created_at), ttl_days);
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
