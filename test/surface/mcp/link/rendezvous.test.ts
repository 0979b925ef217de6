import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import {
  findFile,
  type Meeting,
  meet,
  removeFile,
  type Seat,
} from "../../../../src/surface/mcp/link/rendezvous.ts";
import { leftOut, NOT_ROOT } from "../../../left-out.ts";
import { linkFolder } from "./link-folder.ts";

async function takeSeat(address: string): Promise<Seat> {
  return asHost(await meet(address));
}

function asHost(meeting: Meeting): Seat {
  if (meeting.role !== "host") throw new Error(`met as ${meeting.role}`);
  return meeting.seat;
}

async function connected(address: string): Promise<Socket> {
  const meeting = await meet(address);
  if (meeting.role !== "guest") throw new Error(`met as ${meeting.role}`);
  return meeting.socket;
}

function heard(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => parts.push(chunk));
    socket.once("close", () => resolve(Buffer.concat(parts).toString()));
    socket.resume();
  });
}

/** A socket file on which nobody listens any more. */
async function staleSocket(address: string): Promise<void> {
  const child = Bun.spawn(
    [
      process.execPath,
      "-e",
      `require("node:net").createServer().listen(process.argv[1], () => console.log("up"))`,
      address,
    ],
    { stdout: "pipe" },
  );
  await child.stdout.getReader().read();
  child.kill("SIGKILL");
  await child.exited;
  expect(lstatSync(address).isSocket()).toBe(true);
}

describe("a free address", () => {
  test("is taken with a socket for this user alone, and nothing else is left in the folder", async () => {
    const folder = linkFolder();
    const seat = await takeSeat(join(folder, "m.pack.sock"));
    expect(readdirSync(folder)).toEqual(["m.pack.sock"]);
    expect(lstatSync(join(folder, "m.pack.sock")).mode & 0o777).toBe(0o600);
    seat.leave();
    seat.leave();
    expect(readdirSync(folder)).toEqual([]);
  });

  test("is taken by one of twenty that come at once, and the others meet that one", async () => {
    const folder = linkFolder();
    const address = join(folder, "m.pack.sock");
    const meetings = await Promise.all(Array.from({ length: 20 }, () => meet(address)));
    const hosts = meetings.filter(({ role }) => role === "host");
    expect(hosts).toHaveLength(1);
    expect(meetings.filter(({ role }) => role === "guest")).toHaveLength(19);
    expect(readdirSync(folder)).toEqual(["m.pack.sock"]);
    for (const meeting of meetings) {
      if (meeting.role === "guest") meeting.socket.destroy();
      if (meeting.role === "host") meeting.seat.leave();
    }
  });
});

describe("the seat", () => {
  test("hands over those who came before anybody received them, with what they said", async () => {
    const address = join(linkFolder(), "m.pack.sock");
    const seat = await takeSeat(address);
    const guest = await connected(address);
    guest.write("early\n");
    await Bun.sleep(20);
    const received = Promise.withResolvers<Socket>();
    seat.receive(received.resolve);
    const socket = await received.promise;
    const text = heard(socket);
    guest.end("late\n");
    socket.end();
    expect(await text).toBe("early\nlate\n");
    seat.leave();
  });

  test("ends those that nobody received when it is left", async () => {
    const address = join(linkFolder(), "m.pack.sock");
    const seat = await takeSeat(address);
    const guest = await connected(address);
    seat.leave();
    expect(await heard(guest)).toBe("");
  });

  test("lets connections that stand go on when it is left", async () => {
    const address = join(linkFolder(), "m.pack.sock");
    const seat = await takeSeat(address);
    const guest = await connected(address);
    const received = Promise.withResolvers<Socket>();
    seat.receive(received.resolve);
    const socket = await received.promise;
    seat.leave();
    const text = heard(guest);
    socket.end("still here");
    expect(await text).toBe("still here");
    socket.destroy();
  });

  test("left by one that lost the address is not taken from the next", async () => {
    const folder = linkFolder();
    const address = join(folder, "m.pack.sock");
    const first = await takeSeat(address);
    unlinkSync(address);
    const second = await takeSeat(address);
    first.leave();
    expect(readdirSync(folder)).toEqual(["m.pack.sock"]);
    (await connected(address)).destroy();
    second.leave();
  });
});

