import type { McpBinding, ToolSet } from "../contract/operation.ts";
import { OPERATIONS } from "../contract/operations.ts";

const BINDINGS: readonly McpBinding[] = OPERATIONS.flatMap(({ mcp }) => mcp ?? []);

/** Every tool, those of the core set first: what a client shows first, and keeps when it cuts the list. */
export const TOOLS: readonly McpBinding[] = [
  ...BINDINGS.filter(({ toolSet }) => toolSet === "core"),
  ...BINDINGS.filter(({ toolSet }) => toolSet === "full"),
];

/** The tools of a set, always in the same order. */
export function toolsOf(toolSet: ToolSet): readonly McpBinding[] {
  return toolSet === "full" ? TOOLS : TOOLS.filter((tool) => tool.toolSet === "core");
}
