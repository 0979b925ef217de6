import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import { type MemoryOptions, withPack } from "../memories.ts";
import { fields } from "../output.ts";
import { packCommand } from "../pack-command.ts";
import { anyOwnerOption } from "./list.ts";

const EXAMPLES = `
Examples:
  svc stats ./memory.pack
  svc stats ./memory.pack --user-id anna --format json

Counts memories in all states. svc info says what kind of pack it is.`;

type Counts = Awaited<ReturnType<MemoryEngine["storeCounts"]>>;
type Tally = readonly (readonly [name: string, count: number])[];

/** `svc stats`: how many memories and edges there are, by type, state and scope. */
export const statsCommand = packCommand(
  {
    name: "stats",
    description: "count memories and edges by type, state and scope",
    options: [anyOwnerOption()],
    examples: EXAMPLES,
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
