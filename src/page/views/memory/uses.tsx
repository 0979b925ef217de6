import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { getNodeRetrievals } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { Moment } from "../../parts/controls.tsx";
import { ordinal } from "../../parts/format.ts";
import { Text } from "../../parts/text.tsx";

/** As many are read, and so many are shown at first. */
const READ = 100;
const SHOWN = 5;

/** The answers in whose context a memory was, as far as receipts are kept. */
export function Uses({ node: { id } }: { node: Node }): VNode | null {
  const [isWhole, setWhole] = useState(false);
  const { data } = useQuery(`uses ${id}`, () =>
    answered(getNodeRetrievals({ path: { node_id: id }, query: { limit: READ } })),
  );
  if (data === undefined) return null;
  const { retrievals, has_more } = data;
  const shown = isWhole ? retrievals : retrievals.slice(0, SHOWN);
  return (
    <section class="sect">
      <h2 class="side-h">
        {retrievals.length === 0 ? t.memory.unused : t.memory.used(retrievals.length, has_more)}
        {shown.length < retrievals.length && (
          <button type="button" class="link" onClick={() => setWhole(true)}>
            {t.memory.allUses}
          </button>
        )}
      </h2>
      <ol class="used">
        {shown.map(({ request_id, query, client, created_at, rank, cited }) => (
          <li key={request_id}>
            <p>
              <a href={hrefOf("search", request_id)}>
                <Text of={query} line />
              </a>
            </p>
            <b>{ordinal(rank)}</b>
            <span class="small">
              {client !== null && (
                <>
                  <Text of={client} line />,{" "}
                </>
              )}
              <Moment at={created_at} />
              {cited && ` · ${t.memory.cited}`}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
