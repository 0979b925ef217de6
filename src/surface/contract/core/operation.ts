import type { z } from "zod";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { Json } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { View } from "../../../lib/view.ts";
import { type Caller, requireOwner } from "./caller.ts";

/** What an operation runs with. */
export type CallContext = {
  readonly engine: () => MemoryEngine;
  readonly caller: Caller;
  /** The actor if no owner is bound: `api-operator` or `mcp-operator`. */
  readonly operator: string;
  /** Version of the program. */
  readonly version: string;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined;
};

/** The parts of an HTTP request, still unchecked. The last value of a repeated query parameter counts. */
export type HttpParts = {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Every value of the query parameters that may be repeated, in their order. */
  readonly queryLists: Readonly<Record<string, readonly string[]>>;
  readonly idempotencyKey: string | undefined;
  readonly body: unknown;
};

type HttpShape = {
  readonly method: "get" | "post" | "put";
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly request: {
    readonly params?: z.ZodObject;
    readonly query?: z.ZodObject;
    readonly headers?: z.ZodObject;
    readonly body?: z.ZodObject;
    /** The body may be absent, `null` or `{}`. */
    readonly bodyIsOptional?: boolean;
  };
  /** The form of the answer. */
  readonly response: View<never>;
  /** Documented statuses besides 200, 401, 403, 422, 500 and 503. */
  readonly statuses: readonly (400 | 404 | 409)[];
  /** Needs neither credentials nor an open engine. */
  readonly isPublic?: boolean;
};

/** `full`: every tool. `core`: what an assistant needs every day, for clients that pay for each tool in the list. */
export type ToolSet = "core" | "full";

/** Whether a set contains a tool. */
export function hasTool(set: ToolSet, { toolSet }: { readonly toolSet: ToolSet }): boolean {
  return set === "full" || toolSet === "core";
}

/** Form of the text block of a tool's answer: the JSON of the structured content, or a readable text in few tokens. */
export type AnswerForm = "json" | "text";

type McpShape = {
  readonly tool: string;
  readonly title: string;
  /** Written for a model: when to call it, when not, and what comes back. */
  readonly description: string;
  /** The smallest set that has it. */
  readonly toolSet: ToolSet;
  /** Arguments shown in the core set, which accepts all. Absent: all are shown. */
  readonly coreArguments?: readonly string[];
  /** Arguments that are accepted but never shown: aliases of shown ones. */
  readonly silentArguments?: readonly string[];
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly input: z.ZodObject;
  /** The form of the structured answer. */
  readonly output: View<never>;
  /** Whether an operator must name the owner. */
  readonly needsOwner: boolean;
};

/** Outgoing JSON. */
export type WireObject = object;
/** A call whose arguments have passed their schema. */
export type PreparedCall = (context: CallContext) => Promise<WireObject>;

/** What a tool answers. */
export type ToolAnswer = {
  /** For programs. */
  readonly structured: WireObject;
  /** The same for a model, in few words, with every id that a further call may need. */
  readonly text: string;
  /** The one memory that the answer is about. */
  readonly nodeId: Uuid | undefined;
  /** The owner of the request, if the answer contains none of that owner's memories. */
  readonly nothingOf: string | undefined;
};
/** A tool call whose arguments have passed their schema. The texts name only tools of the given set. */
export type PreparedTool = (context: CallContext, toolSet: ToolSet) => Promise<ToolAnswer>;

export type HttpBinding = HttpShape & {
  /** Checks the parts; the engine may still refuse the returned call. */
  readonly prepare: (parts: HttpParts) => PreparedCall;
};
export type McpBinding = McpShape & { readonly prepare: (args: unknown) => PreparedTool };

/** One thing a caller can ask for, on every surface that offers it. */
export type Operation = {
  /** Also its operationId in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly http: HttpBinding | undefined;
  readonly mcp: McpBinding | undefined;
};

type Definition<Input, Output> = {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** Checks what no schema can, then asks the engine. */
  readonly run: (context: CallContext, input: Input) => Promise<Output>;
  readonly http?: HttpShape & {
    readonly response: View<Output>;
    readonly read: (parts: HttpParts) => Input;
  };
  readonly mcp?: McpShape &
    Written<Input, Output> & {
      readonly read: (args: unknown) => Input;
      readonly tell: (output: Output, input: Input, toolSet: ToolSet) => string;
      readonly about?: (output: Output) => Uuid;
      /** Whether an answer from the memories of one owner, given by `owner`, contains none of them. */
      readonly search?: {
        readonly isEmpty: (output: Output) => boolean;
        readonly owner: (input: Input) => string | null | undefined;
      };
    };
};

/** The form of a tool's output; `write` depends on the input. */
type Written<Input, Output> =
  | { readonly output: View<Output>; readonly write?: undefined }
  | { readonly output: View<never>; readonly write: (output: Output, input: Input) => Json };

/** Binds an operation's types together and hides them, so that operations of all kinds fit into one table. */
export function defineOperation<Input, Output>(definition: Definition<Input, Output>): Operation {
  const { name, summary, description, run, http, mcp } = definition;
  return {
    name,
    summary,
    description,
    http: http && {
      ...http,
      prepare: (parts) => {
        const input = http.read(parts);
        return async (context) => toObject(http.response.json(await run(context, input)));
      },
    },
    mcp: mcp && {
      ...mcp,
      prepare: (args) => {
        const input = mcp.read(args);
        return async (context, toolSet) => {
          const output = await run(context, input);
          return {
            structured: toObject(
              mcp.write === undefined ? mcp.output.json(output) : mcp.write(output, input),
            ),
            text: mcp.tell(output, input, toolSet),
            nodeId: mcp.about?.(output),
            nothingOf:
              mcp.search?.isEmpty(output) === true
                ? requireOwner(context.caller, mcp.search.owner(input))
                : undefined,
          };
        };
      },
    },
  };
}

function toObject(json: Json): WireObject {
  // SAFETY: every operation returns an object or a list.
  return json as WireObject;
}
