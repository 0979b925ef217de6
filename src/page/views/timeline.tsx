import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { browseNodes, timeline } from "../client/sdk.gen.ts";
import type { Timeline as Answer, Node } from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { go, withQuery } from "../data/place.ts";
import { useQuery } from "../data/query.ts";
import { canChange, owner } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { date, dayOf, startOfDay, TIME_ZONE } from "../parts/format.ts";
import { Failure, Answer as Shown } from "../parts/states.tsx";
import { type Day, type Days, daysOf, HEADING, topOfRow } from "./timeline/days.ts";
import { FacetList } from "./timeline/facets.tsx";
import { type Filters, filters } from "./timeline/filters.ts";
import { List } from "./timeline/list.tsx";
import { ScrollMap } from "./timeline/map.tsx";
import { Nothing } from "./timeline/nothing.tsx";
import { useRowKeys } from "./timeline/row-keys.tsx";
import { Rows } from "./timeline/rows.ts";

/** As many as a screen shows. */
const NEWEST = 40;
const NONE: readonly Node[] = [];

/** On a narrow screen the filters are opened when they are wanted. */
const isWide = matchMedia("(min-width: 901px)").matches;

/** What was learned when: all memories, the newest first. */
export function Timeline(): VNode {
  const chosen = filters();
  const key = JSON.stringify(chosen);
  // Asked first: to count all memories takes longer than to show the newest.
  const newest = useQuery(`newest ${key}`, (user_id) =>
    answered(browseNodes({ query: { ...chosen, user_id, limit: NEWEST } })),
  );
  const newestNodes = newest.data?.nodes ?? NONE;
  const uncounted = useMemo(() => daysUncounted(newestNodes, chosen), [newestNodes, key]);
  const query = useQuery(`timeline ${key}`, (user_id) =>
    answered(timeline({ query: { ...chosen, user_id, bucket: "day", time_zone: TIME_ZONE } })),
  );
  return (
    <div class="timeline">
      <Heading data={query.data} clock={chosen.clock} />
      <div class="browse">
        <Shown of={query.data === undefined ? { ...query, data: uncounted } : query}>
          {(data) =>
            data.total === 0 ? (
              <Nothing of={chosen} />
            ) : (
              <Memories
                key={key}
                data={data}
                of={chosen}
                first={data === uncounted ? newestNodes : NONE}
              />
            )
          }
        </Shown>
        <aside class="aside" aria-label={t.timeline.facets}>
          <details class="filters" open={isWide}>
            <summary>{t.timeline.facets}</summary>
            <FacetList of={chosen} />
          </details>
        </aside>
      </div>
    </div>
  );
}

/** The days of the newest memories, until all are counted; undefined where there are none. */
function daysUncounted(nodes: readonly Node[], { clock }: Filters): Answer | undefined {
  if (nodes.length === 0) return undefined;
  const days = Map.groupBy(nodes, ({ created_at, event_time }) =>
    dayOf(clock === "happened" ? (event_time ?? created_at) : created_at),
  );
  const buckets = [...days].map(([from, { length: count }]) => ({ from, count, by_state: {} }));
  const counts = { count: buckets.length, total: nodes.length };
  return { buckets, ...counts, bucket: "day", time_zone: TIME_ZONE };
}

function Heading({
  data,
  clock = "learned",
}: {
  data: Answer | undefined;
  clock: Filters["clock"];
}): VNode {
  const oldest = data?.buckets.at(-1)?.from;
  return (
    <div class="title">
      <h1 class="ttl">
        {data === undefined ? t.frame.view.timeline : t.timeline.heading(data.total)}{" "}
        {oldest !== undefined && (
          <em>{t.timeline.since(date(startOfDay(oldest).toISOString()))}</em>
        )}
      </h1>
      <fieldset class="segments">
        <legend class="vh">{t.timeline.clockLabel}</legend>
        {(["learned", "happened"] as const).map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="clock"
              checked={clock === one}
              onChange={() =>
                go(withQuery({ clock: one === "learned" ? undefined : one }), "replace")
              }
            />
            <span>{t.timeline.clock[one]}</span>
          </label>
        ))}
      </fieldset>
    </div>
  );
}

/** The list and the map beside it. */
function Memories(props: {
  readonly data: Answer;
  readonly of: Filters;
  /** All that are shown, while they are not counted yet. */
  readonly first: readonly Node[];
}): VNode {
  const { data, of, first } = props;
  const days = useMemo(() => daysOf(data), [data]);
  const rows = useRows(days, of, first);
  const box = useRef<HTMLDivElement>(null);
  const seen = useSignal<readonly [string, string] | undefined>(undefined);
  const keys = useRowKeys(days, rows, (index) => scrollToRow(box.current, days, index));
  const goTo = (day: Day): void => {
    const top = box.current?.getBoundingClientRect().top ?? 0;
    scrollTo(0, scrollY + top + day.top);
  };
  return (
    <>
      <div class={first.length > 0 ? "listing uncounted" : "listing"} ref={box}>
        {keys.bar}
        {rows.failure.value !== undefined && (
          <Failure of={rows.failure.value} retry={() => rows.again()} />
        )}
        <List
          days={days}
          rows={rows}
          active={keys.active}
          selected={keys.selected}
          isByEvent={of.clock === "happened"}
          onActive={keys.activate}
          onSelectTo={canChange.value ? keys.selectTo : undefined}
          onSeen={(from, to) => {
            seen.value = [from, to];
          }}
        />
        {keys.dialog}
      </div>
      <ScrollMap days={days} seen={seen.value} onGo={goTo} />
    </>
  );
}

/** Rows are read again with new counts; those that were there stay until then. */
function useRows(days: Days, of: Filters, first: readonly Node[]): Rows {
  const latest = useRef<Rows | undefined>(undefined);
  if (latest.current?.days !== days) {
    latest.current = new Rows(days, of, owner.peek() ?? "", { before: latest.current, first });
  }
  return latest.current;
}

/** Brings a row into the middle half of the screen, unless it is there. */
function scrollToRow(box: HTMLElement | null, days: Days, index: number): void {
  const top = (box?.getBoundingClientRect().top ?? 0) + topOfRow(days, index);
  if (top < HEADING) scrollTo(0, scrollY + top - HEADING - 8);
  else if (top > innerHeight - 2 * HEADING) scrollTo(0, scrollY + top - innerHeight + 2 * HEADING);
}
