import { McpServer } from "@modelcontextprotocol/server";
import { registerResources } from "./resources.ts";
import { type McpDeps, registerTools } from "./tools.ts";

const INSTRUCTIONS =
  "A long-term memory that its user owns. Search it with memory_retrieve before answering what earlier conversations may have " +
  "settled; keep what should last with memory_store, one self-contained statement at a time.";

/** A server for one connection; it opens nothing. */
export function createMcpServer(deps: McpDeps): McpServer {
  const server = new McpServer(
    { name: "svc", title: "svc memory", version: deps.version },
    { instructions: INSTRUCTIONS, capabilities: { tools: {}, resources: {} } },
  );
  registerTools(server, deps);
  registerResources(server, deps);
  return server;
}
