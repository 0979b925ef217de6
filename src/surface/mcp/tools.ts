import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { reportError } from "../contract/error-map.ts";
import { describeCause, type Log } from "../contract/log.ts";
import type { McpBinding, PreparedCall } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";
import { toInputSchema, toOutputSchema } from "./tool-schema.ts";

export type McpDeps = {
  /** Resolves once the memory is open; rejects with the failure to open it, every time it is asked. */
  readonly engine: () => Promise<MemoryEngine>;
  readonly version: string;
  /** The owner of everything on this connection; undefined: each call names one. */
  readonly boundUserId: string | undefined;
  readonly log: Log;
};

/** Offers every operation that has a tool. */
export function registerTools(server: McpServer, deps: McpDeps): void {
  for (const { mcp } of OPERATIONS) {
    if (mcp === undefined) continue;
    server.registerTool(
      mcp.tool,
      {
        title: mcp.title,
        description: mcp.description,
        annotations: { title: mcp.title, ...mcp.annotations },
        inputSchema: toInputSchema(mcp, deps.boundUserId === undefined),
        outputSchema: toOutputSchema(mcp),
      },
      (call, context) => answer(mcp, call, deps, context.mcpReq.signal),
    );
  }
}

async function answer(
  binding: McpBinding,
  call: PreparedCall,
  deps: McpDeps,
  signal: AbortSignal,
): Promise<CallToolResult> {
  let engine: MemoryEngine;
  try {
    engine = await deps.engine();
  } catch (error) {
    return { ...toResult({ error: openFailure(error) }), isError: true };
  }
  try {
    const { boundUserId } = deps;
    const context = {
      engine: () => engine,
      caller: { boundUserId },
      operator: "mcp-operator",
      version: deps.version,
      signal,
    };
    return toResult(await call(context));
  } catch (error) {
    return toResult(toErrorObject(error, binding.tool, deps.log));
  }
}

/** The object both as structured content and, for older clients, as text. */
function toResult(value: object): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: { ...value },
  };
}

function toErrorObject(error: unknown, tool: string, log: Log): object {
  const report = reportError(error);
  switch (report.treatment.mcp) {
    case "error":
      return { error: report.message };
    case "conflict":
      return { error: report.message, conflict: true };
    case "accepted":
      return { error: report.message, accepted: true, ...report.accepted };
    case "internal":
      log("error", `internal error in ${tool}: ${describeCause(error)}`);
      return { error: `Internal error in ${tool}` };
  }
}

/** What to tell about a memory that cannot be opened. */
export function openFailure(error: unknown): string {
  const report = reportError(error);
  return report.treatment.exposed || !(error instanceof Error)
    ? `The memory could not be opened: ${report.message}`
    : `The memory could not be opened: ${error.message}`;
}
