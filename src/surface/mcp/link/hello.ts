import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Socket } from "node:net";
import { LineReader } from "./lines.ts";

/** Version of what two processes say to each other before they speak MCP. */
const LINK_VERSION = 1;
/** Milliseconds that the other side has for its part. Loading a server takes a tenth of it. */
const HELLO_MS = 5000;

/** What makes two processes interchangeable: the program and everything that decides how it answers. */
export type Kin = {
  readonly version: string;
  /** Stands for all settings and the key; known to those who have the same. Never sent. */
  readonly fingerprint: string;
};

/** What a process asks of the one that serves the pack. */
export type Guest = {
  /** The owner of everything on the connection; absent: each call names one. */
  readonly userId: string | undefined;
  readonly tools: "core" | "full";
};

/** What a served process has to know of the server. */
export type Welcome = {
  /** Tools that may be called again when it is not known whether they were. */
  readonly repeatable: readonly string[];
};

/** Why processes do not serve each other. */
export class NotKin extends Error {
  override readonly name = "NotKin";
}

/** The guest's part on a new connection. @throws NotKin when the other side is of another kind, Error when it is gone or late */
export async function introduce(socket: Socket, kin: Kin, guest: Guest): Promise<Welcome> {
  const conversation = converse(socket);
  try {
    const challenge = await conversation.next();
    const nonce = challenge["nonce"];
    if (challenge["svc"] !== LINK_VERSION || challenge["version"] !== kin.version) {
      throw new NotKin("the pack is served by another version of svc");
    }
    if (typeof nonce !== "string") throw new NotKin("the socket beside the pack is not of svc");
    conversation.say({
      proof: proofOf(kin, nonce),
      user_id: guest.userId ?? null,
      tools: guest.tools,
    });
    const answer = await conversation.next();
    if (answer["ok"] !== true) {
      throw new NotKin("the pack is served by a process with other settings");
    }
    const repeatable = Array.isArray(answer["repeatable"]) ? answer["repeatable"].map(String) : [];
    return { repeatable };
  } finally {
    conversation.end();
  }
}

/** The server's part on a new connection. @returns undefined when the guest is of another kind, which it was told */
export async function receive(
  socket: Socket,
  kin: Kin,
  welcome: Welcome,
): Promise<Guest | undefined> {
  const conversation = converse(socket);
  try {
    const nonce = randomBytes(16).toString("hex");
    conversation.say({ svc: LINK_VERSION, version: kin.version, nonce });
    const { proof, user_id: userId, tools } = await conversation.next();
    if (!isProof(proof, kin, nonce)) {
      conversation.say({ ok: false });
      return undefined;
    }
    conversation.say({ ok: true, repeatable: welcome.repeatable });
    return {
      userId: typeof userId === "string" ? userId : undefined,
      tools: tools === "core" ? "core" : "full",
    };
  } finally {
    conversation.end();
  }
}

function proofOf(kin: Kin, nonce: string): string {
  return createHash("sha256").update(`${nonce} ${kin.version} ${kin.fingerprint}`).digest("hex");
}

function isProof(proof: unknown, kin: Kin, nonce: string): boolean {
  if (typeof proof !== "string") return false;
  const [given, expected] = [Buffer.from(proof), Buffer.from(proofOf(kin, nonce))];
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected);
}

type Conversation = {
  say(message: object): void;
  next(): Promise<Readonly<Record<string, unknown>>>;
  /** Leaves the socket to its next reader, with everything that was read too far. */
  end(): void;
};

function converse(socket: Socket): Conversation {
  const lines = new LineReader();
  const heard: string[] = [];
  let wake: (() => void) | undefined;
  let failure: Error | undefined;
  const fail = (error: Error): void => {
    failure ??= error;
    wake?.();
  };
  const timer = setTimeout(() => fail(new Error("no answer on the socket")), HELLO_MS);
  const onData = (chunk: Uint8Array): void => {
    try {
      heard.push(...lines.read(chunk));
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)));
    }
    wake?.();
  };
  const onGone = (): void => fail(new Error("the socket was closed"));
  socket.on("data", onData).on("close", onGone).on("error", onGone);
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
      const line = heard.shift();
      if (line === undefined) throw failure ?? new Error("the socket was closed");
      return asRecord(line);
    },
    end: () => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onGone).off("error", onGone);
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
