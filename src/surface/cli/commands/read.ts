import { Option } from "commander";
import {
  ACTIVE_STATES,
  EDGE_TYPES,
  type EdgeType,
  LIFECYCLE_STATES,
  type LifecycleState,
  NODE_TYPES,
  type NodeType,
  SCOPES,
  type Scope,
} from "../../../domain/enums.ts";
import { parseInstantInput } from "../../../domain/lifecycle.ts";
import { edgeForm, type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { NodeQuery } from "../../../engine/inspect/api.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { Instant } from "../../../lib/instant.ts";
import type { JsonObject } from "../../../lib/json.ts";
import { type TextWindow, textWindow, windowJson } from "../../contract/core/cut-texts.ts";
import { rounded } from "../../contract/core/tool-text.ts";
import { organizerChange } from "../../contract/nodes.ts";
import {
  findAnyMemory,
  findMemory,
  ID_ARGUMENT,
  type MemoryOptions,
  memoryTable,
  noteOtherOwners,
  SHOWN_CHARS,
  withMemories,
  withPack,
} from "../memories.ts";
import { choiceOption, countOption, ownerOption, PACK, packCommand } from "../options.ts";
import type { Output } from "../output.ts";
import { allLines, countLine, fields, oneLine, shortened, table } from "../output.ts";

/** Values of `--state` in addition to the single states. */
const GROUPS = ["active", "all"] as const;

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
    examples: `
Examples:
  svc list ./memory.pack                              the newest 20
  svc list ./memory.pack --type task --limit 50
  svc list ./memory.pack --since 2026-11-01           what was stored in November and later
  svc list ./memory.pack --state all --format json    also what was replaced or archived
  svc list ./memory.pack --after 0198a2b4             the page behind this memory

active are tentative, stable and contested memories. svc search finds memories by what they say.`,
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

type NodesOptions = MemoryOptions & ListFilters & { readonly limit: number };

/** `svc nodes`: the memories of all owners with their confidence and salience, newest first. */
export const nodesCommand = packCommand(
  {
    name: "nodes",
    description: "list memories of all owners with their confidence and salience",
    options: [
      anyOwnerOption(),
      ...listFilters(),
      countOption("--limit <count>", "maximum number of memories to show", [0, 1000], 20),
      new Option("--after <id>", "continue after this memory, the last of the previous page"),
    ],
    examples: `
Examples:
  svc nodes ./memory.pack                             the newest 20 of all owners
  svc nodes ./memory.pack --state contested --format json
  svc nodes ./memory.pack --after 0198a2b4-0000-7000-8000-000000000001    the page behind this memory

svc list shows the memories of one owner with the times at which they were stored.`,
  },
  (context, path: string, options: NodesOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const { limit, after, userId, format } = options;
      const { nodes, next } = await listPage(engine, options, {
        userId,
        olderThan: after === undefined ? undefined : await findAnyMemory(engine, userId, after),
        limit,
      });
      if (format === "json") output.json(nodes.map(nodeForm.json));
      else for (const line of nodesTable(nodes)) output.line(line);
      if (next !== undefined) output.note(`There are more: add --after ${next}`);
    }),
);

function nodesTable(nodes: readonly MemoryNode[]): readonly string[] {
  const rows = nodes.map((node) => [
    node.id,
    oneLine(node.userId),
    node.nodeType,
    node.lifecycleState,
    node.confidence.toFixed(2),
    node.salience.toFixed(2),
    shortened(node.content, SHOWN_CHARS),
  ]);
  const headings = ["ID", "OWNER", "TYPE", "STATE", "CONF", "SAL", "CONTENT"];
  return [...table(headings, rows), ...countLine(nodes.length, "memory", "memories")];
}

type EdgesOptions = MemoryOptions & {
  readonly type?: EdgeType;
  readonly source?: string;
  readonly target?: string;
  readonly limit: number;
  readonly after?: string;
};

/** `svc edges`: the edges between memories, by ascending id. */
export const edgesCommand = packCommand(
  {
    name: "edges",
    description: "list the edges between memories: what mentions, replaces or contradicts what",
    options: [
      anyOwnerOption(),
      choiceOption("--type <type>", "only of this kind", EDGE_TYPES),
      new Option("--source <id>", "only from this memory"),
      new Option("--target <id>", "only to this memory"),
      countOption("--limit <count>", "maximum number of edges to show", [1, 1000], 20),
      new Option("--after <id>", "continue after this edge, the last of the previous page"),
    ],
    examples: `
Examples:
  svc edges ./memory.pack
  svc edges ./memory.pack --type contradicts
  svc edges ./memory.pack --source 0198a2b4 --format json

Ids are shortened to their ends, which svc node and svc show accept; JSON has complete ones.`,
  },
  (context, path: string, options: EdgesOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const { userId, type, source, target, limit, after, format } = options;
      const idOf = async (given: string | undefined) =>
        given === undefined ? undefined : (await findAnyMemory(engine, userId, given)).id;
      const { edges, nextCursor } = await engine.getEdges({
        userId,
        edgeType: type,
        sourceId: await idOf(source),
        targetId: await idOf(target),
        afterId: after,
        limit,
      });
      if (format === "json") output.json(edges.map(edgeForm.json));
      else {
        const rows = edges.map((edge) => [
          ending(edge.id),
          edge.edgeType,
          ending(edge.sourceId),
          ending(edge.targetId),
          edge.confidence.toFixed(2),
        ]);
        for (const line of table(["ID", "TYPE", "SOURCE", "TARGET", "CONF"], rows)) {
          output.line(line);
        }
        for (const line of countLine(edges.length, "edge", "edges")) output.line(line);
      }
      if (nextCursor !== undefined) output.note(`There are more: add --after ${nextCursor}`);
    }),
);

