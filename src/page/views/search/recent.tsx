import type { VNode } from "preact";
import { listRetrievals } from "../../client/sdk.gen.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { Head, Moment } from "../../parts/controls.tsx";
import { Answer } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";

const SHOWN = 20;

/** The latest questions of assistants, each with its receipt. */
export function Recent(): VNode {
  const query = useQuery("recent", (user_id) =>
    answered(listRetrievals({ query: { user_id, limit: SHOWN } })),
  );
  return (
    <section class="recent">
      <h1 class="vh">{t.frame.view.search}</h1>
      <Head title={t.search.recent} note={t.search.recentNote} />
      <Answer of={query}>
        {({ retrievals }) =>
          retrievals.length === 0 ? (
            <p class="dim">{t.search.recentNone}</p>
          ) : (
            <ol class="used">
              {retrievals.map(({ request_id, query: text, client, created_at, context_count }) => (
                <li key={request_id}>
                  <p>
                    <a href={hrefOf("search", request_id)}>
                      <Text of={text} line />
                    </a>
                  </p>
                  <b>{t.search.inContext(context_count)}</b>
                  <span class="small">
                    {client !== null && (
                      <>
                        <Text of={client} line />,{" "}
                      </>
                    )}
                    <Moment at={created_at} />
                  </span>
                </li>
              ))}
            </ol>
          )
        }
      </Answer>
    </section>
  );
}
