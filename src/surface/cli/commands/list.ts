import { Option } from "commander";
import {
  ACTIVE_STATES,
  LIFECYCLE_STATES,
  type LifecycleState,
  NODE_TYPES,
  type NodeType,
  SCOPES,
  type Scope,
} from "../../../domain/enums.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import type { NodeQuery } from "../../../engine/inspect/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { findMemory, type MemoryOptions, memoryTable, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { noteOtherOwners } from "../owner.ts";
import { countOption, packCommand } from "../pack-command.ts";

/** Values of `--state` in addition to the single states. */
const GROUPS = ["active", "all"] as const;
const EXAMPLES = `
Examples:
  svc list ./memory.pack                              the newest 20
  svc list ./memory.pack --type task --limit 50
  svc list ./memory.pack --state all --format json    also what was replaced or archived
  svc list ./memory.pack --after 0198a2b4             the page behind this memory

active are tentative, stable and contested memories. svc search finds memories by what they say.`;

/** Options of a list of memories. */
export type ListFilters = {
  readonly type?: NodeType;
  readonly scope?: Scope;
  readonly state: LifecycleState | (typeof GROUPS)[number];
  readonly after?: string;
};

type ListOptions = MemoryOptions & ListFilters & { readonly limit: number };

/** The options that restrict a list of memories. */
export function listFilters(): readonly Option[] {
  return [
    new Option("--type <type>", "only of this kind").choices(NODE_TYPES),
    new Option("--scope <scope>", "only memories of this scope").choices(SCOPES),
    new Option("--state <state>", "only memories in this state")
      .choices([...GROUPS, ...LIFECYCLE_STATES])
      .default("active"),
  ];
}

/** `--user-id` of a command about all owners. */
export function anyOwnerOption(): Option {
  return new Option("--user-id <owner>", "only of this owner (default: all owners)");
}

/** `svc list`: the memories of one owner, newest first. */
export const listCommand = packCommand(
  {
    name: "list",
    description: "list memories, newest first",
    options: [
      ownerOption(),
      ...listFilters(),
      countOption("--limit <count>", "maximum number of memories to show", [1, 1000], 20),
      new Option("--after <id>", "continue after this memory, the last of the previous page"),
    ],
    examples: EXAMPLES,
  },
  (context, path: string, options: ListOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const { type, scope, state, limit, after, format } = options;
      const query: NodeQuery = {
        userId,
        nodeType: type,
        scope,
        lifecycleStates: statesOf(state),
        olderThan: after === undefined ? undefined : await findMemory(engine, userId, after),
      };
      const nodes = await engine.queryNodes({ ...query, limit });
      const next = await cursorBehind(engine, query, nodes.at(-1));
      if (format === "json") {
        output.json({
          user_id: userId,
          nodes: nodes.map(nodeForm.json),
          next_cursor: next ?? null,
        });
        return;
      }
      for (const line of memoryTable(nodes)) output.line(line);
      if (next !== undefined) output.note(`There are more: add --after ${next}`);
      if (nodes.length === 0) await noteOtherOwners(context, engine, userId);
    }),
);

/** The states that `--state` names. */
export function statesOf(state: ListOptions["state"]): readonly LifecycleState[] {
  if (state === "active") return ACTIVE_STATES;
  return state === "all" ? LIFECYCLE_STATES : [state];
}

/** The id of the last memory of a page; undefined if nothing follows. */
export async function cursorBehind(
  engine: MemoryEngine,
  query: NodeQuery,
  last: MemoryNode | undefined,
): Promise<string | undefined> {
  if (last === undefined) return undefined;
  const rest = await engine.queryNodes({ ...query, olderThan: last, limit: 1 });
  return rest.length > 0 ? last.id : undefined;
}
