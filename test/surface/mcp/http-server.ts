import { afterEach } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import type { Server } from "../../../src/surface/listener/server.ts";
import { type McpServerDeps, startMcpServer } from "../../../src/surface/mcp/http.ts";
import { fakeEngine } from "../fake-engine.ts";

export const KEYS = { ada: "key-of-ada", bob: "key-of-bob" };
export const REVISION = "2026-07-28";

type Json = Readonly<Record<string, unknown>>;

/** A request; `key` null for none. */
export type Sent = {
  readonly key?: string | null;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

export type Answered = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined when the answer is no JSON. */
  readonly json: Json | undefined;
};

export type Served = {
  readonly server: Server;
  readonly log: readonly string[];
  /** Posts a message; a text or bytes are sent as they are. */
  send(message: unknown, sent?: Sent): Promise<Answered>;
  /** The official client, connected with a key. */
  connect(key: string): Promise<Client>;
};

/** Servers on free ports; each is stopped after its test. */
export function useMcpServers() {
  const servers: Server[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  return async (
    engine: MemoryEngine = fakeEngine({ close: async () => {} }),
    deps: Partial<McpServerDeps> = {},
  ): Promise<Served> => {
    const log: string[] = [];
    const server = startMcpServer({
      port: 0,
      userKeys: KEYS,
      version: "9.9.9",
      drainMs: 1000,
      log: (level, message) => log.push(`${level} ${message}`),
      openEngine: () => Promise.resolve(engine),
      ...deps,
    });
    servers.push(server);
    await server.ready;
    return { server, log, ...clientsOf(`${server.url}/mcp`) };
  };
}

/** How to speak to an address. */
export function clientsOf(url: string): Pick<Served, "send" | "connect"> {
  return {
    send: async (
      message,
      { key = KEYS.ada, method = "POST", path = url, headers, signal } = {},
    ) => {
      const body = method === "POST" ? { body: asBody(message) } : {};
      const answer = await fetch(path, {
        method,
        headers: {
          "content-type": "application/json",
          ...(key !== null && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        ...body,
        ...(signal !== undefined && { signal }),
      });
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, json: asJson(text) };
    },
    connect: async (key) => {
      const client = new Client({ name: "test", version: "1.0.0" });
      const headers = { authorization: `Bearer ${key}` };
      const transport = new StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers },
      });
      // SAFETY: the library's own transport lacks `undefined` in the type of an optional member.
      await client.connect(transport as Parameters<Client["connect"]>[0]);
      return client;
    },
  };
}

function asBody(message: unknown): string {
  return typeof message === "string" ? message : JSON.stringify(message);
}

function asJson(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A request of a revision with a handshake. */
export function request(method: string, params: object = {}, id: string | number = 1): object {
  return { jsonrpc: "2.0", id, method, params };
}

/** A request of 2026-07-28, with the headers that repeat what it says. */
export function modern(
  method: string,
  params: object = {},
  revision = REVISION,
): { readonly message: object; readonly headers: Readonly<Record<string, string>> } {
  const name = "name" in params ? params.name : "uri" in params ? params.uri : undefined;
  return {
    message: request(method, { ...params, _meta: envelope(revision) }),
    headers: {
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": String(name) }),
    },
  };
}

/** What each request of 2026-07-28 says about its client. */
export function envelope(revision = REVISION): object {
  return {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}
