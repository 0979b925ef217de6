import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { SvcError } from "../../domain/errors.ts";
import type { PreparedTool, ToolSet } from "../contract/core/operation.ts";
import { type ShownSchemas, shownSchemas, type ToolDescription } from "./shown-schemas.ts";

const SHOWN: Readonly<Record<string, ShownSchemas>> = shownSchemas();

const OWNER = { type: "string", description: "Whose memories: one fixed name per person." };
const OWNER_BY_DEFAULT = {
  type: "string",
  description: "Default: the owner of the pack. Leave it out.",
};
/** Used after its first mention. */
const OWNER_AGAIN = { type: "string" };

/** `none`: the connection has its owner. `optional`: the pack has one. */
export type OwnerArgument = "none" | "optional" | "required";

export type Audience = {
  readonly owner: OwnerArgument;
  readonly toolSet: ToolSet;
};

/** A checked call: ready, or rejected because of its arguments. */
export type CheckedCall = { readonly call: PreparedTool } | { readonly refusal: string };

/**
 * The input schema of a tool: shown to clients as JSON Schema, checked by the operation itself, whose messages name every bad argument. The
 * result is a call ready to run, or the reason for rejecting it, which is answered like any other failure, in both forms. The first call
 * loads the operations.
 */
export function toInputSchema(
  tool: ToolDescription,
  audience: Audience,
): StandardSchemaWithJSON<unknown, CheckedCall> {
  const shown = (): Record<string, unknown> => shownInput(tool, audience);
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: async (args) => {
        const { bindingOf } = await loadOperations();
        try {
          return { value: { call: bindingOf(tool.tool).prepare(args) } };
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          const reason = withKnownArguments(error.message, tool, audience);
          return { value: { refusal: `Invalid arguments for tool ${tool.tool}: ${reason}` } };
        }
      },
      jsonSchema: { input: shown, output: shown },
    },
  };
}

/** The operations behind the tools. May be loaded before a call is expected. */
export async function loadOperations() {
  return await import("./tool-list.ts");
}

/** The output schema of a tool: its answer or the error object. The engine guarantees it, so nothing is checked at run time. */
export function toOutputSchema(tool: ToolDescription): StandardSchemaWithJSON<unknown, unknown> {
  const shown = (): Record<string, unknown> => shownOf(tool).output;
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (value) => ({ value }),
      jsonSchema: { input: shown, output: shown },
    },
  };
}

type ShownInput = {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
};

function shownInput(tool: ToolDescription, { owner: ownerArgument, toolSet }: Audience) {
  // SAFETY: `shownSchemas` makes inputs of this form.
  const { properties, required = [], ...rest } = shownOf(tool).input as ShownInput;
  const { coreArguments: core, needsOwner } = tool;
  const shown = Object.entries(properties).filter(
    ([name]) => toolSet === "full" || core === undefined || core.includes(name),
  );
  const isNeeded = needsOwner && ownerArgument === "required";
  // An optional argument is left out of a deliberately small set.
  const isOffered = needsOwner && ownerArgument === "optional" && toolSet === "full";
  const first = isNeeded ? OWNER : OWNER_BY_DEFAULT;
  const owner = tool.toolSet === "core" ? first : OWNER_AGAIN;
  const needed = isNeeded ? [...required, "user_id"] : required;
  return {
    ...rest,
    properties: {
      ...Object.fromEntries(shown),
      ...((isNeeded || isOffered) && { user_id: owner }),
    },
    ...(needed.length > 0 && { required: needed }),
  };
}

const UNKNOWN_ARGUMENT = /(?:^|[ ;])[^ .[\];:]+: is not a known key/;

/** If an argument name is unknown, the message lists the known names. */
function withKnownArguments(message: string, tool: ToolDescription, audience: Audience): string {
  if (!UNKNOWN_ARGUMENT.test(message)) return message;
  const names = Object.keys(shownInput(tool, audience).properties);
  return `${message}; the arguments are ${names.join(", ")}`;
}

function shownOf({ tool }: ToolDescription): ShownSchemas {
  const schemas = SHOWN[tool];
  if (schemas === undefined) throw new Error(`no schemas for tool ${tool}`);
  return schemas;
}
