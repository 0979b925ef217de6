import { z } from "zod";
import type { SvcError } from "../../../domain/errors.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { Shape, View } from "../../../lib/form.ts";
import type { Json } from "../../../lib/json.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import { actorOf, type Caller } from "./caller.ts";
import type { Examine } from "./examination.ts";
import { readArguments } from "./meant-arguments.ts";
import {
  type Body,
  type Fields,
  type HttpParts,
  type HttpRequest,
  httpRequest,
  type InputOf,
  inputReader,
  RETRY_HEADER,
  toolSchema,
  type Wire,
} from "./request.ts";
import { linesOf } from "./tool-text.ts";
import { parseWire } from "./wire-issues.ts";

export type CallContext = {
  readonly engine: () => MemoryEngine;
  readonly caller: Caller;
  /** The only owner whose objects the call reaches by id; undefined: all. */
  readonly userId: string | undefined;
  /** The actor if no owner is bound: `api-operator` or `mcp-operator`. */
  readonly operator: string;
  readonly version: string;
  /** The calling program, as it names itself; undefined: unnamed. */
  readonly client?: string | undefined;
  /** Absent: not supported by this server. */
  readonly examine?: Examine | undefined;
  /** The body as it arrives, of an operation that takes a file. */
  readonly file?: AsyncIterable<Uint8Array> | undefined;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal | undefined;
};

type Method = "get" | "post" | "put" | "patch" | "delete";

type HttpShape = {
  /** The body may be absent, `null` or `{}`. */
  readonly bodyIsOptional?: boolean;
  /** The body is a file of any type and size, which is never held as a whole. */
  readonly takesFile?: boolean;
  /** Documented statuses besides 200, 401, 403, 422, 500 and 503. */
  readonly statuses?: readonly (400 | 404 | 409)[];
  /** Needs neither credentials nor an open engine. */
  readonly isPublic?: boolean;
};

/** `full`: every tool. `core`: those an assistant needs every day, for clients that pay for each listed tool. */
export type ToolSet = "core" | "full";

/** Whether a set contains a tool. */
export function hasTool(set: ToolSet, { toolSet }: { readonly toolSet: ToolSet }): boolean {
  return set === "full" || toolSet === "core";
}

type McpShape = {
  readonly tool: string;
  readonly title: string;
  /** Written for a model: when to call it, when not, and what comes back. */
  readonly description: string;
  /** Arguments shown in the core set, which accepts all. Absent: all are shown. */
  readonly coreArguments?: readonly string[];
  /** Accepted but never shown arguments: aliases of shown ones. */
  readonly silentArguments?: readonly string[];
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly idempotentHint: boolean;
    readonly openWorldHint: boolean;
  };
};

/** Outgoing JSON. */
export type WireObject = object;
/** A call whose arguments have passed their schema. */
export type PreparedCall = (context: CallContext) => Promise<WireObject>;

/** A command's result: the answer itself, and as JSON. */
export type Asked<Output = unknown> = { readonly output: Output; readonly json: WireObject };

/** A command's way to an operation. */
export type LineBinding<Output = unknown> = {
  /** Schemas of the accepted members, by their HTTP names. */
  readonly members: Readonly<Record<string, z.ZodType>>;
  /** Checks the input and calls the engine. @throws SvcError */
  readonly ask: (given: Wire, context: CallContext) => Promise<Asked<Output>>;
};

export type ToolAnswer = {
  readonly structured: WireObject;
  /** Its lines for a model, with every id that a further call may need. */
  readonly text: string;
  readonly nodeId: Uuid | undefined;
  /** The owner of the request, if the answer contains none of that owner's memories. */
  readonly nothingOf: string | undefined;
};
/** A tool call whose arguments have passed their schema. The texts mention only tools of the given set. */
export type PreparedTool = (context: CallContext, toolSet: ToolSet) => Promise<ToolAnswer>;

export type HttpBinding = HttpShape & {
  readonly method: Method;
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly request: HttpRequest;
  /** Whether the query may contain the owner of the ids it names: `user_id`. */
  readonly takesOwner: boolean;
  /** The form of the answer. */
  readonly response: View<never>;
  /** Checks the parts; the engine may still reject the returned call. */
  readonly prepare: (parts: HttpParts) => PreparedCall;
};
export type McpBinding = McpShape & {
  /** The smallest set that contains it. */
  readonly toolSet: ToolSet;
  readonly input: z.ZodObject;
  /** The form of the structured answer. */
  readonly output: View<never>;
  /** Whether an operator must name the owner. */
  readonly needsOwner: boolean;
  readonly prepare: (args: unknown) => PreparedTool;
};