/** The end of an id; its start is its time, which neighbours share. */
function ending(id: string): string {
  return `…${id.slice(-12)}`;
}

type Counts = Awaited<ReturnType<MemoryEngine["storeCounts"]>>;
type Tally = readonly (readonly [name: string, count: number])[];

/** `svc stats`: how many memories and edges there are, by type, state and scope. */
export const statsCommand = packCommand(
  {
    name: "stats",
    description: "count memories and edges by type, state and scope",
    options: [anyOwnerOption()],
    examples: `
Examples:
  svc stats ./memory.pack
  svc stats ./memory.pack --user-id anna --format json

Counts memories in all states. svc info says what kind of pack it is.`,
  },
  (context, path: string, options: MemoryOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const counts = await engine.storeCounts(options.userId);
      const summed = summaryOf(counts);
      if (options.format === "json") {
        return output.json({
          totals: { nodes: summed.nodes, edges: summed.edges, events: counts.events },
          avg_confidence: summed.confidence,
          avg_salience: summed.salience,
          nodes_by_type: Object.fromEntries(summed.byType),
          nodes_by_state: Object.fromEntries(summed.byState),
          nodes_by_scope: Object.fromEntries(summed.byScope),
          edges_by_type: Object.fromEntries(summed.byEdge),
        });
      }
      const totals: [string, string | number][] = [
        ["Nodes", summed.nodes],
        ["Edges", summed.edges],
        ["Events", counts.events],
        ["Mean confidence", summed.confidence],
        ["Mean salience", summed.salience],
      ];
      for (const line of fields(totals)) output.line(line);
      const parts: readonly (readonly [string, Tally])[] = [
        ["Nodes by type", summed.byType],
        ["Nodes by state", summed.byState],
        ["Nodes by scope", summed.byScope],
        ["Edges by type", summed.byEdge],
      ];
      for (const [title, tally] of parts) {
        if (tally.length === 0) continue;
        output.line(`\n${title}`);
        for (const line of fields(tally)) output.line(`  ${line}`);
      }
    }),
);

function summaryOf({ nodes, edges }: Counts) {
  const total = nodes.reduce((sum, { count }) => sum + count, 0);
  const mean = (name: "confidence" | "salience"): number => {
    const sum = nodes.reduce((added, one) => added + one[name], 0);
    return total === 0 ? 0 : Number((sum / total).toFixed(4));
  };
  return {
    nodes: total,
    edges: edges.reduce((sum, { count }) => sum + count, 0),
    confidence: mean("confidence"),
    salience: mean("salience"),
    byType: tallied(nodes.map(({ nodeType, count }) => [nodeType, count])),
    byState: tallied(nodes.map(({ lifecycleState, count }) => [lifecycleState, count])),
    byScope: tallied(nodes.map(({ scope, count }) => [scope, count])),
    byEdge: tallied(edges.map(({ edgeType, count }) => [edgeType, count])),
  };
}

/** Most frequent first, then by name. */
function tallied(counts: Tally): Tally {
  const sums = new Map<string, number>();
  for (const [name, count] of counts) sums.set(name, (sums.get(name) ?? 0) + count);
  return [...sums].sort(([a, one], [b, other]) => other - one || (a < b ? -1 : 1));
}

/** `svc show`: one memory in full. */
export const showCommand = packCommand(
  {
    name: "show",
    description: "show one memory: its text and everything known about it",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [ownerOption(), wholeOption()],
    examples: `
Examples:
  svc show ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc show ./memory.pack 0198a2b4                    the beginning of an id, where it is clear
  svc show ./memory.pack 0198a2b4 --format json      every field
  svc show ./memory.pack 0198a2b4 --whole            a text of more than 1,048,576 characters, too

Shows memories in any state. svc list and svc search name their ids.`,
  },
  (context, path: string, id: string, options: ShowOptions) =>
    withMemories(context, path, options, async (engine, userId) => {
      const { output } = context;
      const node = await findMemory(engine, userId, id);
      if (options.format === "json") {
        const [replaced] = (await engine.chain(node.id, { userId, direction: "backward" })) ?? [];
        output.json({ ...memoryJson(node, options), supersedes: replaced?.id ?? null });
        return;
      }
      await printMemory(output, engine, node, options);
    }),
);

type ShowOptions = MemoryOptions & { readonly whole?: true };

