import { z } from "zod";
import { OPERATIONS } from "../contract/core/operations.ts";
import type { Repeatable } from "./link/pending-calls.ts";

/** Which tools change nothing when a call comes again. Imported as a macro, since it takes all operations to tell. */
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

/** Whether a call may be named by its caller. A `request_id` that has to be there is that of a retrieval. */
function takesRequestId({ shape }: z.ZodObject): boolean {
  const field = shape["request_id"];
  return field !== undefined && z.safeParse(field, undefined).success;
}
