import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import type { AnswerForm, ToolSet } from "../../contract/core/operation.ts";
import { LineReader } from "./lines.ts";
import type { Repeatable } from "./pending-calls.ts";

/** Version of the handshake between two processes before they speak MCP. */
const LINK_VERSION = 2;
/** Milliseconds that the other side has for its part. Loading a server takes a tenth of it. */
const HELLO_MS = 5000;
/** Bytes that either side may send before it speaks MCP. */
const HELLO_BYTES = 64 * 1024;

/** What makes two processes interchangeable: the program and everything that decides how it answers. */
export type Kin = {
  readonly version: string;
  /**
   * Represents all settings and the key, keyed by a secret of this user; only processes with the same values can compute it.
   * Never sent.
   */
  readonly fingerprint: string;
};

/** @param secret known only to the processes of this user */
export function kinUnder(secret: string, kin: Kin): Kin {
  const fingerprint = createHmac("sha256", secret).update(kin.fingerprint).digest("hex");
  return { ...kin, fingerprint };
}

/**
 * The kind of the processes that serve the pack of one address. If a socket was moved with its folder, the connecting and the
 * listening process mean different packs.
 */
export function kinAt(kin: Kin, address: string): Kin {
  return { ...kin, fingerprint: JSON.stringify([kin.fingerprint, address]) };
}

/** What a process requests from the one that serves the pack. */
export type Guest = {
  /** The owner of everything on the connection; absent: each call names one. */
  readonly userId: string | undefined;
  readonly tools: ToolSet;
  /** Form of the text blocks of its answers. */
  readonly answers: AnswerForm;
};

/** What a guest must know about the server. */
export type Welcome = { readonly repeatable: Repeatable };

/** Processes of different kinds do not serve each other. */
export class NotKin extends Error {
  override readonly name = "NotKin";
}

/** The other side holds the connection open but sends nothing. */
export class Silent extends Error {
  override readonly name = "Silent";
}

/**
 * The guest's part on a new connection. Both sides prove that they know the fingerprint before either sends more, the host first:
 * a process that holds the address by chance or by force learns nothing about the guest, not even its owner.
 * @param patienceMs for everything that the other side has to send
 * @throws NotKin if the other side is of another kind, Silent if it sends nothing, Error if it has gone
 */
export async function introduce(
  socket: Socket,
  kin: Kin,
  guest: Guest,
  patienceMs: number = HELLO_MS,
): Promise<Welcome> {
  const conversation = converse(socket, patienceMs);
  try {
    const challenge = await conversation.next();
    if (challenge["svc"] !== LINK_VERSION || challenge["version"] !== kin.version) {
      throw new NotKin("the pack is served by another version of svc");
    }
    const nonces = [String(challenge["nonce"]), newNonce()] as const;
    conversation.say({ nonce: nonces[1] });
    const shown = await conversation.next();
    if (!isProof(shown["proof"], proofOf(kin, "host", nonces))) {
      conversation.say({});
      throw new NotKin(
        "the pack is served by a process with other settings, or under another name",
      );
    }
    conversation.say({
      proof: proofOf(kin, "guest", nonces),
      user_id: guest.userId ?? null,
      tools: guest.tools,
      answers: guest.answers,
    });
    const answer = await conversation.next();
    if (answer["welcome"] !== true) throw new NotKin("the pack is served, but not to this process");
    const tools = textsOf(answer["tools"]);
    return { repeatable: { tools, byRequestId: textsOf(answer["by_request_id"]) } };
  } finally {
    conversation.end();
  }
}

/** The server's part on a new connection. @returns undefined if the guest is of another kind; it has been told */
export async function receive(
  socket: Socket,
  kin: Kin,
  welcome: Welcome,
  patienceMs: number = HELLO_MS,
): Promise<Guest | undefined> {
  const conversation = converse(socket, patienceMs);
  try {
    const nonce = newNonce();
    conversation.say({ svc: LINK_VERSION, version: kin.version, nonce });
    const greeting = await conversation.next();
    const nonces = [nonce, String(greeting["nonce"])] as const;
    conversation.say({ proof: proofOf(kin, "host", nonces) });
    const said = await conversation.next();
    if (!isProof(said["proof"], proofOf(kin, "guest", nonces))) {
      conversation.say({});
      return undefined;
    }
    const { tools: names, byRequestId } = welcome.repeatable;
    conversation.say({ welcome: true, tools: names, by_request_id: byRequestId });
    const { user_id: userId, tools, answers } = said;
    return {
      userId: typeof userId === "string" ? userId : undefined,
      tools: tools === "core" ? "core" : "full",
      answers: answers === "text" ? "text" : "json",
    };
  } finally {
    conversation.end();
  }
}

function newNonce(): string {
  return randomBytes(16).toString("hex");
}

function proofOf(
  { version, fingerprint }: Kin,
  side: "guest" | "host",
  nonces: readonly [host: string, guest: string],
): string {
  return createHmac("sha256", fingerprint)
    .update(JSON.stringify([side, version, ...nonces]))
    .digest("hex");
}

function isProof(shown: unknown, expected: string): boolean {
  if (typeof shown !== "string") return false;
  const [one, other] = [Buffer.from(shown), Buffer.from(expected)];
  return one.byteLength === other.byteLength && timingSafeEqual(one, other);
}

type Conversation = {
  say(message: object): void;
  next(): Promise<Readonly<Record<string, unknown>>>;
  /** Leaves the socket to its next reader, with everything that was read ahead. */
  end(): void;
};

function converse(socket: Socket, patienceMs: number): Conversation {
  const lines = new LineReader(HELLO_BYTES);
  const heard: string[] = [];
  let wake: (() => void) | undefined;
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    wake?.();
  };
  const timer = setTimeout(() => fail(new Silent("no answer on the socket")), patienceMs);
  let bytes = 0;
  const onData = (chunk: Uint8Array): void => {
    bytes += chunk.byteLength;
    if (bytes > HELLO_BYTES) {
      fail(new NotKin("the other side of the socket says too much"));
      return;
    }
    heard.push(...lines.read(chunk));
    wake?.();
  };
  const onGone = (): void => fail(new Error("the socket was closed"));
  socket.on("data", onData).on("end", onGone).on("close", onGone).on("error", onGone);
  if (socket.destroyed || socket.readableEnded) onGone();
  socket.resume();
  return {
    say: (message) => {
      socket.write(`${JSON.stringify(message)}\n`);
    },
    next: async () => {
      while (heard.length === 0 && failure === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const line = failure instanceof NotKin ? undefined : heard.shift();
      if (line === undefined) throw failure ?? new Error("the socket was closed");
      return asRecord(line);
    },
    end: () => {
      clearTimeout(timer);
      socket.off("data", onData).off("end", onGone).off("close", onGone).off("error", onGone);
      socket.pause();
      const early = heard.map((line) => `${line}\n`).join("");
      const rest = Buffer.concat([Buffer.from(early), lines.rest()]);
      if (rest.byteLength > 0) socket.unshift(rest);
    },
  };
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function asRecord(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