describe("a socket that was left behind", () => {
  test("is replaced, by one of twenty that find it at once", async () => {
    const folder = linkFolder();
    const address = join(folder, "m.pack.sock");
    await staleSocket(address);
    const meetings = await Promise.all(Array.from({ length: 20 }, () => meet(address)));
    expect(meetings.filter(({ role }) => role === "host")).toHaveLength(1);
    expect(meetings.filter(({ role }) => role === "guest")).toHaveLength(19);
    expect(readdirSync(folder)).toEqual(["m.pack.sock"]);
    for (const meeting of meetings) {
      if (meeting.role === "guest") meeting.socket.destroy();
      if (meeting.role === "host") meeting.seat.leave();
    }
  }, 120_000);

  test("under a passing name is swept away by the next that takes the address; other files stay", async () => {
    const folder = linkFolder();
    const address = join(folder, "m.pack.sock");
    await staleSocket(`${address}.0123abcd`);
    writeFileSync(`${address}.4567abcd`, "a file of somebody");
    writeFileSync(`${address}.note`, "another");
    const seat = await takeSeat(address);
    expect(readdirSync(folder).sort()).toEqual([
      "m.pack.sock",
      "m.pack.sock.4567abcd",
      "m.pack.sock.note",
    ]);
    seat.leave();
  });
});

describe("a leftover", () => {
  test("leaves a file that has the name by now", async () => {
    const folder = linkFolder();
    const [path, other] = [join(folder, "a"), join(folder, "b")];
    writeFileSync(path, "first");
    writeFileSync(other, "second");
    const mark = findFile(path)?.mark;
    if (mark === undefined) throw new Error("no file");
    renameSync(other, path);
    removeFile(path, mark);
    expect(await Bun.file(path).text()).toBe("second");
    expect(readdirSync(folder)).toEqual(["a"]);
  });
});

describe("an address that cannot be used", () => {
  const reasonOf = async (address: string, user?: number): Promise<string> => {
    const meeting = await meet(address, user);
    if (meeting.role !== "alone") throw new Error(`met as ${meeting.role}`);
    return meeting.reason;
  };
  const me = process.getuid?.() ?? 0;

  test("a socket of another user is neither spoken to nor removed", async () => {
    const address = join(linkFolder(), "m.pack.sock");
    const seat = await takeSeat(address);
    let isSpokenTo = false;
    seat.receive(() => {
      isSpokenTo = true;
    });
    expect(await reasonOf(address, me + 1)).toContain("its folder belongs to another user");
    expect(isSpokenTo).toBe(false);
    expect(existsSync(address)).toBe(true);
    seat.leave();
  });

  test.skipIf(NOT_ROOT !== undefined)(
    `a socket that a real other user listens on is refused${leftOut(NOT_ROOT)}`,
    async () => {
      const folder = linkFolder();
      chmodSync(folder, 0o1777);
      const address = join(folder, "m.pack.sock");
      const child = Bun.spawn(
        [
          "setpriv",
          "--reuid=65534",
          "--clear-groups",
          process.execPath,
          "-e",
          `require("node:net").createServer((s) => console.log("spoken to")).listen(process.argv[1], () => console.log("up"))`,
          address,
        ],
        { stdout: "pipe", env: { ...process.env, HOME: folder } },
      );
      const reader = child.stdout.getReader();
      expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("up\n");
      expect(await reasonOf(address)).toContain("its folder is open to other users");
      chmodSync(folder, 0o700);
      expect(await reasonOf(address)).toBe("the socket belongs to another user");
      child.kill();
      await child.exited;
      expect((await reader.read()).done).toBe(true);
    },
  );

  test.each([
    { name: "a file", make: (path: string) => writeFileSync(path, "notes") },
    { name: "a folder", make: (path: string) => mkdirSync(path) },
    { name: "a link to nowhere", make: (path: string) => symlinkSync("/nowhere/at/all", path) },
  ])("$name at the address stays as it is", async ({ make }) => {
    const folder = linkFolder();
    const address = join(folder, "m.pack.sock");
    make(address);
    const before = lstatSync(address).ino;
    expect(await reasonOf(address)).toBe("the name of the socket is that of another file");
    expect(lstatSync(address).ino).toBe(before);
    expect(readdirSync(folder)).toEqual(["m.pack.sock"]);
  });

  test("a folder that cannot be made is said", async () => {
    const folder = linkFolder();
    writeFileSync(join(folder, "file"), "");
    expect(await reasonOf(join(folder, "file/m.pack.sock"))).toContain("EEXIST");
  });
});
