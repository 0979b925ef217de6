import type { McpBinding } from "../contract/core/operation.ts";
import { TOOLS } from "./tool-list.ts";

/** What clients are told about a tool besides its schemas, and which clients. */
export type ToolDescription = Pick<
  McpBinding,
  "tool" | "title" | "description" | "toolSet" | "coreArguments" | "annotations" | "needsOwner"
>;

/**
 * Every tool in the order of the list. Imported as a macro: loading the operations behind the tools takes a quarter of the
 * start-up time, and a client that requests the list needs none of them.
 */
export function toolDescriptions(): readonly ToolDescription[] {
  return TOOLS.map((binding) => {
    const { tool, title, description, toolSet, coreArguments, annotations, needsOwner } = binding;
    const told = { tool, title, description, toolSet, annotations, needsOwner };
    return coreArguments === undefined ? told : { ...told, coreArguments };
  });
}
