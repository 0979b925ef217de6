import { expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { isStranger, peerUser } from "../../../../src/surface/mcp/link/handshake.ts";
import { leftOut } from "../../../left-out.ts";
import { CONNECT, NOBODY, noStranger, startStranger } from "../../../scenario/stranger.ts";
import { linkFolder } from "./link-folder.ts";
import { socketPair } from "./socket-pair.ts";

const onWindows = process.platform === "win32" ? "Windows has no such sockets" : undefined;
test.skipIf(onWindows !== undefined)(
  `both ends of a connection know its user${leftOut(onWindows)}`,
  async () => {
    const { guest, host } = await socketPair();
    const user = process.getuid?.();
    expect([await peerUser(guest), await peerUser(host)]).toEqual([user, user]);
    expect([await isStranger(guest), await isStranger(host)]).toEqual([false, false]);
    guest.destroy();
    host.destroy();
  },
);

test.skipIf(noStranger !== undefined)(
  `a connection of another user is one of a stranger${leftOut(noStranger)}`,
  async () => {
    const folder = linkFolder();
    chmodSync(folder, 0o755);
    const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
    const server = createServer({ pauseOnConnect: true }, resolve);
    await new Promise<void>((listening) => server.listen(join(folder, "m.sock"), listening));
    chmodSync(join(folder, "m.sock"), 0o666);
    const stranger = await startStranger(CONNECT, join(folder, "m.sock"));
    const socket = await accepted;
    expect(await peerUser(socket)).toBe(NOBODY);
    expect(await isStranger(socket)).toBe(true);
    socket.destroy();
    server.close();
    await stranger.stop();
  },
);
