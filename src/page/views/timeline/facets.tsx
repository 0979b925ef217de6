import type { VNode } from "preact";
import { facets } from "../../client/sdk.gen.ts";
import type { Facets } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { go, place, withQuery } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { FilterField } from "../../parts/filter.tsx";
import { number } from "../../parts/format.ts";
import { Text } from "../../parts/text.tsx";
import { clearFilters, contains, FACETS, type Filters, isFiltered, toggle } from "./filters.ts";

/** The filters with what each value would show. They stay when nothing is left. */
export function FacetList({ of }: { of: Filters }): VNode {
  const { data } = useQuery(`facets ${JSON.stringify(of)}`, (user_id) =>
    answered(facets({ query: { ...of, user_id } })),
  );
  return (
    <div class="facets">
      <FilterField
        label={t.timeline.contains}
        hint={t.timeline.containsHint}
        value={contains.value}
        onChange={(text) => {
          contains.value = text;
        }}
      />
      {of.session_id !== undefined && (
        <p class="facet-session">
          <button
            type="button"
            class="chip set"
            onClick={() => go(withQuery({ session_id: undefined }), "replace")}
          >
            {t.timeline.session}{" "}
            <b>
              <Text of={of.session_id} line />
            </b>{" "}
            <span aria-hidden="true">×</span>
          </button>
        </p>
      )}
      {data !== undefined &&
        FACETS.map(([facet, name]) => <Facet key={facet} facet={facet} name={name} data={data} />)}
      {isFiltered(of) && (
        <Button kind="quiet" onClick={clearFilters}>
          {t.timeline.clear}
        </Button>
      )}
    </div>
  );
}

type FacetProps = {
  readonly facet: (typeof FACETS)[number][0];
  readonly name: (typeof FACETS)[number][1];
  readonly data: Facets;
};

function Facet({ facet, name, data }: FacetProps): VNode | null {
  const chosen = place.value.query.getAll(name);
  const values = data[facet].filter(({ value, count }) => count > 0 || chosen.includes(value));
  if (values.length < 2 && chosen.length === 0) return null;
  const most = Math.max(1, ...values.map(({ count }) => count));
  return (
    <fieldset class="facet">
      <legend>{t.timeline.facet[facet]}</legend>
      {values.map(({ value, count }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={() => toggle(name, value)}
          />
          <span class="name">{wordOf(facet, value)}</span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="bg" width="100" height="4" />
            <rect class="f-edge" width={(count / most) * 100} height="4" />
          </svg>
          <span class="n">{number(count)}</span>
        </label>
      ))}
    </fieldset>
  );
}

function wordOf(facet: FacetProps["facet"], value: string): string {
  const words: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    lifecycle_state: t.words.state,
    node_type: t.words.type,
    scope: t.words.scope,
    source_type: t.words.source,
    epistemic_type: t.words.knowledge,
  };
  return words[facet]?.[value] ?? value;
}
