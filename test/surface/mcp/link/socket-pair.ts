import { createConnection, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { linkFolder } from "./link-folder.ts";

/** Both ends of one connection, standing still, as a guest and a host have them. */
export async function socketPair(): Promise<{ readonly guest: Socket; readonly host: Socket }> {
  const path = join(linkFolder(), "pair.sock");
  const { promise: accepted, resolve } = Promise.withResolvers<Socket>();
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, resolve);
  await new Promise<void>((listening) => server.listen(path, listening));
  const guest = createConnection(path);
  guest.on("error", () => undefined);
  await new Promise<void>((connected) => guest.once("connect", connected));
  guest.pause();
  const host = await accepted;
  host.on("error", () => undefined);
  server.close();
  return { guest, host };
}
