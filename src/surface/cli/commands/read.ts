import { Option } from "commander";
import { cursorOf, LIMITS } from "../../../domain/arguments.ts";
import { ACTIVE_STATES, EDGE_TYPES, LIFECYCLE_STATES } from "../../../domain/enums.ts";
import { edgeForm, type MemoryNode, nodeForm } from "../../../domain/node.ts";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { nextInstant } from "../../../lib/instant.ts";
import { browseOperation, profileOperation } from "../../contract/browse.ts";
import { textWindow, windowJson } from "../../contract/core/cut-texts.ts";
import { rounded } from "../../contract/core/tool-text.ts";
import {
  chainOperation,
  getNodeOperation,
  listNodesOperation,
  organizerChange,
} from "../../contract/nodes.ts";
import {
  type Desk,
  ID_ARGUMENT,
  memoryCommand,
  memoryTable,
  noteOtherOwners,
} from "../memories.ts";
import { momentOf } from "../moments.ts";
import { choiceOption, countOption } from "../options.ts";
import { allLines, countLine, fields, oneLine, shortIds, table } from "../output.ts";

/** Values of `--state` in addition to the single states. */
const GROUPS = { active: ACTIVE_STATES, all: LIFECYCLE_STATES } as const;

type ListOptions = {
  readonly state: keyof typeof GROUPS | (typeof LIFECYCLE_STATES)[number];
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
  readonly after?: string;
};

export const listCommand = memoryCommand<ListOptions, []>(
  {
    name: "list",
    description: "list memories, newest first",
    of: browseOperation,
    members: {
      type: ["type", "only of this kind"],
      scope: ["scope", "only of this scope"],
      contains: ["contains", "only those whose text has this in it"],
    },
    options: [
      choiceOption("--state <state>", "only memories in this state", [
        ...Object.keys(GROUPS),
        ...LIFECYCLE_STATES,
      ]).default("active"),
      new Option("--since <time>", 'only what was stored then or later: a date, "yesterday", 7d'),
      new Option("--until <time>", "only what was stored then or earlier; a day to its end"),
      countOption("--limit <count>", "maximum number of memories to show", [1, 1000], 20),
      new Option("--after <id>", "continue after this memory, the last of the previous page"),
    ],
    examples: `
Examples:
  svc list                              the newest 20
  svc list --type task --limit 50
  svc list --since 2026-11-01           what was stored in November and later
  svc list --since "2 weeks ago" --contains invoice
  svc list --state all --format json    also what was replaced or archived
  svc list --after 3f9a1c               the page behind this memory

active are tentative, stable and contested memories. svc search finds memories by what they say.`,
  },
  async (desk) => {
    const { given, options, owner = "" } = desk;
    const { state, since, until, limit, after, format } = options;
    const last = await momentOf(until, "--until", true);
    const { output: page, json } = await desk.ask(browseOperation, {
      ...given,
      ...(typeof given["scope"] === "string" && { scope: [given["scope"]] }),
      state: state in GROUPS ? Reflect.get(GROUPS, state) : [state],
      time_from: await momentOf(since, "--since"),
      time_to: last && nextInstant(last),
      cursor: after === undefined ? undefined : await placeOf(desk, after),
      limit,
    });
    const { nodes, hasMore } = page;
    desk.tell({ user_id: owner, ...json }, () => memoryTable(nodes));
    const end = nodes.at(-1);
    if (hasMore && end && format !== "json") {
      const name = shortIds(nodes.map(({ id }) => id));
      desk.output.note(`There are more: add --after ${name(end.id)}`);
    }
    if (nodes.length === 0 && format !== "json")
      await noteOtherOwners(desk.context, desk.engine, owner);
  },
);

/** Where a page begins: after a memory, or at the `next_cursor` of a page. */
async function placeOf({ find }: Desk<ListOptions>, after: string): Promise<string> {
  if (!/^…?[0-9a-f-]{4,36}$/i.test(after)) return after;
  const { id, createdAt: at } = await find(after);
  return cursorOf({ id, at });
}

