import { createConnection, createServer, type Socket } from "node:net";

/** A line to a port of this machine that can be cut, and mended under the same number. */
export type Line = {
  readonly port: number;
  /** Ends all connections and takes no more. */
  cut(): Promise<void>;
  mend(): Promise<void>;
};

export async function cuttable(target: number): Promise<Line> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const ahead = createConnection(target, "127.0.0.1");
    for (const [one, other] of [
      [near, ahead],
      [ahead, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        open.delete(one);
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
        for (const socket of open) socket.destroy();
      }),
    mend: () => listen(port),
  };
}
