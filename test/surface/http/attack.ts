import { afterEach } from "bun:test";
import { connect, type Socket } from "node:net";

/** A connection that sends what no client would. */
export type Attack = {
  readonly socket: Socket;
  /** Everything that came back. */
  readonly answer: () => string;
  readonly closed: Promise<void>;
};

/** Connections that send the parts as they are, and stay open until the test ends. */
export function useAttacks(): (port: number, ...parts: (string | Uint8Array)[]) => Promise<Attack> {
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  return async (port, ...parts) => {
    const socket = connect(port, "127.0.0.1");
    sockets.push(socket);
    let answer = "";
    socket.on("data", (data) => {
      answer += String(data);
    });
    socket.on("error", () => undefined);
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
    for (const part of parts) socket.write(part);
    return { socket, answer: () => answer, closed };
  };
}

/** Sends the same drop on all of the connections, every 20 milliseconds, until they are closed. */
export function drip(all: readonly Attack[], drop: string): void {
  const timer = setInterval(() => {
    const open = all.filter(({ socket }) => !socket.destroyed);
    if (open.length === 0) clearInterval(timer);
    for (const { socket } of open) socket.write(drop);
  }, 20);
}
