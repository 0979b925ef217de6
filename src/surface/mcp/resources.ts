import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
} from "@modelcontextprotocol/server";
import { withoutInvisible } from "../../lib/invisible.ts";
import { reportError } from "../contract/core/error-map.ts";
import { describeCause } from "../contract/core/log.ts";
import { json } from "../contract/core/tool-text.ts";
import { loadOperations } from "./tool-schema.ts";
import { type McpDeps, messageFor, openFailureFor } from "./tools.ts";

const JSON_TYPE = "application/json";
/** Number of newest memories among which an id is completed. */
const COMPLETED_AMONG = 500;
/** Number of ids offered; the protocol allows a hundred. */
const OFFERED_IDS = 20;

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
    async (uri) => toContents(uri, await readOrExplain(() => readStats(deps), deps)),
  );
  server.registerResource(
    "node",
    new ResourceTemplate("memory://nodes/{node_id}", {
      list: undefined,
      complete: { node_id: (typed) => completeNodeId(typed, deps) },
    }),
    {
      title: "Memory",
      description: "One memory with its state, source, validity and evidence.",
      mimeType: JSON_TYPE,
    },
    async (uri, { node_id: id }) =>
      toContents(uri, await readOrExplain(() => readNode(decoded(String(id)), deps), deps)),
  );
}

async function readStats({ engine, version, boundUserId }: McpDeps): Promise<object> {
  const { nodeCount, backend } = await (await engine()).stats(boundUserId);
  return { node_count: nodeCount, backend, version };
}

async function readNode(nodeId: string, deps: McpDeps): Promise<object> {
  const { boundUserId, version, toolSet = "full" } = deps;
  const engine = await deps.engine();
  const { bindingOf } = await loadOperations();
  const read = bindingOf("memory_get_node").prepare({ node_id: nodeId });
  const caller = { boundUserId };
  const operator = "mcp-operator";
  const asked = { caller, userId: boundUserId, operator, version, signal: undefined };
  const context = { engine: () => engine, ...asked };
  return (await read(context, toolSet)).structured;
}

/** A segment of a URI; a badly encoded one is returned as it is, and is not an id. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

async function readOrExplain(read: () => Promise<object>, deps: McpDeps): Promise<object> {
  try {
    await deps.engine();
  } catch (error) {
    return { error: openFailureFor(error, deps) };
  }
  try {
    return await read();
  } catch (error) {
    const report = reportError(error);
    if (!report.treatment.exposed) {
      deps.log("error", `reading a resource failed: ${describeCause(error)}`);
    }
    return { error: messageFor(report.message, error, deps) };
  }
}

/** Ids of the newest memories that begin with what was typed; none if the memory cannot be read. */
async function completeNodeId(typed: string, { engine, boundUserId, log }: McpDeps) {
  try {
    const newest = await (await engine()).queryNodes({
      userId: boundUserId,
      limit: COMPLETED_AMONG,
    });
    const begin = typed.toLowerCase();
    return newest
      .map(({ id }) => id)
      .filter((id) => id.startsWith(begin))
      .slice(0, OFFERED_IDS);
  } catch (error) {
    log("warn", `completing an id failed: ${describeCause(error)}`);
    return [];
  }
}

function toContents(uri: URL, value: object): ReadResourceResult {
  return {
    contents: [{ uri: uri.href, mimeType: JSON_TYPE, text: withoutInvisible(json(value)) }],
  };
}
