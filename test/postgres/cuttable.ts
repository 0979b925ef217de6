import { createConnection, createServer, type Socket } from "node:net";
import { freePort } from "../../scripts/check/postgres.ts";

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

const LISTEN_LIMIT_MS = 30_000;

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
  const tryToListen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  // Somebody else may have its port for a moment.
  const listen = async (port: number): Promise<void> => {
    const end = performance.now() + LISTEN_LIMIT_MS;
    for (;;) {
      try {
        return await tryToListen(port);
      } catch (error) {
        if (performance.now() > end) throw error;
        await Bun.sleep(50);
      }
    }
  };
  const port = await freePort();
  await listen(port);
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
