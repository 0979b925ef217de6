import { createConnection, createServer, type Socket } from "node:net";

/** A line to a port of this machine that can be cut, and mended under the same number, or become silent. */
export type Line = {
  readonly port: number;
  /** Ends all connections and takes no more. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Nothing comes through any more, and nobody is told: on all connections, later ones too, or on that from a port of the line. */
  silence(those: "all" | number): void;
  /** What waited comes through. */
  speak(): void;
};

export async function cuttable(target: number): Promise<Line> {
  /** The ends of a connection: ours, and that of the server. */
  const pairs = new Map<Socket, Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    const ahead = createConnection(target, "127.0.0.1");
    pairs.set(near, ahead);
    for (const [one, other] of [
      [near, ahead],
      [ahead, near],
    ] as const) {
      one.pipe(other);
      if (isSilent) one.pause();
      one.on("error", () => other.destroy());
      one.on("close", () => {
        pairs.delete(near);
        other.destroy();
      });
    }
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of pairs.keys()) socket.destroy();
      }),
    mend: () => listen(port),
    silence: (those) => {
      isSilent = those === "all";
      for (const [one, ahead] of pairs) {
        if (!isSilent && ahead.localPort !== those) continue;
        one.pause();
        ahead.pause();
      }
    },
    speak: () => {
      isSilent = false;
      for (const socket of pairs.keys()) socket.resume();
      for (const socket of pairs.values()) socket.resume();
    },
  };
}
