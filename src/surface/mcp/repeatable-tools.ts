import { OPERATIONS } from "../contract/operations.ts";

/** The tools that change nothing when they are called again. */
export function repeatableTools(): readonly string[] {
  return OPERATIONS.flatMap(({ mcp }) => (mcp?.annotations.readOnlyHint ? [mcp.tool] : []));
}
