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
  /** Who acts when no owner is bound: `api-operator` or `mcp-operator`. */
  readonly operator: string;
  /** Version of the program. */
  readonly version: string;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal | undefined;
};

/** The parts of an HTTP request, still unchecked. Of a repeated query parameter the last one counts. */
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
    /** The body may be left out, be `null` or `{}`. */
    readonly bodyIsOptional?: boolean;
  };
  /** How the answer is told. */
  readonly response: View<never>;
  /** Documented statuses beside 200, 401, 403, 422, 500 and 503. */
  readonly statuses: readonly (400 | 404 | 409)[];
  /** Needs neither credentials nor an open engine. */
  readonly isPublic?: boolean;
};

/** `full`: every tool. `core`: what an assistant needs every day, for clients that pay for each tool they show. */
export type ToolSet = "core" | "full";

/** Whether a set has a tool. */
export function hasTool(set: ToolSet, { toolSet }: { readonly toolSet: ToolSet }): boolean {
  return set === "full" || toolSet === "core";
}

/** What the text block of a tool's answer is: the JSON of the structured content, or a readable text in few tokens. */
export type AnswerForm = "json" | "text";

type McpShape = {
  readonly tool: string;
  readonly title: string;
  /** Written for a model: when to call it, when not, and what comes back. */
  readonly description: string;
  /** The smallest set that has it. */
  readonly toolSet: ToolSet;
  /** Arguments that the core set shows; it accepts them all. Absent: all are shown. */
  readonly coreArguments?: readonly string[];
  /** Arguments that are accepted and never shown: other names of shown ones. */
  readonly silentArguments?: readonly string[];
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
  readonly input: z.ZodObject;
  /** How the structured answer is told. */
  readonly output: View<never>;
  /** Whether an operator has to name the owner. */
  readonly needsOwner: boolean;
};

/** JSON on its way out. */
export type WireObject = object;
/** A call whose arguments have passed their schema. */
export type PreparedCall = (context: CallContext) => Promise<WireObject>;

/** What a tool answers. */
export type ToolAnswer = {
  /** For programs. */
  readonly structured: WireObject;
  /** The same for a model, in few words, with every id that a next call may need. */
  readonly text: string;
  /** The one memory that the answer is about. */
  readonly nodeId: Uuid | undefined;
  /** Whose memories were asked for, where the answer holds none. */
  readonly nothingOf: string | undefined;
};
/** A call of a tool whose arguments have passed their schema. The texts name tools of the given set only. */
export type PreparedTool = (context: CallContext, toolSet: ToolSet) => Promise<ToolAnswer>;

export type HttpBinding = HttpShape & {
  /** Checks the parts; the returned call may be refused by the engine still. */
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
  /** Checks what no schema can, asks the engine. */
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
      /** Whether an answer from the memories of one owner, whom `owner` tells, holds none of them. */
      readonly search?: {
        readonly isEmpty: (output: Output) => boolean;
        readonly owner: (input: Input) => string | null | undefined;
      };
    };
};

/** How a tool's output is told; `write` tells it where that depends on the input. */
type Written<Input, Output> =
  | { readonly output: View<Output>; readonly write?: undefined }
  | { readonly output: View<never>; readonly write: (output: Output, input: Input) => Json };

/** Binds an operation's types together and hides them, so that operations of all kinds stand in one table. */
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
  // SAFETY: every operation answers with an object or a list.
  return json as WireObject;
}
