import type { VNode } from "preact";
import { facets } from "../../client/sdk.gen.ts";
import { answered } from "../../data/http.ts";
import { go, withQuery } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { number } from "../../parts/format.ts";
import { Box } from "../../parts/states.tsx";
import { contains, type Filters } from "./filters.ts";

const NAMES = [
  "state",
  "type",
  "scope",
  "source_type",
  "epistemic_type",
  "session_id",
  "contains",
] as const;
type Name = (typeof NAMES)[number];

/** Nothing passes the filters: what each of them leaves out. */
export function Nothing({ of }: { of: Filters }): VNode {
  const set = NAMES.filter((name) => of[name] !== undefined);
  return (
    <Box title={t.timeline.nothing}>
      <p>{t.timeline.nothingText}</p>
      <ul class="try">
        {set.map((name) => (
          <Without key={name} name={name} of={of} />
        ))}
      </ul>
    </Box>
  );
}

function Without({ name, of }: { name: Name; of: Filters }): VNode {
  const { [name]: _, ...others } = of;
  const { data } = useQuery(`facets ${JSON.stringify(others)}`, (user_id) =>
    answered(facets({ query: { ...others, user_id } })),
  );
  const leave = (): void => {
    if (name === "contains") contains.value = "";
    else go(withQuery({ [name]: undefined }), "replace");
  };
  return (
    <li>
      <button type="button" class="link" onClick={leave}>
        {t.timeline.clearOne(t.timeline.filter[name])}
      </button>
      <span>{data === undefined ? "…" : number(data.total)}</span>
    </li>
  );
}