function wholeOption(): Option {
  return new Option("--whole", "show the whole of a very long text");
}

/** A memory as JSON, of a very long text the beginning. */
function memoryJson(node: MemoryNode, { whole }: ShowOptions): JsonObject {
  return whole === true ? nodeForm.json(node) : windowJson(nodeForm, node);
}

/** Prints a memory for a person: what is known about it, then its text. */
async function printMemory(
  output: Output,
  engine: MemoryEngine,
  node: MemoryNode,
  { whole }: ShowOptions,
): Promise<void> {
  const { item, told } = whole === true ? { item: node, told: {} } : textWindow(node);
  const { next_offset: next }: TextWindow<MemoryNode>["told"] = told;
  for (const line of await memoryLines(engine, item)) output.line(line);
  if (next !== undefined) {
    output.note(`The first ${next} of ${node.content.length} characters; --whole shows all.`);
  }
}

async function memoryLines(engine: MemoryEngine, node: MemoryNode): Promise<readonly string[]> {
  const { id, userId } = node;
  const [replaced] = (await engine.chain(id, { userId, direction: "backward" })) ?? [];
  const organizer = await organizerChange(engine, node);
  return [...fields(factsOf(node, { replaced, organizer })), "", allLines(node.content)];
}

type Around = {
  /** What it replaced. */
  readonly replaced: MemoryNode | undefined;
  /** What the organizer made of it, in words. */
  readonly organizer: string | undefined;
};

function factsOf(node: MemoryNode, { replaced, organizer }: Around): [string, string][] {
  const { validTo, ttlDays, metadata } = node;
  const facts: [string, string | undefined][] = [
    ["Memory", node.id],
    ["Owner", node.userId],
    ["Type", node.nodeType],
    ["State", node.lifecycleState],
    ["Replaced by", node.supersededBy],
    ["Replaces", replaced?.id],
    ["Scope", node.scope],
    ["Known as", `${node.epistemicType}, ${node.sourceType}`],
    ["Said by", storedSpeaker(metadata)],
    ["Confidence", rounded(node.confidence)],
    ["Salience", rounded(node.salience)],
    ["Stored", node.createdAt],
    ["Changed", node.updatedAt === node.createdAt ? undefined : node.updatedAt],
    ["Organizer", organizer],
    ["Happened", node.eventTime],
    ["Valid", validTo === undefined ? `from ${node.validFrom}` : `${node.validFrom} to ${validTo}`],
    [
      "Kept for",
      ttlDays === undefined ? undefined : `${ttlDays} ${ttlDays === 1 ? "day" : "days"}`,
    ],
    ["Session", node.sessionId],
    ["Metadata", metadata === undefined ? undefined : JSON.stringify(metadata)],
    ["Evidence", node.evidenceRefs.length === 0 ? undefined : node.evidenceRefs.join(", ")],
  ];
  return facts.flatMap(([label, value]) => (value === undefined ? [] : [[label, oneLine(value)]]));
}

/** `svc node`: one memory of any owner in full. */
export const nodeCommand = packCommand(
  {
    name: "node",
    description: "show one memory of any owner, in any state",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [anyOwnerOption(), wholeOption()],
    examples: `
Examples:
  svc node ./memory.pack 0198a2b4-0000-7000-8000-000000000001
  svc node ./memory.pack 0198a2b4 --format json

The same as svc show, for a memory of any owner.`,
  },
  (context, path: string, id: string, options: ShowOptions) =>
    withPack(context, path, options, async (engine) => {
      const node = await findAnyMemory(engine, options.userId, id);
      if (options.format === "json") return context.output.json(memoryJson(node, options));
      await printMemory(context.output, engine, node, options);
    }),
);

/** `svc chain`: what a memory replaced, and what replaced it. */
export const chainCommand = packCommand(
  {
    name: "chain",
    description: "show what a memory replaced and what replaced it, oldest first",
    arguments: [PACK, ["<id>", ID_ARGUMENT]],
    options: [anyOwnerOption()],
    examples: `
Examples:
  svc chain ./memory.pack 0198a2b4
  svc chain ./memory.pack 0198a2b4 --format json

svc edit and svc store --supersedes make such chains; nothing that was replaced is deleted.`,
  },
  (context, path: string, id: string, options: MemoryOptions) =>
    withPack(context, path, options, async (engine) => {
      const { output } = context;
      const node = await findAnyMemory(engine, options.userId, id);
      const owner = { userId: node.userId };
      const forward = (await engine.chain(node.id, { ...owner, direction: "forward" })) ?? [];
      const backward = (await engine.chain(node.id, { ...owner, direction: "backward" })) ?? [];
      if (options.format === "json") {
        return output.json({
          node_id: node.id,
          forward_chain: forward.map(nodeForm.json),
          backward_chain: backward.map(nodeForm.json),
        });
      }
      for (const line of memoryTable([...backward.toReversed(), node, ...forward])) {
        output.line(line);
      }
      output.line(`\n${node.id} replaced ${backward.length}; ${forward.length} replaced it`);
    }),
);
