import type { McpBinding } from "../contract/core/operation.ts";
import { TOOLS } from "./tool-list.ts";

/** What is told of a tool beside its schemas, and to whom. */
export type ToolDescription = Pick<
  McpBinding,
  "tool" | "title" | "description" | "toolSet" | "coreArguments" | "annotations" | "needsOwner"
>;

/**
 * Every tool in the order of the list. Imported as a macro: the operations behind the tools take a quarter of the start to
 * load, and a client that asks for the list needs none of them.
 */
export function toolDescriptions(): readonly ToolDescription[] {
  return TOOLS.map((binding) => {
    const { tool, title, description, toolSet, coreArguments, annotations, needsOwner } = binding;
    const told = { tool, title, description, toolSet, annotations, needsOwner };
    return coreArguments === undefined ? told : { ...told, coreArguments };
  });
}
