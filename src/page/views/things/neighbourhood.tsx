import type { FunctionComponent, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Edge, Node } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { StateShape } from "../../parts/state.tsx";
import { Answer } from "../../parts/states.tsx";
import { signed, Text } from "../../parts/text.tsx";
import { type GraphProps, type Known, readAround } from "./beside.ts";

/** What is around a thing: drawn, and as a list that says the same. */
export function Neighbourhood({ of }: { of: Known }): VNode {
  const query = useQuery(`around ${of.node.id}`, () => readAround(of));
  const { around } = t.things;
  return (
    <section class="sect">
      <h2 class="side-h">
        {around.title}
        {query.data !== undefined && <span>{around.note(query.data.nodes.length)}</span>}
      </h2>
      <Answer of={query}>
        {(data) =>
          data.nodes.length === 0 ? (
            <p class="small">{around.none}</p>
          ) : (
            <>
              <Drawn center={of.node} around={data} plain={signed} />
              <List center={of.node} around={data} />
            </>
          )
        }
      </Answer>
    </section>
  );
}

/** The graph comes in a part of the program of its own, which is loaded when one is shown. */
function Drawn(props: GraphProps): VNode {
  const [graph, setGraph] = useState<{ readonly of: FunctionComponent<GraphProps> } | undefined>();
  useEffect(() => {
    let isWanted = true;
    void import("./graph.tsx").then(({ Graph }) => {
      if (isWanted) setGraph({ of: Graph });
    });
    return () => {
      isWanted = false;
    };
  }, []);
  const Graph = graph?.of;
  return (
    <div class="graph">
      {Graph === undefined ? <p class="small">{t.things.around.drawing}</p> : <Graph {...props} />}
    </div>
  );
}

function List({ center, around }: Omit<GraphProps, "plain">): VNode {
  return (
    <ul class="neighbours around" aria-label={t.things.around.list} tabIndex={0}>
      {around.nodes.map((node) => (
        <li key={node.id}>
          <Shape of={node} />
          <span class="small">
            {around.near.has(node.id)
              ? relations(around.edges, center.id, node.id)
              : t.things.around.hops}
          </span>
          <a href={hrefOf(node.node_type === "entity" ? "things" : "memory", node.id)}>
            <Text of={node.content} line />
          </a>
        </li>
      ))}
    </ul>
  );
}

/** A square for a thing, for a memory the shape of its state. */
function Shape({ of }: { of: Node }): VNode {
  if (of.node_type !== "entity") return <StateShape of={of.lifecycle_state} size={12} />;
  return (
    <svg width="12" height="12" viewBox="0 0 10 10" aria-hidden="true">
      <rect class="f-graph" x="0.5" y="0.5" width="9" height="9" rx="2" />
    </svg>
  );
}

function relations(edges: readonly Edge[], one: string, other: string): string {
  const between = edges.filter(
    ({ source_id, target_id }) =>
      (source_id === one && target_id === other) || (source_id === other && target_id === one),
  );
  return [...new Set(between.map(({ edge_type }) => t.words.edge[edge_type]))].join(", ");
}
