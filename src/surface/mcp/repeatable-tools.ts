import { z } from "zod";
import { OPERATIONS } from "../contract/core/operations.ts";
import type { Repeatable } from "./link/relay.ts";

/** Tools that change nothing if a call is repeated. Imported as a macro, since computing it loads all operations. */
export function repeatableTools(): Repeatable {
  const tools = OPERATIONS.flatMap(({ mcp }) => mcp ?? []);
  const isRepeatable = ({ annotations }: (typeof tools)[number]): boolean =>
    annotations.readOnlyHint || annotations.idempotentHint;
  return {
    tools: tools.filter(isRepeatable).map(({ tool }) => tool),
    byRequestId: tools
      .filter((tool) => !isRepeatable(tool) && takesRequestId(tool.input))
      .map(({ tool }) => tool),
  };
}

/** Whether a caller may give a call a request id. A required `request_id` is that of a retrieval. */
function takesRequestId({ shape }: z.ZodObject): boolean {
  const field = shape["request_id"];
  return field !== undefined && z.safeParse(field, undefined).success;
}
