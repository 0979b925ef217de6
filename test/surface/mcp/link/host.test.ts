import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { dirname, join as joinPath } from "node:path";
import {
  type Guest,
  join,
  type Kin,
  kinUnder,
} from "../../../../src/surface/mcp/link/handshake.ts";
import { type Host, type HostDeps, hostGuests } from "../../../../src/surface/mcp/link/host.ts";
import { LineReader } from "../../../../src/surface/mcp/link/lines.ts";
import { type Backend, BYE } from "../../../../src/surface/mcp/link/relay.ts";
import type { Seat } from "../../../../src/surface/mcp/link/rendezvous.ts";
import { until } from "../../../until.ts";
import { linkFolder } from "./link-folder.ts";

const KIN: Kin = { version: "1.0.0", fingerprint: "a".repeat(64) };
const GUEST: Guest = { userId: "ada", tools: "full" };

type Hosting = {
  readonly address: string;
  readonly host: Host;
  readonly guests: Guest[];
  /** Lines that guests have said to it. */
  readonly said: string[];
  readonly log: string[];
};

/** Answers each line with itself, after a while if the line says so, as long as the guest's side is open. */
function echo(socket: Socket, said: string[]): { readonly ended: Promise<void> } {
  const lines = new LineReader();
  const answers: Promise<void>[] = [];
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  socket.on("data", (chunk: Buffer) => {
    for (const line of lines.read(chunk)) {
      said.push(line);
      const wait = Number(/^after (\d+)/.exec(line)?.[1] ?? 0);
      answers.push(Bun.sleep(wait).then(() => void socket.write(`${line}\n`)));
    }
  });
  socket.on("end", () => {
    void Promise.all(answers).then(() => resolve());
  });
  socket.resume();
  return { ended };
}

async function startHost(options: Pick<HostDeps, "patienceMs"> = {}): Promise<Hosting> {
  const address = joinPath(linkFolder(), "m.pack.sock");
  const joined = await join(address, KIN, GUEST);
  if (joined.role !== "host") throw new Error(`joined as ${joined.role}`);
  return { address, ...serveFrom(joined.seat, options) };
}

function serveFrom(
  seat: Seat,
  options: Pick<HostDeps, "patienceMs"> = {},
): Omit<Hosting, "address"> {
  const guests: Guest[] = [];
  const said: string[] = [];
  const log: string[] = [];
  const host = hostGuests({
    ...options,
    seat,
    kin: KIN,
    serve: (guest, socket) => {
      guests.push(guest);
      return echo(socket, said);
    },
    log: (level, message) => log.push(`${level} ${message}`),
  });
  return { host, guests, said, log };
}

async function joinAsGuest(address: string, guest: Guest = GUEST): Promise<Backend> {
  const joined = await join(address, KIN, guest);
  if (joined.role !== "guest") throw new Error(`joined as ${joined.role}`);
  return joined.backend;
}

async function raw(address: string): Promise<Socket> {
  const socket = createConnection(address);
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  return socket;
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) resolve();
    socket.once("close", () => resolve());
    socket.resume();
  });
}

/** What a guest hears until its connection ends; it ends its side at a goodbye, as a relay does. */
async function hearAll({ input, output }: Backend): Promise<readonly string[]> {
  const lines = new LineReader();
  const heard: string[] = [];
  for await (const chunk of output) {
    for (const line of lines.read(chunk)) {
      heard.push(line);
      if (line === BYE) input.end();
    }
  }
  return heard;
}

describe("guests", () => {
  test("are served as who they are", async () => {
    const { address, host, guests } = await startHost();
    const one = await joinAsGuest(address, { userId: "ada", tools: "core" });
    const two = await joinAsGuest(address, { userId: undefined, tools: "full" });
    expect(guests).toEqual([
      { userId: "ada", tools: "core", isHook: false },
      { userId: undefined, tools: "full", isHook: false },
    ]);
    one.input.destroy();
    two.input.destroy();
    await host.leave();
  });

  test("of another kind go their own way", async () => {
    const { address, host, guests } = await startHost();
    for (const kin of [
      { ...KIN, fingerprint: "b".repeat(64) },
      { ...KIN, version: "1.0.1" },
    ]) {
      expect(await join(address, kin, GUEST)).toMatchObject({ role: "alone" });
    }
    expect(guests).toEqual([]);
    await host.leave();
  });

  test("and hosts of one address in two places are of two kinds", () => {
    const [here, there] = ["/run/a.sock", "/moved/a.sock"].map((at) => kinUnder("s", KIN, at));
    expect(here?.fingerprint).not.toBe(there?.fingerprint ?? "");
    expect(kinUnder("s", KIN, "/run/a.sock")).toEqual(here ?? KIN);
  });

  test("two hundred at once are served, and parted with", async () => {
    const { address, host, guests, said } = await startHost();
    const backends = await Promise.all(Array.from({ length: 200 }, () => joinAsGuest(address)));
    const heard = backends.map(hearAll);
    backends.forEach(({ input }, index) => {
      input.write(`line ${index}\n`);
    });
    await until(async () => said.length === 200);
    await host.leave();
    const all = (await Promise.all(heard)).map((lines) => [...lines].sort());
    expect(all).toEqual(backends.map((_, index) => [`line ${index}`, BYE]));
    expect(guests).toHaveLength(200);
  }, 120_000);
});

