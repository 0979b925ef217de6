import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { SvcError } from "../../domain/errors.ts";
import type { McpBinding, PreparedCall } from "../contract/operation.ts";
import { shownSchemas } from "./shown-schemas.ts" with { type: "macro" };
import type { ShownSchemas } from "./shown-schemas.ts";

const SHOWN: Readonly<Record<string, ShownSchemas>> = shownSchemas();

/**
 * The input schema of a tool: shown to clients as JSON Schema, checked by the operation itself, whose messages name
 * every bad argument. What passes is a call that is ready to run.
 * @param isOwnerOpen whether the caller has to name the owner
 */
export function toInputSchema(
  binding: McpBinding,
  isOwnerOpen: boolean,
): StandardSchemaWithJSON<unknown, PreparedCall> {
  const shown = (): Record<string, unknown> => {
    const schemas = shownOf(binding);
    return isOwnerOpen ? schemas.inputWithOwner : schemas.input;
  };
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (args) => {
        try {
          return { value: binding.prepare(args) };
        } catch (error) {
          if (!(error instanceof SvcError)) throw error;
          return { issues: [{ message: error.message }] };
        }
      },
      jsonSchema: { input: shown, output: shown },
    },
  };
}

/** The output schema of a tool: its answer or the error object. Ours to keep, so nothing is checked at run time. */
export function toOutputSchema(binding: McpBinding): StandardSchemaWithJSON<unknown, unknown> {
  const shown = (): Record<string, unknown> => shownOf(binding).output;
  return {
    "~standard": {
      version: 1,
      vendor: "svc",
      validate: (value) => ({ value }),
      jsonSchema: { input: shown, output: shown },
    },
  };
}

function shownOf(binding: McpBinding): ShownSchemas {
  const schemas = SHOWN[binding.tool];
  if (schemas === undefined) throw new Error(`no schemas for tool ${binding.tool}`);
  return schemas;
}