export const profileCommand = memoryCommand<{ readonly maxTokens: number }, []>(
  {
    name: "profile",
    description: "tell what is known of a person: instructions, preferences, people, open tasks",
    of: profileOperation,
    options: [countOption("--max-tokens <count>", "maximum length", [1, 10_000], 500)],
    examples: `
Examples:
  svc profile
  svc profile --max-tokens 200 --format json

Needs no language model. svc list shows all memories, svc search finds those about a question.`,
  },
  async (desk) => {
    const { output, json } = await desk.ask(profileOperation, {
      max_tokens: desk.options.maxTokens,
    });
    desk.tell(json, () => output.text.split("\n").filter((line) => line !== ""));
    if (output.entries.length === 0) desk.output.note("Nothing is known yet.");
    if (output.leftOut > 0) desk.output.note(`${output.leftOut} more did not fit.`);
  },
);

export const nodesCommand = memoryCommand<{ readonly limit: number }, []>(
  {
    name: "nodes",
    description: "list memories of all owners, newest first",
    isOfAll: true,
    of: listNodesOperation,
    members: {
      type: ["type", "only of this kind"],
      state: ["state", "only in this state (default: the active ones)"],
    },
    options: [countOption("--limit <count>", "maximum number of memories to show", [0, 1000], 20)],
    examples: `
Examples:
  svc nodes                             the newest 20 of all owners
  svc nodes --state contested --format json

svc list shows the memories of one owner, page by page.`,
  },
  async (desk) => {
    const { limit } = desk.options;
    // A limit of 0 needs no query.
    const asked = { ...desk.given, limit: Math.max(1, limit) };
    const { output, json } = await desk.ask(listNodesOperation, asked);
    if (limit === 0) return desk.tell({ nodes: [], count: 0 }, () => memoryTable([]));
    desk.tell(json, () => [
      ...memoryTable(output, true),
      ...countLine(output.length, "memory", "memories"),
    ]);
  },
);

type EdgesOptions = { readonly source?: string; readonly target?: string; readonly after?: string };
type EdgeFilters = EdgesOptions & {
  readonly type?: (typeof EDGE_TYPES)[number];
  readonly limit: number;
};

export const edgesCommand = memoryCommand<EdgeFilters, []>(
  {
    name: "edges",
    description: "list the edges between memories: what mentions, replaces or contradicts what",
    isOfAll: true,
    options: [
      choiceOption("--type <type>", "only of this kind", EDGE_TYPES),
      new Option("--source <id>", "only from this memory"),
      new Option("--target <id>", "only to this memory"),
      countOption("--limit <count>", "maximum number of edges to show", [1, 1000], 20),
      new Option("--after <id>", "continue after this edge, the last of the previous page"),
    ],
    examples: `
Examples:
  svc edges
  svc edges --type contradicts
  svc edges --source 3f9a1c --format json`,
  },
  async (desk) => {
    const { type, source, target, limit, after } = desk.options;
    const idOf = async (given?: string) =>
      given === undefined ? given : (await desk.find(given)).id;
    const { edges, nextCursor } = await desk.engine.getEdges({
      ...{ userId: desk.owner, edgeType: type, afterId: after, limit },
      ...{ sourceId: await idOf(source), targetId: await idOf(target) },
    });
    const name = shortIds(edges.flatMap(({ sourceId, targetId }) => [sourceId, targetId]));
    desk.tell(edges.map(edgeForm.json), () => [
      ...table(
        ["TYPE", "SOURCE", "TARGET", "CONF", "ID"],
        edges.map(({ id, edgeType, sourceId, targetId, confidence }) => [
          ...[edgeType, name(sourceId), name(targetId), confidence.toFixed(2), id],
        ]),
      ),
      ...countLine(edges.length, "edge", "edges"),
    ]);
    if (nextCursor !== undefined) desk.output.note(`There are more: add --after ${nextCursor}`);
  },
);

type Counts = Awaited<ReturnType<MemoryEngine["storeCounts"]>>;
type Tally = readonly (readonly [name: string, count: number])[];

