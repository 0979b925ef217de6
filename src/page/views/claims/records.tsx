import type { VNode } from "preact";
import { getNodes } from "../../client/sdk.gen.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { StateShape } from "../../parts/state.tsx";
import { Answer } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";

/** The memories behind a number. */
export function Records({ ids, count }: { ids: readonly string[]; count: number }): VNode {
  const query = useQuery(`records ${ids.join(" ")}`, (user_id) =>
    answered(getNodes({ body: { node_ids: [...ids], user_id } })),
  );
  return (
    <Answer of={query}>
      {({ nodes }) => (
        <>
          <p class="small">{t.claims.records(nodes.length, count)}</p>
          <ul class="claimed-records">
            {nodes.map(({ id, lifecycle_state, content }) => (
              <li key={id}>
                <StateShape of={lifecycle_state} />
                <a href={hrefOf("memory", id)} data-step>
                  <Text of={content} line />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </Answer>
  );
}
