import { hasTool, type McpBinding, type ToolSet } from "../contract/core/operation.ts";
import { OPERATIONS } from "../contract/core/operations.ts";

const BINDINGS: readonly McpBinding[] = OPERATIONS.flatMap(({ mcp }) => mcp ?? []);

/** Every tool, those of the core set first: what a client shows first, and keeps when it cuts the list. */
export const TOOLS: readonly McpBinding[] = [
  ...BINDINGS.filter(({ toolSet }) => toolSet === "core"),
  ...BINDINGS.filter(({ toolSet }) => toolSet === "full"),
];

/** The tools of a set, always in the same order. */
export function toolsOf(toolSet: ToolSet): readonly McpBinding[] {
  return TOOLS.filter((tool) => hasTool(toolSet, tool));
}

/** What runs a tool. @throws Error when there is none of that name */
export function bindingOf(tool: string): McpBinding {
  const binding = TOOLS.find((known) => known.tool === tool);
  if (binding === undefined) throw new Error(`no operation for tool ${tool}`);
  return binding;
}
