import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { createMcpServer } from "/work/main/src/surface/mcp/server.ts";
import { openStdio } from "/work/main/src/surface/mcp/stdio-transport.ts";
export async function open(deps: any) {
  const a = new PassThrough(), b = new PassThrough();
  const { transport } = openStdio(a, b);
  serveStdio(() => createMcpServer({ version: "9.9.9", log: console.error, ...deps }), { transport, onerror: console.error });
  const client = new Client({ name: "t", version: "1" });
  await client.connect(new StdioServerTransport(b, a));
  return { client, close: async () => { a.end(); await client.close(); } };
}
