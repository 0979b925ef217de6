import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import type { Socket } from "node:net";
import {
  type Guest,
  introduce,
  type Kin,
  NotKin,
  receive,
} from "../../../../src/surface/mcp/link/handshake.ts";
import { LineReader } from "../../../../src/surface/mcp/link/lines.ts";
import { socketPair } from "./socket-pair.ts";

const KIN: Kin = { version: "1.0.0", fingerprint: "f".repeat(64) };
const GUEST: Guest = { userId: "ada", tools: "core" };

/** The next lines that a side hears, read by hand. */
function listen(socket: Socket): () => Promise<Record<string, unknown>> {
  const lines = new LineReader();
  const heard: string[] = [];
  const waiting: ((line: string) => void)[] = [];
  socket.on("data", (chunk: Buffer) => {
    for (const line of lines.read(chunk)) {
      const next = waiting.shift();
      if (next === undefined) heard.push(line);
      else next(line);
    }
  });
  socket.resume();
  return async () => {
    const line = heard.shift() ?? (await new Promise<string>((resolve) => waiting.push(resolve)));
    return JSON.parse(line);
  };
}

const say = (socket: Socket, message: object): void => {
  socket.write(`${JSON.stringify(message)}\n`);
};

async function failure(promise: Promise<unknown>): Promise<Error> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error("it did not fail");
  return error;
}

describe("two of a kind", () => {
  test("learn what the other has to know", async () => {
    const { guest, host } = await socketPair();
    const [, received] = await Promise.all([introduce(guest, KIN, GUEST), receive(host, KIN)]);
    expect(received).toEqual({ ...GUEST, isHook: false });
    guest.destroy();
    host.destroy();
  });
  test("what is said at once after the hello is not lost", async () => {
    const { guest, host } = await socketPair();
    const introduced = introduce(guest, KIN, GUEST);
    await receive(host, KIN);
    host.write('{"svc":"bye"}\nhalf a li');
    host.end("ne\n");
    await introduced;
    let text = "";
    for await (const chunk of guest) text += String(chunk);
    expect(text).toBe('{"svc":"bye"}\nhalf a line\n');
    host.destroy();
  });
});

