import type { CallToolResult, McpServer } from "@modelcontextprotocol/server";
import { type ErrorCode, SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { withoutInvisible } from "../../lib/invisible.ts";
import type { Caller } from "../contract/core/caller.ts";
import { reportError, withoutPlace } from "../contract/core/error-map.ts";
import { describeCause, type Log } from "../contract/core/log.ts";
import { hasTool, type ToolAnswer, type ToolSet } from "../contract/core/operation.ts";
import { tellNothingUnder, tellSeveral } from "../contract/core/tool-text.ts";
import { type ToolDescription, toolDescriptions } from "./shown-schemas.ts";
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
  /** Whether the caller is the person who owns the pack and so of calls without an owner. Default false. */
  readonly isPersonal?: boolean | undefined;
  /** Default full. */
  readonly toolSet?: ToolSet | undefined;
  /** Whether callers are remote and must not learn the path of the pack. Default false. */
  readonly hidesPlace?: boolean | undefined;
  readonly log: Log;
};

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
    // A cancelled call fails for that reason, and its answer is not read.
    const log: Log = signal.aborted ? () => {} : deps.log;
    const told = toErrorObject(error, tool.tool, log);
    const advice = await adviceOnOwner(error, engine, deps);
    const message = `${messageFor(told.error, error, deps)}${advice}`;
    const text = explain(error, message, toolSet);
    return toResult({ ...told, error: text }, text);
  }
}

const TOLD = new WeakSet<MemoryEngine>();

/** Reports once that the pack was just created: if another was expected, this would go unnoticed. */
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

export function messageFor(
  message: string,
  error: unknown,
  { hidesPlace }: Pick<McpDeps, "hidesPlace">,
): string {
  return hidesPlace === true ? withoutPlace(message, error) : message;
}

/** Where to find the id of a missing object. With core tools, only memories can be missing. */
const FOUND_BY: Readonly<Record<string, string>> = {
  node: "Find the id with memory_retrieve.",
  event: "Take the id from the evidence_refs of memory_get_node.",
  retrieval: "Take the request_id from the answer of memory_retrieve.",
  retrieval_receipt: "Take the request_id from the answer of memory_retrieve.",
  extraction: "Its text as it was given is read by memory_get_event.",
  extraction_status: "Its text as it was given is read by memory_get_event.",
  answer_citations: "Find the id with memory_list_answer_citations.",
};

const AFTER: Readonly<Partial<Record<ErrorCode, string>>> = {
  request_conflict: "Use another UUID for another change.",
  bad_citation: "Cite only ids that memory_retrieve returned for this request_id.",
  materialization_failed: "The text is safe and is indexed later: do not store it again.",
  extraction_failed:
    "The text is safe: do not send it again. memory_extraction_status says how far it is.",
  storage_busy: "Call again.",
  storage_unavailable: "Call again in a moment.",
  pack_in_use: "Call again later.",
  embedding_failed: "Call again later.",
  model_failed: "Call again later.",
  model_timeout: "Call again later.",
};

/** Arguments that take the id of a memory. */
const NODE_ID = /^(?:(?:\w+_)?node(?:_[ab])?|winner|loser)_id$/;
const WHOLE_ID = "Give a whole id, as memory_retrieve shows it.";
const SAME_SCOPE =
  "Store it again in the scope of the old one, supersede with that, and archive this copy.";
const SO_ALREADY = "It is so already: nothing is to be done.";
const SETTLE_FIRST = "End the contradiction first, with memory_resolve_contradiction.";

/** What failed, and what to do about it if the message does not say so. */
export function explain(error: unknown, message: string, toolSet: ToolSet = "full"): string {
  if (!(error instanceof SvcError)) return message;
  // The rejection of a confirmation already says what to do.
  const step = error.data["field"] === "confirm" ? undefined : stepAfter(error, toolSet);
  if (step === undefined) return message;
  const { event_id: eventId } = error.data;
  // The event id of a stored text: a client that reads only texts has no other way to get it.
  const id = typeof eventId === "string" ? ` event_id ${eventId}` : "";
  return `${message}${message.endsWith(".") ? "" : "."} ${step}${id}`;
}

function stepAfter({ code, data, message }: SvcError, toolSet: ToolSet): string | undefined {
  const { kind, field, action, from, to } = data;
  if (code === "not_found" && typeof kind === "string") return FOUND_BY[kind];
  if (code === "invalid_argument" && typeof field === "string") {
    if (field === "new_node_id" && message.endsWith(" of one scope")) return SAME_SCOPE;
    return NODE_ID.test(field) && message.endsWith(" is not a UUID") ? WHOLE_ID : undefined;
  }
  if (code !== "invalid_transition") return AFTER[code];
  // A memory that was to be replaced keeps its state.
  if (from === to && action !== "supersede") return SO_ALREADY;
  return from === "contested" && toolSet === "full" ? SETTLE_FIRST : undefined;
}

/** The caller on a connection. */
type Served = {
  readonly boundUserId: string | undefined;
  readonly isPersonal?: boolean | undefined;
};

/** The owner on whose behalf a tool runs. The first write to an unused pack records the person as its owner. */
async function callerOf(
  { needsOwner, annotations }: Pick<ToolDescription, "needsOwner" | "annotations">,
  engine: MemoryEngine,
  served: Served,
): Promise<Caller> {
  const { boundUserId } = served;
  if (!needsOwner || !isOpen(served)) return { boundUserId };
  const owner = annotations.readOnlyHint ? engine.packOwner() : engine.claimPack();
  return { boundUserId, defaultUserId: await owner };
}

/** The answer; if it is empty because only other owners have memories, also their names. */
async function withOtherOwners(
  answer: ToolAnswer,
  engine: MemoryEngine,
  served: Served,
): Promise<ToolAnswer> {
  const { nothingOf, structured, text } = answer;
  if (nothingOf === undefined || !isOpen(served)) return answer;
  const { nodeCount } = await engine.stats(nothingOf);
  if (nodeCount > 0) return answer;
  const others = await engine.ownersWithMemories();
  if (others.length === 0) return answer;
  const hint = tellNothingUnder(nothingOf, others);
  return { ...answer, structured: { ...structured, hint }, text: `${text}\n${hint}` };
}

/** Hint for a call without an owner if the pack has several. */
async function adviceOnOwner(
  error: unknown,
  engine: MemoryEngine,
  served: Served,
): Promise<string> {
  if (!isOpen(served) || !(error instanceof SvcError)) return "";
  if (error.code !== "invalid_argument" || error.data["field"] !== "user_id") return "";
  const owners = await engine.ownersWithMemories().catch(() => []);
  if (owners.length < 2) return "";
  return `. ${tellSeveral(owners)}. Name one; the user settles it permanently with: svc owner use`;
}

function isOpen({ boundUserId, isPersonal }: Served): boolean {
  return boundUserId === undefined && isPersonal === true;
}
