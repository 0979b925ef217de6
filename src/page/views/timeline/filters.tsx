import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { facets } from "../../client/sdk.gen.ts";
import type { BrowseNodesData, Facets } from "../../client/types.gen.ts";
import { answered } from "../../data/http.ts";
import { assign, go, place, withQuery } from "../../data/place.ts";
import { useQuery } from "../../data/server.ts";
import { Button, FilterField } from "../../parts/controls.tsx";
import { number, words } from "../../parts/format.ts";
import { Box } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";

type BrowseQuery = NonNullable<BrowseNodesData["query"]>;

export type Filters = Pick<BrowseQuery, "clock" | Name>;

const FACETS = [
  ["lifecycle_state", "state", "State"],
  ["node_type", "type", "Type"],
  ["scope", "scope", "Scope"],
  ["source_type", "source_type", "Source"],
  ["epistemic_type", "epistemic_type", "Knowledge"],
] as const;
type FacetOf = (typeof FACETS)[number];

const FACET_WORDS: Partial<Record<FacetOf[0], Readonly<Record<string, string>>>> = {
  lifecycle_state: words.state,
  source_type: words.source,
  epistemic_type: words.knowledge,
};

/** Part of the texts; it is not in the address. */
const contains = signal("");

/** The filters of the address and of this tab. The server rejects invalid values. */
export function filters(): Filters {
  const { query } = place.value;
  const chosen = FACETS.flatMap(([, name]) => {
    const values = query.getAll(name);
    return values.length === 0 ? [] : [[name, name === "type" ? values[0] : values]];
  });
  const session = query.get("session_id");
  // SAFETY: the server rejects unknown values, and the page shows that.
  return {
    clock: query.get("clock") === "happened" ? "happened" : "learned",
    ...Object.fromEntries(chosen),
    ...(session === null ? {} : { session_id: session }),
    ...(contains.value === "" ? {} : { contains: contains.value }),
  } as Filters;
}

const isFiltered = ({ clock: _, ...others }: Filters): boolean => Object.keys(others).length > 0;

function toggle(name: FacetOf[1], value: string): void {
  const before = place.value.query.getAll(name);
  const others = before.filter((one) => one !== value);
  const after =
    others.length < before.length ? others : name === "type" ? [value] : [...before, value];
  go(withQuery({ [name]: after }), "replace");
}

function clearFilters(): void {
  contains.value = "";
  const none = Object.fromEntries(FACETS.map(([, name]) => [name, undefined]));
  go(withQuery({ ...none, session_id: undefined }), "replace");
}

export function FacetList({ of }: { of: Filters }): VNode {
  const { data } = useQuery(`facets ${JSON.stringify(of)}`, (user_id) =>
    answered(facets({ query: { ...of, user_id } })),
  );
  return (
    <div class="facets">
      <FilterField
        label="Containing"
        hint="a part of the text"
        value={contains.value}
        onChange={(text) => assign(contains, text)}
      />
      {of.session_id !== undefined && (
        <p class="facet-session">
          <button
            type="button"
            class="chip set"
            onClick={() => go(withQuery({ session_id: undefined }), "replace")}
          >
            One conversation <Text as="b" of={of.session_id} line />{" "}
            <span aria-hidden="true">×</span>
          </button>
        </p>
      )}
      {data !== undefined && FACETS.map((facet) => <Facet key={facet[0]} of={facet} data={data} />)}
      {isFiltered(of) && (
        <Button kind="quiet" onClick={clearFilters}>
          Clear all
        </Button>
      )}
    </div>
  );
}

function Facet({ of, data }: { of: FacetOf; data: Facets }): VNode | null {
  const [facet, name, title] = of;
  const names: Readonly<Record<string, string>> = FACET_WORDS[facet] ?? {};
  const chosen = place.value.query.getAll(name);
  const values = data[facet].filter(({ value, count }) => count > 0 || chosen.includes(value));
  if (values.length < 2 && chosen.length === 0) return null;
  const most = Math.max(1, ...values.map(({ count }) => count));
  return (
    <fieldset class="facet">
      <legend>{title}</legend>
      {values.map(({ value, count }) => (
        <label key={value}>
          <input
            type="checkbox"
            checked={chosen.includes(value)}
            onChange={() => toggle(name, value)}
          />
          <span class="name" title={value}>
            {names[value] ?? value}
          </span>
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

type Name = FacetOf[1] | "session_id" | "contains";
const NAMES: readonly (readonly [Name, string])[] = [
  ...FACETS.map(([, name, title]) => [name, title.toLowerCase()] as const),
  ["session_id", "conversation"],
  ["contains", "text"],
];

export function Nothing({ of }: { of: Filters }): VNode {
  return (
    <Box title="No memory fits these filters">
      <p>Without one of them there are:</p>
      <ul class="try">
        {NAMES.map(
          ([name, text]) =>
            of[name] !== undefined && <Without key={name} {...{ name, text, of }} />,
        )}
      </ul>
    </Box>
  );
}

function Without({ name, text, of }: { name: Name; text: string; of: Filters }): VNode {
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
      <Button kind="link" onClick={leave}>
        without this {text}
      </Button>
      <span>{data === undefined ? "…" : number(data.total)}</span>
    </li>
  );
}
