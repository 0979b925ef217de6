import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { withoutInvisible } from "../../lib/invisible.ts";
import { reportError } from "../contract/core/error-map.ts";
import { describeCause, type Log } from "../contract/core/log.ts";
import { hasTool, type ToolAnswer, type ToolSet } from "../contract/core/operation.ts";
import { withoutPlace } from "../contract/core/pack-place.ts";
import { explain } from "./next-step.ts";
import { adviceOnOwner, callerOf, withOtherOwners } from "./pack-owner.ts";
import { toolDescriptions } from "./tool-descriptions.ts" with { type: "macro" };
import type { ToolDescription } from "./tool-descriptions.ts";
import {
  type CheckedCall,
  type OwnerArgument,
  toInputSchema,
  toOutputSchema,
} from "./tool-schema.ts";

const TOOLS: readonly ToolDescription[] = toolDescriptions();

export type McpDeps = {
  /** Resolves once the memory is open; rejects with the failure to open it, on every call. */
  readonly engine: () => Promise<MemoryEngine>;
  readonly version: string;
  /** The owner of everything on this connection; undefined: each call may name one. */
  readonly boundUserId: string | undefined;
  /** Whether the caller is the person who owns the pack, whom calls without an owner are for. Default false. */
  readonly isPersonal?: boolean | undefined;
  /** Default full. */
  readonly toolSet?: ToolSet | undefined;
  /** Whether callers are remote and must not learn where the pack is. Default false. */
  readonly hidesPlace?: boolean | undefined;
  readonly log: Log;
};

/** Offers the tools of the set. */
export function registerTools(server: McpServer, deps: McpDeps): void {
  const { toolSet = "full" } = deps;
  const audience = { owner: ownerArgument(deps), toolSet };
  for (const tool of TOOLS.filter((known) => hasTool(toolSet, known))) {
    const { tool: name, title, description, annotations } = tool;
    const inputSchema = toInputSchema(tool, audience);
    const outputSchema = toOutputSchema(tool);
    server.registerTool(
      name,
      { title, description, annotations, inputSchema, outputSchema },
      (checked, { mcpReq: { signal } }) => {
        const client = server.server.getClientVersion()?.name;
        return answer(tool, checked, deps, { client, signal });
      },
    );
  }
}

/** Whether and how a client names the owner of memories. */
export function ownerArgument({
  boundUserId,
  isPersonal,
}: Pick<McpDeps, "boundUserId" | "isPersonal">): OwnerArgument {
  if (boundUserId !== undefined) return "none";
  return isPersonal === true ? "optional" : "required";
}

async function answer(
  tool: ToolDescription,
  checked: CheckedCall,
  deps: McpDeps,
  { client, signal }: { readonly client: string | undefined; readonly signal: AbortSignal },
): Promise<CallToolResult> {
  const { version, toolSet = "full" } = deps;
  if ("refusal" in checked) return failed(checked.refusal);
  let engine: MemoryEngine;
  try {
    engine = await deps.engine();
  } catch (error) {
    return failed(openFailureFor(error, deps));
  }
  try {
    const caller = await callerOf(tool, engine, deps);
    const context = {
      engine: () => engine,
      caller,
      userId: caller.boundUserId,
      operator: "mcp-operator",
      version,
      client,
      signal,
    };
    const told = await withOtherOwners(await checked.call(context, toolSet), engine, deps);
    return withNews(toAnswer(told), engine, deps);
  } catch (error) {
    // A cancelled call fails because of that, and nobody reads its answer.
    const log: Log = signal.aborted ? () => {} : deps.log;
    const told = toErrorObject(error, tool.tool, log);
    const advice = await adviceOnOwner(error, engine, deps);
    const message = `${messageFor(told.error, error, deps)}${advice}`;
    const text = explain(error, message, toolSet);
    return toResult({ ...told, error: text }, text);
  }
}

const TOLD = new WeakSet<MemoryEngine>();

/** Says once that the pack was made just now: where another one was expected, nobody would notice. */
function withNews(result: CallToolResult, engine: MemoryEngine, deps: McpDeps): CallToolResult {
  const madeAt = "madeAt" in engine && deps.hidesPlace !== true ? engine.madeAt : undefined;
  if (typeof madeAt !== "string" || TOLD.has(engine)) return result;
  TOLD.add(engine);
  const text = `New, empty memory at ${madeAt}: no pack was there, so this session made one. If memories are expected, tell the user that the pack was moved or that its path is wrong.`;
  return { ...result, content: [...result.content, { type: "text", text }] };
}

/** The object for programs, the text for models, and for an answer about one memory, its resource. */
function toAnswer({ structured, text, nodeId }: ToolAnswer): CallToolResult {
  const result = toResult(structured, text);
  if (nodeId === undefined) return result;
  const link = {
    type: "resource_link",
    uri: `memory://nodes/${nodeId}`,
    name: "memory",
  } as const;
  return { ...result, content: [...result.content, link] };
}

/** The answer to a call that could not be made. */
function failed(error: string): CallToolResult {
  return { ...toResult({ error }, error), isError: true };
}

/** The structured content keeps every character; the text for a model has no invisible ones. */
function toResult(structured: object, lines: string): CallToolResult {
  const text = withoutInvisible(lines);
  return { content: [{ type: "text", text }], structuredContent: { ...structured } };
}

function toErrorObject(
  error: unknown,
  tool: string,
  log: Log,
): { readonly error: string; readonly [key: string]: unknown } {
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

/** The message about a memory that cannot be opened. */
export function openFailure(error: unknown): string {
  const report = reportError(error);
  return report.treatment.exposed || !(error instanceof Error)
    ? `The memory could not be opened: ${report.message}`
    : `The memory could not be opened: ${error.message}`;
}

/** The same for this caller, who may be remote. */
export function openFailureFor(error: unknown, deps: Pick<McpDeps, "hidesPlace" | "log">): string {
  const whole = openFailure(error);
  if (deps.hidesPlace !== true) return whole;
  deps.log("error", whole);
  return reportError(error).treatment.exposed
    ? messageFor(whole, error, deps)
    : "The memory could not be opened; the log of the server says why";
}

/** A message for this caller. */
export function messageFor(
  message: string,
  error: unknown,
  { hidesPlace }: Pick<McpDeps, "hidesPlace">,
): string {
  return hidesPlace === true ? withoutPlace(message, error) : message;
}
