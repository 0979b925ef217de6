import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import type { ToolSet } from "../../contract/core/operation.ts";
import { LineReader } from "./lines.ts";
import type { Backend } from "./relay.ts";
import { meet, type Seat } from "./rendezvous.ts";

/** Version of the handshake between two processes before they speak MCP. */
const LINK_VERSION = 3;
/** Milliseconds for the other side's part. Loading a server takes a tenth of that. */
const HELLO_MS = 5000;
/** Bytes that either side may send before it speaks MCP. */
const HELLO_BYTES = 64 * 1024;

/** How often to check again for a host that is shutting down. */
const TRIES = 20;
/** Milliseconds between two checks. */
const PAUSE_MS = 25;
/** `getsockopt` of Linux: level, option, bytes of pid, uid and gid. */
const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
const CREDENTIALS = 12;

/** The other side keeps the connection open but sends nothing, for example because a signal stopped it. */
const SILENT = "no answer on the socket";

/** What makes two processes interchangeable: the program and everything that determines its answers. */
export type Kin = {
  readonly version: string;
  /**
   * A keyed hash of all settings and the key, with a secret of this user; only processes with the same values can compute it. Never sent.
   */
  readonly fingerprint: string;
};

/**
 * Identifies equal processes of this user for one pack. If a socket was moved with its folder, the connecting and the listening process
 * mean different packs.
 * @param secret known only to this user's processes
 */
export function kinUnder(secret: string, { version, fingerprint }: Kin, address: string): Kin {
  const text = JSON.stringify([fingerprint, address]);
  return { version, fingerprint: createHmac("sha256", secret).update(text).digest("hex") };
}

/** What a process requests from the one that serves the pack. */
export type Guest = {
  /** The owner of everything on the connection; absent: each call names one. */
  readonly userId: string | undefined;
  readonly tools: ToolSet;
  /** Whether it speaks for the hook of an assistant, which is no MCP. Default false. */
  readonly isHook?: boolean | undefined;
};

/** Processes with different fingerprints do not serve each other. */
export class NotKin extends Error {
  override readonly name = "NotKin";
}

/**
 * The guest's part on a new connection. Both sides prove that they know the fingerprint before sending more, the host first: a process that
 * holds the address by accident or attack learns nothing about the guest, not even its owner.
 * @param patienceMs for everything the other side has to send
 * @throws NotKin if the fingerprints differ, Error if the other side has gone or sends nothing
 */
export async function introduce(
  socket: Socket,
  kin: Kin,
  guest: Guest,
  patienceMs: number = HELLO_MS,
): Promise<void> {
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
      is_hook: guest.isHook === true,
    });
    const answer = await conversation.next();
    if (answer["welcome"] !== true) throw new NotKin("the pack is served, but not to this process");
  } finally {
    conversation.end();
  }
}

/** The server's part on a new connection. @returns undefined if the guest's fingerprint differs; it has been notified */
export async function receive(
  socket: Socket,
  kin: Kin,
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
    conversation.say({ welcome: true });
    const { user_id: userId, tools } = said;
    return {
      userId: typeof userId === "string" ? userId : undefined,
      tools: tools === "core" ? "core" : "full",
      isHook: said["is_hook"] === true,
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
  /** Hands the socket to its next reader, including data already read. */
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
  const timer = setTimeout(() => fail(new Error(SILENT)), patienceMs);
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

function asRecord(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The role of a process that wants to serve a client. */
export type Joined =
  /** Forward everything to the process that serves the pack. */
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

/** Finds the process with the same fingerprint that serves a pack, or takes its role if there is none. Never throws. */
export async function join(
  address: string,
  kin: Kin,
  guest: Guest,
  { user, patienceMs }: JoinOptions = {},
): Promise<Joined> {
  let reason = "";
  for (let tries = 0; tries < TRIES; tries += 1) {
    const meeting = await meet(address, user);
    if (meeting.role !== "guest") return meeting;
    const { socket } = meeting;
    try {
      if (await isStranger(socket)) throw new NotKin("the socket is served by another user");
      await introduce(socket, kin, guest, patienceMs);
      return { role: "guest", backend: { input: socket, output: socket, isOther: true } };
    } catch (error) {
      socket.destroy();
      reason = error instanceof Error ? error.message : String(error);
      if (error instanceof NotKin || reason === SILENT) break;
    }
    // It was shutting down; its address will be free in a moment.
    await Bun.sleep(PAUSE_MS);
  }
  return { role: "alone", reason };
}

/** Whether the other end of a connection is certainly held by another user. */
export async function isStranger(socket: Socket): Promise<boolean> {
  const peer = await peerUser(socket);
  return peer !== undefined && peer !== process.getuid?.();
}

/**
 * Number of the user who holds the other end of a local connection, according to the system; undefined if the system does not
 * say.
 */
export async function peerUser(socket: Socket): Promise<number | undefined> {
  const file = fileOf(socket);
  if (file === undefined) return undefined;
  try {
    return process.platform === "darwin" ? await onMac(file) : await onLinux(file);
  } catch {
    // The library or call does not exist here: the proof alone decides.
    return undefined;
  }
}

/** The runtime does not declare the file descriptor of a socket. */
function fileOf(socket: Socket): number | undefined {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined;
  if (typeof handle !== "object" || handle === null || !("fd" in handle)) return undefined;
  return typeof handle.fd === "number" && handle.fd >= 0 ? handle.fd : undefined;
}

async function onLinux(file: number): Promise<number | undefined> {
  if (process.platform !== "linux") return undefined;
  const { dlopen, ptr } = await import("bun:ffi");
  const declared = { args: ["i32", "i32", "i32", "ptr", "ptr"], returns: "i32" } as const;
  const library = dlopen("libc.so.6", { getsockopt: declared });
  const credentials = new Uint32Array(CREDENTIALS / 4);
  const length = new Uint32Array([CREDENTIALS]);
  const { getsockopt } = library.symbols;
  const result = getsockopt(file, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(length));
  return result === 0 && length[0] === CREDENTIALS ? credentials[1] : undefined;
}

async function onMac(file: number): Promise<number | undefined> {
  const { dlopen, ptr } = await import("bun:ffi");
  const declared = { args: ["i32", "ptr", "ptr"], returns: "i32" } as const;
  const library = dlopen("libSystem.B.dylib", { getpeereid: declared });
  const [user, group] = [new Uint32Array(1), new Uint32Array(1)];
  return library.symbols.getpeereid(file, ptr(user), ptr(group)) === 0 ? user[0] : undefined;
}
