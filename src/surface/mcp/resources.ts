import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { reportError } from "../contract/error-map.ts";
import { describeCause } from "../contract/log.ts";
import { getNodeOperation } from "../contract/read-operations.ts";
import type { McpDeps } from "./tools.ts";

const JSON_TYPE = "application/json";

/** Offers health, counts and single memories as resources. */
export function registerResources(server: McpServer, deps: McpDeps): void {
  server.registerResource(
    "health",
    "memory://health",
    {
      title: "Health",
      description: "Whether the memory server runs, and its version.",
      mimeType: JSON_TYPE,
    },
    (uri) => toContents(uri, { status: "ok", version: deps.version }),
  );
  server.registerResource(
    "stats",
    "memory://stats",
    { title: "Statistics", description: "How many memories are stored.", mimeType: JSON_TYPE },
    async (uri) => toContents(uri, await readStats(deps)),
  );
  server.registerResource(
    "node",
    new ResourceTemplate("memory://nodes/{node_id}", { list: undefined }),
    {
      title: "Memory",
      description: "One memory with its state, source, validity and evidence.",
      mimeType: JSON_TYPE,
    },
    async (uri, variables) => toContents(uri, await readNode(deps, String(variables["node_id"]))),
  );
}

async function readStats({ engine, version, boundUserId }: McpDeps): Promise<object> {
  const { nodeCount, backend } = await (await engine()).stats(boundUserId);
  return { node_count: nodeCount, backend, version };
}

async function readNode(deps: McpDeps, nodeId: string): Promise<object> {
  const { boundUserId, version, log } = deps;
  try {
    const engine = await deps.engine();
    const read = getNodeOperation.mcp?.prepare({ node_id: decodeURIComponent(nodeId) });
    if (read === undefined) throw new Error("get_node has no MCP binding");
    return await read({
      engine: () => engine,
      caller: { boundUserId },
      operator: "mcp-operator",
      version,
      signal: undefined,
    });
  } catch (error) {
    const report = reportError(error);
    if (!report.treatment.exposed) log("error", `reading a node failed: ${describeCause(error)}`);
    return { error: report.message };
  }
}

function toContents(uri: URL, value: object): ReadResourceResult {
  return { contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: JSON.stringify(value) }] };
}
