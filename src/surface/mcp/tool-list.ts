import { hasTool, type McpBinding, type ToolSet } from "../contract/core/operation.ts";
import { OPERATIONS } from "../contract/core/operations.ts";

const BINDINGS: readonly McpBinding[] = OPERATIONS.flatMap(({ mcp }) => mcp ?? []);

/** Every tool, the core set first: clients show these first, and keep them if they truncate the list. */
export const TOOLS: readonly McpBinding[] = [
  ...BINDINGS.filter(({ toolSet }) => toolSet === "core"),
  ...BINDINGS.filter(({ toolSet }) => toolSet === "full"),
];

/** The tools of a set, always in the same order. */
export function toolsOf(toolSet: ToolSet): readonly McpBinding[] {
  return TOOLS.filter((tool) => hasTool(toolSet, tool));
}

/** The binding of a tool. @throws Error if there is none of that name */
export function bindingOf(tool: string): McpBinding {
  const binding = TOOLS.find((known) => known.tool === tool);
  if (binding === undefined) throw new Error(`no operation for tool ${tool}`);
  return binding;
}
