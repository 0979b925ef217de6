import type { VNode } from "preact";
import { getNodeEdges, getNodes } from "../../client/sdk.gen.ts";
import type { Edge, Node } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { StateShape } from "../../parts/state.tsx";
import { Text } from "../../parts/text.tsx";

const SHOWN = 30;

type Neighbour = { readonly edge: Edge; readonly node: Node };

/** What a memory is connected with, and how. */
export function Neighbours({ node: { id } }: { node: Node }): VNode {
  const { data } = useQuery(`neighbours ${id}`, (userId) => read(id, userId));
  return (
    <section class="sect">
      <h2 class="side-h">{t.memory.neighbours}</h2>
      {data !== undefined && data.length === 0 && <p class="small">{t.memory.noNeighbours}</p>}
      <ul class="neighbours">
        {data?.map(({ edge, node }) => (
          <li key={edge.id}>
            <StateShape of={node.lifecycle_state} size={12} />
            <span class="small">{t.words.edge[edge.edge_type]}</span>
            <a href={hrefOf("memory", node.id)}>
              <Text of={node.content} line />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function read(id: string, userId: string): Promise<readonly Neighbour[]> {
  const { edges } = await answered(
    getNodeEdges({ path: { node_id: id }, query: { limit: SHOWN } }),
  );
  const otherOf = ({ source_id, target_id }: Edge): string =>
    source_id === id ? target_id : source_id;
  if (edges.length === 0) return [];
  const body = { node_ids: [...new Set(edges.map(otherOf))], user_id: userId };
  const { nodes } = await answered(getNodes({ body }));
  return edges.flatMap((edge) => {
    const node = nodes.find((one) => one.id === otherOf(edge));
    return node === undefined ? [] : [{ edge, node }];
  });
}
