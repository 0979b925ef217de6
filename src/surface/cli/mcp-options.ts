/** The options of `svc mcp` that can be served before settings are read and commander is loaded. */
import { NO_CREATE } from "../../assistants/server-entry.ts";
import type { ToolSet } from "../contract/core/operation.ts";

export const TOOL_SETS: readonly ToolSet[] = ["core", "full"];
export const DEFAULT_TOOLS: ToolSet = "full";

export const FLAGS = {
  dbPath: "--db-path",
  encryptionKey: "--encryption-key",
  tools: "--tools",
} as const;

export type PlainOptions = {
  readonly dbPath: string;
  readonly encryptionKey: string | undefined;
  /** Whether a missing pack is made. */
  readonly create: boolean;
  readonly tools: ToolSet;
};

/**
 * Reads a command line with only the pack, whether it is created, its key and the tools.
 * @returns undefined for any other, which the command itself reads, reporting errors
 */
export function plainOptions(args: readonly string[]): PlainOptions | undefined {
  const values = new Map<string, string>();
  const known: readonly string[] = Object.values(FLAGS);
  const rest = args.slice(1).filter((arg) => arg !== NO_CREATE);
  while (rest.length > 0) {
    const [name = "", inline] = (rest.shift() ?? "").split(/=(.*)/s);
    const value = inline ?? rest.shift();
    if (!known.includes(name)) return undefined;
    if (value === undefined || value === "" || value.startsWith("-")) return undefined;
    values.set(name, value);
  }
  const dbPath = values.get(FLAGS.dbPath);
  const tools = TOOL_SETS.find((set) => set === (values.get(FLAGS.tools) ?? DEFAULT_TOOLS));
  if (dbPath === undefined || tools === undefined) return undefined;
  const create = !args.includes(NO_CREATE);
  return { dbPath, encryptionKey: values.get(FLAGS.encryptionKey), create, tools };
}
