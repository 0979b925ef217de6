import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { type McpStdioDeps, serveMcpStdio } from "../../../src/surface/mcp/stdio.ts";

export type Session = {
  readonly client: Client;
  readonly log: string[];
  /** Settles as serveMcpStdio does. */
  readonly served: Promise<void>;
  /** The client leaves, as a closed stdin shows it. */
  leave(): Promise<void>;
};

/** The official client and our server, joined by two streams as by two pipes. */
export async function openSession(
  openEngine: () => Promise<MemoryEngine>,
  options: Pick<McpStdioDeps, "boundUserId" | "stop" | "toolSet"> = {},
): Promise<Session> {
  const toServer = new PassThrough();
  const toClient = new PassThrough();
  const log: string[] = [];
  const served = serveMcpStdio({
    ...options,
    openEngine,
    version: "9.9.9",
    log: (_level, message) => log.push(message),
    stdin: toServer,
    stdout: toClient,
  });
  served.catch(() => undefined);
  const client = new Client({ name: "test", version: "1.0.0" });
  // Newline-delimited JSON looks the same from both ends.
  await client.connect(new StdioServerTransport(toClient, toServer));
  return {
    client,
    log,
    served,
    leave: async () => {
      toServer.end();
      await served;
      await client.close();
    },
  };
}