describe("a host that leaves", () => {
  test("answers what is under way, and its address is free at once", async () => {
    const { address, host, said } = await startHost();
    const backend = await joinAsGuest(address);
    const heard = hearAll(backend);
    backend.input.write("after 150 ms\n");
    await until(async () => said.length === 1);
    const left = host.leave();
    expect(readdirSync(dirname(address))).toEqual([]);
    await left;
    expect(await heard).toEqual([BYE, "after 150 ms"]);
  });

  test("does not wait for guests that are gone", async () => {
    const { address, host, said } = await startHost();
    const backend = await joinAsGuest(address);
    backend.input.write("after 60000 ms\n");
    await until(async () => said.length === 1);
    backend.input.destroy();
    const before = performance.now();
    await host.leave();
    // It would have waited for ten seconds.
    expect(performance.now() - before).toBeLessThan(9900);
  });

  test("waits for answers to those who end their side, and not for one that stands still", async () => {
    const { address, host, said } = await startHost();
    const still = await joinAsGuest(address);
    const order: string[] = [];
    still.output.once("close", () => order.push("left behind"));
    still.output.resume();
    const backend = await joinAsGuest(address);
    const heard = hearAll(backend);
    backend.input.write("after 2500 ms\n");
    await until(async () => said.length === 1);
    const left = host.leave().then(() => order.push("gone"));
    expect(await heard).toEqual([BYE, "after 2500 ms"]);
    order.push("answered");
    await left;
    // Before the answer: a client gives its server four seconds before it kills it.
    expect(order[0]).toBe("left behind");
  }, 120_000);

  test("takes those in that come at that moment to the next one", async () => {
    const { address, host } = await startHost();
    const joining = Array.from({ length: 10 }, async () => {
      const joined = await join(address, KIN, GUEST);
      return joined.role === "host" ? { ...joined, ...serveFrom(joined.seat) } : joined;
    });
    await host.leave();
    const joined = await Promise.all(joining);
    expect(joined.map(({ role }) => role).sort()).toEqual([...Array(9).fill("guest"), "host"]);
    for (const one of joined) if (one.role === "guest") one.backend.input.destroy();
    for (const one of joined) if (one.role === "host") await one.host.leave();
    expect(readdirSync(dirname(address))).toEqual([]);
  });

  test("leaves nothing open", async () => {
    const { address, host } = await startHost();
    const mute = await raw(address);
    const garbage = await raw(address);
    garbage.write("garbage");
    const guest = await joinAsGuest(address);
    const heard = hearAll(guest);
    await host.leave();
    await Promise.all([closed(mute), closed(garbage), heard]);
  });
});

describe("whoever is no guest", () => {
  test("is refused with its garbage, and guests do not notice", async () => {
    const { address, host, said, guests, log } = await startHost();
    const backend = await joinAsGuest(address);
    const heard = hearAll(backend);
    const garbage = await raw(address);
    garbage.write(Buffer.alloc(300_000, 0xff));
    await closed(garbage);
    const blank = await raw(address);
    blank.write("\n\n\n");
    await closed(blank);
    backend.input.write("still here\n");
    await until(async () => said.length === 1);
    await host.leave();
    expect(await heard).toEqual(["still here", BYE]);
    expect(guests).toHaveLength(1);
    expect(log.filter((line) => !line.startsWith("info"))).toEqual([]);
  });

  test("is ended when it says nothing for too long", async () => {
    const { address, host } = await startHost({ patienceMs: 200 });
    const mute = await raw(address);
    const before = performance.now();
    await closed(mute);
    expect(performance.now() - before).toBeGreaterThan(150);
    await host.leave();
  });
});

describe("a host that stands still", () => {
  test("keeps its place; who comes serves its own client", async () => {
    const address = joinPath(linkFolder(), "m.pack.sock");
    const still = await join(address, KIN, GUEST);
    if (still.role !== "host") throw new Error(`joined as ${still.role}`);
    // It never receives anybody.
    const joined = await join(address, KIN, GUEST, { patienceMs: 100 });
    expect(joined).toEqual({ role: "alone", reason: "no answer on the socket" });
    still.seat.leave();
    expect(readdirSync(dirname(address))).toEqual([]);
  });
});