export const statsCommand = memoryCommand<object, []>(
  {
    name: "stats",
    description: "count memories and edges by type, state and scope",
    isOfAll: true,
    examples: `
Examples:
  svc stats
  svc stats --user-id anna --format json

Counts memories in all states. svc info says what kind of pack it is.`,
  },
  async (desk) => {
    const counts = await desk.engine.storeCounts(desk.owner);
    const summed = summaryOf(counts);
    desk.tell({
      totals: { nodes: summed.nodes, edges: summed.edges, events: counts.events },
      avg_confidence: summed.confidence,
      avg_salience: summed.salience,
      nodes_by_type: Object.fromEntries(summed.byType),
      nodes_by_state: Object.fromEntries(summed.byState),
      nodes_by_scope: Object.fromEntries(summed.byScope),
      edges_by_type: Object.fromEntries(summed.byEdge),
    });
  },
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

/** `svc show` and `svc node`: one memory in full. */
function oneCommand(name: string, description: string, isOfAll?: true) {
  return memoryCommand<{ readonly whole?: true }, [string]>(
    {
      name,
      description,
      ...(isOfAll && { isOfAll }),
      words: [["<id>", ID_ARGUMENT]],
      options: [new Option("--whole", "show the whole of a very long text")],
      examples: `
Examples:
  svc ${name} 3f9a1c                    the end of an id, as lists show it
  svc ${name} 3f9a1c --format json      every field
  svc ${name} 3f9a1c --whole            a text of more than ${LIMITS.contextTextChars} characters, too

Shows memories in any state. svc list and svc search name their ids.`,
    },
    async (desk, given) => {
      const { id, userId } = await desk.find(given);
      const { output: node, json } = await desk.ask(getNodeOperation, { node_id: id });
      const [replaced] = (await desk.engine.chain(id, { userId, direction: "backward" })) ?? [];
      const isWhole = desk.options.whole === true;
      const shown = isWhole ? json : windowJson(nodeForm, node);
      const { item, told } = isWhole ? { item: node, told: {} } : textWindow(node);
      const lines = await memoryLines(desk.engine, item);
      desk.tell({ ...shown, supersedes: replaced?.id ?? null }, () => lines);
      const next: unknown = Reflect.get(told, "next_offset");
      if (typeof next === "number" && desk.options.format !== "json") {
        desk.output.note(
          `The first ${next} of ${node.content.length} characters; --whole shows all.`,
        );
      }
    },
  );
}

export const showCommand = oneCommand(
  "show",
  "show one memory: its text and everything known about it",
);
export const nodeCommand = oneCommand("node", "show one memory of any owner, in any state", true);

async function memoryLines(engine: MemoryEngine, node: MemoryNode): Promise<readonly string[]> {
  const { id, userId } = node;
  const [replaced] = (await engine.chain(id, { userId, direction: "backward" })) ?? [];
  const organizer = await organizerChange(engine, node);
  return [...fields(factsOf(node, { replaced, organizer })), "", allLines(node.content)];
}

type Around = {
  readonly replaced: MemoryNode | undefined;
  /** The organizer's last change to it, in words. */
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

export const chainCommand = memoryCommand<object, [string]>(
  {
    name: "chain",
    description: "show what a memory replaced and what replaced it, oldest first",
    isOfAll: true,
    words: [["<id>", ID_ARGUMENT]],
    examples: `
Examples:
  svc chain 3f9a1c
  svc chain 3f9a1c --format json

svc replace and svc store --supersedes make such chains; nothing that was replaced is deleted.`,
  },
  async (desk, given) => {
    const node = await desk.find(given);
    const read = async (direction: string): Promise<readonly MemoryNode[]> =>
      (await desk.ask(chainOperation, { node_id: node.id, direction })).output;
    const [forward, backward] = [await read("forward"), await read("backward")];
    const json = {
      node_id: node.id,
      forward_chain: forward.map(nodeForm.json),
      backward_chain: backward.map(nodeForm.json),
    };
    desk.tell(json, () => [
      ...memoryTable([...backward.toReversed(), node, ...forward]),
      `\n${shortIds([node.id])(node.id)} replaced ${backward.length}; ${forward.length} replaced it`,
    ]);
  },
);
