import { getNode, getNodeEdges, getNodes, neighborhood } from "../../client/sdk.gen.ts";
import type { Edge, Node } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { go, hrefOf } from "../../data/place.ts";

/** Connections of a thing that are read. */
export const MOST_EDGES = 1000;
/** Ids of one call. */
const BATCH = 500;
/** Memories and things of a neighbourhood. */
export const MOST_AROUND = 150;
/** Neighbours whose own connections are read for the graph. */
const MOST_ASKED = 24;
const EDGES_ASKED = 100;

/** A memory or thing one step away, with the connections that lead there. */
export type Beside = { readonly node: Node; readonly edges: readonly Edge[] };

export type Known = {
  readonly node: Node;
  readonly beside: readonly Beside[];
  /** Whether there are more connections than were read. */
  readonly isCut: boolean;
};

function farEnd({ source_id, target_id }: Edge, id: string): string {
  return source_id === id ? target_id : source_id;
}

/** A thing and everything one step away, in any state. @throws CallFailure */
export async function readThing(id: string, userId: string): Promise<Known> {
  const [node, { edges, has_more }] = await Promise.all([
    answered(getNode({ path: { node_id: id } })),
    answered(getNodeEdges({ path: { node_id: id }, query: { limit: MOST_EDGES } })),
  ]);
  // An operator may follow a link into the memory of another owner; then that owner is shown.
  if (node.user_id !== userId) go(hrefOf("things", id, { owner: node.user_id }), "replace");
  const byEnd = Map.groupBy(edges, (edge) => farEnd(edge, id));
  const nodes = await readNodes([...byEnd.keys()], node.user_id);
  const beside = nodes.map((one) => ({ node: one, edges: byEnd.get(one.id) ?? [] }));
  return { node, beside, isCut: has_more };
}

/** In any state. Very long texts take several calls. */
async function readNodes(ids: readonly string[], userId: string): Promise<readonly Node[]> {
  const found: Node[] = [];
  let waiting = ids;
  while (waiting.length > 0) {
    const body = { node_ids: waiting.slice(0, BATCH), user_id: userId };
    const { nodes, left_out } = await answered(getNodes({ body }));
    found.push(...nodes);
    // Nothing at all would be asked for again without end.
    waiting = [...(nodes.length === 0 ? [] : left_out), ...waiting.slice(BATCH)];
  }
  return found;
}

/** What is around a thing, the nearest first, and how it is connected. */
export type Around = {
  readonly nodes: readonly Node[];
  /** Ids of those that are one step away. */
  readonly near: ReadonlySet<string>;
  /** Between the thing and these, or two of these. */
  readonly edges: readonly Edge[];
};

/** What is drawn and listed. */
export type GraphProps = {
  readonly center: Node;
  readonly around: Around;
  /** Shows what cannot be seen. Given, since the part of the program that draws would take all texts of the page along. */
  readonly plain: (text: string) => string;
};

/** At most 150 active memories and things within two steps. @throws CallFailure */
export async function readAround({ node: { id }, beside }: Known): Promise<Around> {
  const answer = await answered(neighborhood({ path: { node_id: id }, query: { max_hops: 2 } }));
  const nodes = answer.nodes.slice(0, MOST_AROUND);
  const isShown = new Set([id, ...nodes.map((node) => node.id)]);
  const near = new Set(beside.map(({ node }) => node.id));
  const asked = nodes.filter((node) => near.has(node.id)).slice(0, MOST_ASKED);
  const pages = await Promise.all(
    asked.map((node) =>
      answered(getNodeEdges({ path: { node_id: node.id }, query: { limit: EDGES_ASKED } })),
    ),
  );
  const all = [...beside.flatMap(({ edges }) => edges), ...pages.flatMap(({ edges }) => edges)];
  const byId = new Map(all.map((edge) => [edge.id, edge]));
  const edges = [...byId.values()].filter(
    ({ source_id, target_id }) => isShown.has(source_id) && isShown.has(target_id),
  );
  return { nodes, near, edges };
}