/** The parts of the interface, in the order of the documentation. */
export const TAGS = {
  service: "Whether it runs, and how much it holds.",
  writing: "Memories and texts on their way in.",
  retrieval: "Questions, their receipts, and what answers cite.",
  nodes: "Memories as they stand.",
  lifecycle: "Changes of a memory's state, and memories that replace or contradict each other.",
  forgetting: "Erasing content for good, and what proves it.",
  organizing: "Upkeep of memories: what becomes of them with time.",
  events: "Source texts and how far they have been processed.",
  aggregation: "Exact counts, sums and states from stored claims.",
} as const;

/** One operation, on every surface that offers it. */
export type Operation = {
  readonly tag: keyof typeof TAGS;
  /** Also its operationId in OpenAPI. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly http: HttpBinding | undefined;
  readonly mcp: McpBinding | undefined;
  readonly line: LineBinding;
};

type HttpDefinition<F extends Fields, Output> = HttpShape & {
  /** If it answers with less than the other surfaces. Default: the operation's. */
  readonly run?: Definition<F, Output>["run"];
  readonly route: `${Method} /${string}`;
  /** How the members are arranged in a body; or the name of a flat body. Absent: no body. */
  readonly body?: Body | string;
};

type McpDefinition<Input, Output> = McpShape &
  Written<Input, Output> & {
    /** The smallest set that contains it. Default full. */
    readonly toolSet?: ToolSet;
    /** The order of its arguments in the list, if different from the request's. */
    readonly argumentOrder?: readonly string[];
    /** Precedes the lines of the answer: what happened, and what to do next. */
    readonly says?: string | ((output: Output, input: Input) => string | undefined);
    /** The text, if it is not the lines of the answer. */
    readonly tell?: (output: Output, input: Input, toolSet: ToolSet) => string;
    readonly about?: (output: Output) => Uuid;
    /** Whether an answer contains no memory of the requested owner. */
    readonly isEmpty?: (output: Output) => boolean;
  };

/** The form of a tool's output, if different from HTTP's; `write` depends on the input. */
type Written<Input, Output> =
  | { readonly output?: View<Output>; readonly write?: undefined }
  | { readonly output: View<never>; readonly write: (output: Output, input: Input) => Json };

type Definition<F extends Fields, Output> = {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** What callers send, on every surface. */
  readonly request: F;
  /** Checks what a schema cannot, then calls the engine. */
  readonly run: (context: CallContext, input: InputOf<F>) => Promise<Output>;
  readonly answer: View<Output>;
  readonly http?: HttpDefinition<F, Output>;
  readonly mcp?: McpDefinition<InputOf<F>, Output>;
};

/** The operations of one part of the interface, in the order of the documentation. */
export function part(
  tag: Operation["tag"],
  ...operations: readonly Omit<Operation, "tag">[]
): readonly Operation[] {
  return operations.map((operation) => ({ tag, ...operation }));
}

/** Binds and hides an operation's types, so that operations of all kinds fit into one table. */
export function defineOperation<F extends Fields, Output>(
  definition: Definition<F, Output>,
): Omit<Operation, "tag"> & { readonly line: LineBinding<Output> } {
  const { name, summary, description, http, mcp } = definition;
  return {
    name,
    summary,
    description,
    http: http && bindHttp(definition, http),
    mcp: mcp && bindTool(definition, mcp),
    line: bindLine(definition),
  };
}

function bindLine<F extends Fields, Output>({
  request: fields,
  run,
  answer,
}: Definition<F, Output>): LineBinding<Output> {
  const members = Object.fromEntries(
    Object.entries(fields).flatMap(([key, { http, httpName = key }]) =>
      http === undefined || httpName === RETRY_HEADER ? [] : [[httpName, http] as const],
    ),
  );
  const inputOf = inputReader(fields, "http");
  return {
    members,
    ask: async (given, context) => {
      const wire = parseWire(z.strictObject(members), given, "arguments");
      const output = await run(context, inputOf(wire, context.caller));
      return { output, json: toObject(answer.json(output)) };
    },
  };
}

function bindHttp<F extends Fields, Output>(
  { request: fields, run: told, answer }: Definition<F, Output>,
  { route, body, run = told, ...shape }: HttpDefinition<F, Output>,
): HttpBinding {
  // SAFETY: a route consists of the two.
  const [method, path] = route.split(" ") as [Method, string];
  const { request, takesOwner, read } = httpRequest(fields, path, body);
  const inputOf = inputReader(fields, "http");
  return {
    ...shape,
    method,
    path,
    request,
    takesOwner,
    response: answer,
    prepare: (parts) => {
      const wire = read(parts);
      return async (context) =>
        toObject(answer.json(await run(context, inputOf(wire, context.caller))));
    },
  };
}

