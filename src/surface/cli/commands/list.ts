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
import { parseInstantInput } from "../../../domain/lifecycle.ts";
import { type MemoryNode, nodeForm } from "../../../domain/node.ts";
import type { NodeQuery } from "../../../engine/inspect/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { Instant } from "../../../lib/instant.ts";
import { findMemory, type MemoryOptions, memoryTable, withMemories } from "../memories.ts";
import { ownerOption } from "../options.ts";
import { noteOtherOwners } from "../owner.ts";
import { choiceOption, countOption, packCommand } from "../pack-command.ts";

/** Values of `--state` in addition to the single states. */
const GROUPS = ["active", "all"] as const;
const EXAMPLES = `
Examples:
  svc list ./memory.pack                              the newest 20
  svc list ./memory.pack --type task --limit 50
  svc list ./memory.pack --since 2026-11-01           what was stored in November and later
  svc list ./memory.pack --state all --format json    also what was replaced or archived
  svc list ./memory.pack --after 0198a2b4             the page behind this memory

active are tentative, stable and contested memories. svc search finds memories by what they say.`;

/** Options of a list of memories. */
export type ListFilters = {
  readonly type?: NodeType;
  readonly scope?: Scope;
  readonly state: LifecycleState | (typeof GROUPS)[number];
  readonly since?: string;
  readonly until?: string;
  readonly after?: string;
};

type ListOptions = MemoryOptions & ListFilters & { readonly limit: number };

/** The options that restrict a list of memories. */
export function listFilters(): readonly Option[] {
  return [
    choiceOption("--type <type>", "only of this kind", NODE_TYPES),
    choiceOption("--scope <scope>", "only memories of this scope", SCOPES),
    choiceOption("--state <state>", "only memories in this state", [
      ...GROUPS,
      ...LIFECYCLE_STATES,
    ]).default("active"),
    new Option(
      "--since <time>",
      "only memories stored then or later: a date (UTC), or ISO 8601 with an offset",
    ),
    new Option("--until <time>", "only memories stored then or earlier"),
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
      const { limit, after, format } = options;
      const { nodes, next } = await listPage(engine, options, {
        userId,
        olderThan: after === undefined ? undefined : await findMemory(engine, userId, after),
        limit,
      });
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

/** A page of a list, newest first, with the id of its last memory; undefined if nothing follows. @param place whose, and where */
export async function listPage(
  engine: MemoryEngine,
  { type, scope, state, since, until }: ListFilters,
  place: Pick<NodeQuery, "userId" | "olderThan" | "limit">,
): Promise<{ readonly nodes: readonly MemoryNode[]; readonly next: string | undefined }> {
  const from = momentOf(since, "--since");
  const query: NodeQuery = {
    ...place,
    nodeType: type,
    scope,
    lifecycleStates: statesOf(state),
    createdBefore: momentOf(until, "--until"),
  };
  const page = async (more: NodeQuery) => {
    const nodes = await engine.queryNodes({ ...query, ...more });
    return from === undefined ? nodes : nodes.filter(({ createdAt }) => createdAt >= from);
  };
  const nodes = await page({});
  const last = nodes.at(-1);
  const rest = last === undefined ? [] : await page({ olderThan: last, limit: 1 });
  return { nodes, next: rest.length > 0 ? last?.id : undefined };
}

/** A moment as it is typed; a date is its beginning. @throws SvcError invalid_argument */
function momentOf(text: string | undefined, option: string): Instant | undefined {
  const isDate = text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text);
  return parseInstantInput(isDate ? `${text}T00:00:00Z` : text, option);
}

/** The states that `--state` names. */
function statesOf(state: ListFilters["state"]): readonly LifecycleState[] {
  if (state === "active") return ACTIVE_STATES;
  return state === "all" ? LIFECYCLE_STATES : [state];
}