describe("strangers", () => {
  const FOREIGN: Kin = { ...KIN, fingerprint: "0".repeat(64) };

  test("other settings are told to the guest and show nothing of it to the host", async () => {
    const { guest, host } = await socketPair();
    const [refused, received] = await Promise.all([
      failure(introduce(guest, KIN, GUEST)),
      receive(host, FOREIGN),
    ]);
    expect(refused).toBeInstanceOf(NotKin);
    expect(refused.message).toBe(
      "the pack is served by a process with other settings, or under another name",
    );
    expect(received).toBeUndefined();
    guest.destroy();
    host.destroy();
  });

  test("another version is left before anything of the settings is shown", async () => {
    const { guest, host } = await socketPair();
    const next = listen(host);
    const refused = failure(introduce(guest, KIN, GUEST));
    say(host, { svc: 3, version: "0.9.0", nonce: "n" });
    expect(await refused).toBeInstanceOf(NotKin);
    guest.destroy();
    const more = await Promise.race([next(), Bun.sleep(50)]);
    expect(more).toBeUndefined();
    host.destroy();
  });

  test("a host that does not know the settings is found out, whatever it accepts", async () => {
    const { guest, host } = await socketPair();
    const next = listen(host);
    const refused = failure(introduce(guest, KIN, GUEST));
    say(host, { svc: 3, version: KIN.version, nonce: "n" });
    // Nothing of the guest is said before the host has proved anything.
    expect(Object.keys(await next())).toEqual(["nonce"]);
    say(host, { proof: "0".repeat(64), welcome: true });
    expect((await refused).message).toBe(
      "the pack is served by a process with other settings, or under another name",
    );
    guest.destroy();
    host.destroy();
  });

  test("a proof counts for one connection", async () => {
    const first = await socketPair();
    const [overheard] = await Promise.all([
      listen(first.host)(),
      (async () => {
        void introduce(first.guest, KIN, GUEST).catch(() => undefined);
        say(first.host, { svc: 3, version: KIN.version, nonce: "chosen" });
      })(),
    ]);
    const second = await socketPair();
    const received = receive(second.host, KIN);
    say(second.guest, overheard);
    say(second.guest, { proof: "0".repeat(64) });
    expect(await received).toBeUndefined();
    for (const socket of [first.guest, first.host, second.guest, second.host]) socket.destroy();
  });

  test.each([
    { name: "of the right length", proof: "0".repeat(64) },
    { name: "too short", proof: "00" },
    { name: "no text", proof: 7 },
    { name: "made with another key", proof: createHmac("sha256", "key").update("x").digest("hex") },
  ])("a proof that is $name is refused", async ({ proof }) => {
    const { guest, host } = await socketPair();
    const received = receive(host, KIN);
    const next = listen(guest);
    await next();
    say(guest, { nonce: "n" });
    expect(Object.keys(await next())).toEqual(["proof"]);
    say(guest, { proof, user_id: "eve", tools: "full" });
    expect(await received).toBeUndefined();
    expect(await next()).toEqual({});
    guest.destroy();
    host.destroy();
  });

  test.each([
    { name: "text that is no JSON", text: "GET / HTTP/1.1\r\n\r\n" },
    { name: "JSON that is no object", text: "[1,2]\n7\n" },
    { name: "an empty line", text: "\n" },
    { name: "bytes", text: "\u0000\u0001\u0002\n" },
  ])("$name instead of a hello is refused on both sides", async ({ text }) => {
    const asHost = await socketPair();
    const received = receive(asHost.host, KIN);
    asHost.guest.write(text);
    asHost.guest.write(text);
    expect(await received).toBeUndefined();
    const asGuest = await socketPair();
    const refused = failure(introduce(asGuest.guest, KIN, GUEST));
    asGuest.host.write(text);
    expect(await refused).toBeInstanceOf(NotKin);
    for (const { guest, host } of [asHost, asGuest]) {
      guest.destroy();
      host.destroy();
    }
  });
});

describe("a side that is no good", () => {
  test("silence ends after the given patience", async () => {
    const { guest, host } = await socketPair();
    expect(await failure(introduce(guest, KIN, GUEST, 60))).not.toBeInstanceOf(NotKin);
    guest.destroy();
    host.destroy();
  });

  test("a host that falls silent half-way is silent too", async () => {
    const { guest, host } = await socketPair();
    say(host, { svc: 3, version: KIN.version, nonce: "n" });
    expect(await failure(introduce(guest, KIN, GUEST, 60))).not.toBeInstanceOf(NotKin);
    guest.destroy();
    host.destroy();
  });

  test.each(["end", "destroy"] as const)(
    "a connection on which %s is called is over at once",
    async (how) => {
      const { guest, host } = await socketPair();
      const refused = failure(introduce(guest, KIN, GUEST));
      host[how]();
      expect((await refused).message).toBe("the socket was closed");
      guest.destroy();
      host.destroy();
    },
  );

  test("one that says more than a hello before the hello is cut off", async () => {
    const { guest, host } = await socketPair();
    const received = failure(receive(host, KIN));
    for (let count = 0; count < 40; count += 1) guest.write("x".repeat(4096));
    expect(await received).toBeInstanceOf(NotKin);
    const lines = await socketPair();
    const flooded = receive(lines.host, KIN).catch(() => undefined);
    lines.guest.write("\n".repeat(200_000));
    expect(await Promise.race([flooded, Bun.sleep(30_000).then(() => "late")])).toBeUndefined();
    for (const socket of [guest, host, lines.guest, lines.host]) socket.destroy();
  });
});