function bindTool<F extends Fields, Output>(
  { request: fields, run, answer }: Definition<F, Output>,
  { argumentOrder, toolSet = "full", ...mcp }: McpDefinition<InputOf<F>, Output>,
): McpBinding {
  const input = toolSchema(fields, argumentOrder);
  const inputOf = inputReader(fields, "tool");
  const { tell, says, about, isEmpty, ...shape } = mcp;
  const form = mcp.output ?? answer;
  return {
    ...shape,
    toolSet,
    input,
    output: lean(form),
    needsOwner: fields["user_id"]?.tool !== undefined && fields["user_id"].isOpen !== true,
    prepare: (args) => {
      const wire = readArguments(input, args);
      return async (context, set) => {
        const given = inputOf(wire, context.caller);
        const output = await run(context, given);
        const json =
          mcp.write === undefined
            ? // SAFETY: a form without a writer of its own is one of the output.
              (form as View<Output>).json(output)
            : mcp.write(output, given);
        const structured = toObject(withoutNulls(form.shape, json));
        const first = typeof says === "function" ? says(output, given) : says;
        return {
          structured,
          text:
            tell?.(output, given, set) ??
            [...(first === undefined ? [] : [first]), ...linesOf(structured)].join("\n"),
          nodeId: about?.(output),
          nothingOf: isEmpty?.(output) === true ? ownerIn(given) : undefined,
        };
      };
    },
  };
}

function ownerIn(input: object): string | undefined {
  const owner: unknown = Reflect.get(input, "userId");
  return typeof owner === "string" ? owner : undefined;
}

function toObject(json: Json): WireObject {
  // SAFETY: every operation returns an object or a list.
  return json as WireObject;
}

/** A value that exists. @throws SvcError `missing()` for undefined */
export async function found<T>(
  answer: Promise<T | undefined>,
  missing: () => SvcError,
): Promise<T> {
  const value = await answer;
  if (value === undefined) throw missing();
  return value;
}

/** Annotations of a read-only tool. */
export const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** Annotations of a tool that adds to the memory with each call. */
export const ADDS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
} as const;

/** Annotations of an idempotent tool that changes existing memories. */
export const CHANGES = { ...ADDS, idempotentHint: true } as const;

/** Annotations of such a tool that makes a memory permanently unfindable. */
export const RETIRES = { ...CHANGES, destructiveHint: true } as const;

/** The owner whose memories a change may touch, and its actor. @throws SvcError invalid_argument */
export function callerOf({ caller, userId, operator }: CallContext, actor?: string | null) {
  return { userId, actorId: actorOf(caller, operator, actor) };
}

/** By notes or by shape, like schemas: a name must not refer to two forms. */
const made = new WeakMap<object, View<never>>();

/** The same form without null members: a model pays for each. */
function lean<T>(form: View<T>): View<T> {
  const key = form.notes ?? form.shape;
  // SAFETY: the cached form is derived from its key.
  const known = made.get(key) as View<T> | undefined;
  if (known !== undefined) return known;
  const { id } = form.notes ?? {};
  const own: View<T> = {
    ...form,
    shape: leanShape(form.shape),
    json: (value) => withoutNulls(form.shape, form.json(value)),
    ...(form.notes && { notes: { ...form.notes, ...(id !== undefined && { id: `Lean${id}` }) } }),
  };
  made.set(key, own);
  return own;
}

function leanShape(shape: Shape): Shape {
  switch (shape.kind) {
    case "nullable":
    case "omitted":
    case "dictionary":
    case "list":
      return { ...shape, of: lean(shape.of) };
    case "object":
      return {
        ...shape,
        members: shape.members
          .filter(({ form }) => form.shape.kind !== "null")
          .map((member) => ({ ...member, form: omittedOf(lean(member.form)) })),
      };
    default:
      return shape;
  }
}

function omittedOf(form: View<never>): View<never> {
  const { shape } = form;
  return shape.kind === "nullable" ? { ...form, shape: { kind: "omitted", of: shape.of } } : form;
}

/** JSON of this shape without null members. Free JSON is kept unchanged. */
function withoutNulls(shape: Shape, value: Json): Json {
  if (value === null) return value;
  switch (shape.kind) {
    case "nullable":
    case "omitted":
      return withoutNulls(shape.of.shape, value);
    case "list":
      return Array.isArray(value) ? value.map((one) => withoutNulls(shape.of.shape, one)) : value;
    case "dictionary":
      return mapped(value, () => shape.of.shape);
    case "object":
      return mapped(value, (name) => shape.members.find((one) => one.name === name)?.form.shape);
    default:
      return value;
  }
}

function mapped(value: Json, shapeOf: (name: string) => Shape | undefined): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, own]) => {
      const shape = shapeOf(name);
      if (own === null || own === undefined) return [];
      return [[name, shape === undefined ? own : withoutNulls(shape, own)] as const];
    }),
  );
}
