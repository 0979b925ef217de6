import type { VNode } from "preact";
import { stats as askStats } from "../client/sdk.gen.ts";
import { answered } from "../data/http.ts";
import { useQuery } from "../data/query.ts";
import { caller, owner } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { JsonButton } from "../parts/json-button.tsx";
import { Answer } from "../parts/states.tsx";
import { examined } from "./health/examine.ts";
import { Examined } from "./health/examined.tsx";
import { type Figures, PackFacts, StateCounts } from "./health/figures.tsx";
import { Organizer } from "./health/organizer.tsx";
import { Work } from "./health/work.tsx";

/** Does it work? */
export function Health(): VNode {
  const query = useQuery("health", read);
  const path = `/v1/stats?user_id=${encodeURIComponent(owner.value ?? "")}`;
  return (
    <>
      <div class="title">
        <h1 class="ttl">{verdict()}</h1>
        {query.data !== undefined && <JsonButton data={query.data.own} path={path} />}
      </div>
      <Answer of={query}>
        {(figures) => (
          <div class="two">
            <div>
              <Examined bytes={figures.whole?.details?.bytes ?? undefined} />
              <Work of={figures.own} />
              <Organizer />
            </div>
            <aside class="aside" aria-label={t.health.aside}>
              <StateCounts of={figures.own} />
              <PackFacts of={figures} />
            </aside>
          </div>
        )}
      </Answer>
    </>
  );
}

async function read(user_id: string): Promise<Figures> {
  const [own, whole] = await Promise.all([
    answered(askStats({ query: { user_id } })),
    caller.peek()?.is_operator === true ? answered(askStats()) : undefined,
  ]);
  return { own, whole };
}

function verdict(): string {
  const { data } = examined.value;
  if (data === undefined) return t.health.unexamined;
  if (data.failures > 0) return t.health.wrong(data.failures);
  return data.warnings > 0 ? t.health.worth(data.warnings) : t.health.sound;
}
