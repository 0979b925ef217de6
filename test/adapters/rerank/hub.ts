import type { Server } from "bun";
import { type TinyKind, tinyModelFiles } from "./tiny-model.ts";

/** A hub of models on this machine that counts what is asked of it. */
export type Hub = {
  readonly url: string;
  /** Paths in the order in which they were asked for. */
  readonly asked: string[];
  stop(): void;
};

export type HubOptions = {
  readonly kind?: TinyKind;
  /** Answers in place of the hub where it returns something. */
  readonly answer?: (path: string) => Response | Promise<Response | undefined> | undefined;
};

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";
export const MODEL = "someone/tiny-pairs";

/** As the real hub: `/<model>/resolve/<revision>/<file>`, large files behind a redirect, their hash announced on it. */
export function startHub({ kind = "relevance", answer }: HubOptions = {}): Hub {
  const files = tinyModelFiles(kind);
  const asked: string[] = [];
  const server: Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname;
      asked.push(path);
      const special = await answer?.(path);
      if (special !== undefined) return special;
      const found = /^\/(?:someone\/tiny-pairs\/resolve\/(?:main|[0-9a-f]{40})|blobs)\/(.+)$/.exec(
        path,
      );
      const content = files[found?.[1] ?? ""];
      if (content === undefined) return new Response("Entry not found", { status: 404 });
      if (path.startsWith("/blobs/") || !path.endsWith(".onnx")) {
        return new Response(content, { headers: { "x-repo-commit": COMMIT } });
      }
      return new Response(null, {
        status: 302,
        headers: {
          location: `/blobs/${found?.[1]}`,
          "x-repo-commit": COMMIT,
          "x-linked-etag": `"${sha256(content)}"`,
        },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    asked,
    stop: () => {
      void server.stop(true);
    },
  };
}

function sha256(content: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

/** An address that accepts connections and never says a word. */
export function startSilentHost(): Hub {
  const sockets = new Set<{ end(): void }>();
  const listener = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { open: (socket) => void sockets.add(socket), data: () => {} },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    asked: [],
    stop: () => {
      for (const socket of sockets) socket.end();
      listener.stop(true);
    },
  };
}
