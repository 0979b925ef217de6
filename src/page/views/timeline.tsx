import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { browseNodes, timeline } from "../client/sdk.gen.ts";
import type { Timeline as Counts, Node } from "../client/types.gen.ts";
import { archive, canBeReplaced, pin, promote, reinforce } from "../data/changes.ts";
import { answered } from "../data/http.ts";
import { assign, go, hrefOf, withQuery } from "../data/place.ts";
import { canChange, owner, useQuery } from "../data/server.ts";
import { Button, FormDialog, filterKey, Segments } from "../parts/controls.tsx";
import { date, dayOf, memoryCount, startOfDay, TIME_ZONE } from "../parts/format.ts";
import { type KeyAction, useKeys } from "../parts/keys.ts";
import { Failure, Loaded } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { FacetList, type Filters, filters, Nothing } from "./timeline/filters.tsx";
import { List, ScrollMap } from "./timeline/list.tsx";
import { type Day, type Days, daysOf, HEADING, Rows, topOfRow } from "./timeline/rows.ts";

const NEWEST = 40;
const NONE: readonly Node[] = [];

/** On a narrow screen the filters are collapsed by default. */
const isWide = matchMedia("(min-width: 901px)").matches;

export function Timeline(): VNode {
  const chosen = filters();
  const key = JSON.stringify(chosen);
  // Requested first: counting all memories takes longer than showing the newest.
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
        <Loaded of={query.data === undefined ? { ...query, data: uncounted } : query}>
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
        </Loaded>
        <aside class="aside" aria-label="Filters">
          <details class="filters" open={isWide}>
            <summary>Filters</summary>
            <FacetList of={chosen} />
          </details>
        </aside>
      </div>
    </div>
  );
}

/** The days of the newest memories, until all are counted; undefined if there are none. */
function daysUncounted(nodes: readonly Node[], { clock }: Filters): Counts | undefined {
  if (nodes.length === 0) return undefined;
  const days = Map.groupBy(nodes, ({ created_at, event_time }) =>
    dayOf(clock === "happened" ? (event_time ?? created_at) : created_at),
  );
  const buckets = [...days].map(([from, { length: count }]) => ({ from, count, by_state: {} }));
  const counts = { count: buckets.length, total: nodes.length };
  return { buckets, ...counts, bucket: "day", time_zone: TIME_ZONE };
}

function Heading({ data, clock = "learned" }: Pick<Filters, "clock"> & { data?: Counts }): VNode {
  const oldest = data?.buckets.at(-1)?.from;
  return (
    <div class="title">
      <h1 class="ttl">
        {data === undefined ? "Timeline" : memoryCount(data.total)}{" "}
        {oldest !== undefined && <em>since {date(startOfDay(oldest).toISOString())}</em>}
      </h1>
      <Segments
        legend="By when it was"
        of={{ learned: "learned", happened: "happened" }}
        value={clock}
        onChange={(one) => go(withQuery({ clock: one === "learned" ? undefined : one }), "replace")}
      />
    </div>
  );
}

function Memories(props: {
  readonly data: Counts;
  readonly of: Filters;
  /** The total, until it is counted. */
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
          onSeen={(from, to) => assign(seen, [from, to])}
        />
        {keys.dialog}
      </div>
      <ScrollMap days={days} seen={seen.value} onGo={goTo} />
    </>
  );
}

/** Rows are reloaded with new counts; the old ones stay until then. */
function useRows(days: Days, of: Filters, first: readonly Node[]): Rows {
  const latest = useRef<Rows | undefined>(undefined);
  if (latest.current?.days !== days) {
    latest.current = new Rows(days, of, owner.peek() ?? "", { before: latest.current, first });
  }
  return latest.current;
}

function scrollToRow(box: HTMLElement | null, days: Days, index: number): void {
  const top = (box?.getBoundingClientRect().top ?? 0) + topOfRow(days, index);
  if (top < HEADING) scrollTo(0, scrollY + top - HEADING - 8);
  else if (top > innerHeight - 2 * HEADING) scrollTo(0, scrollY + top - innerHeight + 2 * HEADING);
}

function useRowKeys(days: Days, rows: Rows, show: (index: number) => void) {
  const [active, setActive] = useState<number | undefined>(undefined);
  const [selected, setSelected] = useState<ReadonlyMap<string, Node>>(new Map());
  const [isAsking, setAsking] = useState(false);
  const move = (to: number): void => {
    const index = Math.max(0, Math.min(days.total - 1, to));
    setActive(index);
    show(index);
  };
  const node = active === undefined ? undefined : rows.at(active);
  const toggle = (): void => {
    if (node === undefined) return;
    const next = new Map(selected);
    if (!next.delete(node.id)) next.set(node.id, node);
    setSelected(next);
  };
  // Rows in between that are not loaded yet are left out.
  const selectTo = (index: number): void => {
    const start = active ?? index;
    const next = new Map(selected);
    for (let at = Math.min(start, index); at <= Math.max(start, index); at += 1) {
      const one = rows.at(at);
      if (one !== undefined) next.set(one.id, one);
    }
    setSelected(next);
    move(index);
  };
  const askOrArchive = (): void => {
    if (selected.size > 0) setAsking(true);
    else if (node !== undefined) void archive([node]);
  };
  const down = (): void => move(active === undefined ? 0 : active + 1);
  const up = (): void => move((active ?? 1) - 1);
  const act = (keys: string, text: string, run: () => unknown): KeyAction => ({ keys, text, run });
  const withNode = (run: (node: Node) => unknown) => (): unknown => node && run(node);
  const changes = [
    act(" ", "select the row", toggle),
    act("J", "select down to the next row", () => selectTo((active ?? -1) + 1)),
    act("K", "select up to the row before", () => selectTo((active ?? 1) - 1)),
    act("x", "archive", askOrArchive),
    act("e", "correct", withNode(goToCorrect)),
    act("m", "make stable", withNode(promote)),
    act("+", "reinforce", withNode(reinforce)),
    act("p", "pin or release", withNode(pin)),
  ];
  useKeys([
    act("j", "next row", down),
    act("k", "previous row", up),
    { keys: "ArrowDown", run: down },
    { keys: "ArrowUp", run: up },
    act("Home", "first row", () => move(0)),
    act("End", "last row", () => move(days.total - 1)),
    filterKey(),
    ...(canChange.value ? changes : []),
  ]);
  const nodes = [...selected.values()];
  const finish = (isDone: boolean): void => {
    setAsking(false);
    if (!isDone) return;
    void archive(nodes);
    setSelected(new Map());
  };
  return {
    active,
    selected: new Set(selected.keys()),
    activate: setActive,
    selectTo,
    bar: nodes.length > 0 && (
      <p class="selected" role="status">
        <b>{memoryCount(nodes.length)} selected</b>
        <Button onClick={askOrArchive} keyName="x">
          Archive…
        </Button>
        <Button kind="quiet" onClick={() => setSelected(new Map())}>
          Cancel
        </Button>
      </p>
    ),
    dialog: isAsking && <ArchiveDialog nodes={nodes} onEnd={finish} />,
  };
}

function goToCorrect(node: Node): void {
  if (canBeReplaced(node)) go(hrefOf("memory", node.id, { do: "correct" }));
}

type ArchiveProps = { nodes: readonly Node[]; onEnd: (isDone: boolean) => void };

function ArchiveDialog({ nodes, onEnd }: ArchiveProps): VNode {
  const count = memoryCount(nodes.length);
  return (
    <FormDialog
      title={`Archive ${count}?`}
      onClose={() => onEnd(false)}
      save="Archive"
      kind="danger"
      isReady
      onSave={() => onEnd(true)}
    >
      <p>They will no longer be found, until they are restored:</p>
      <ol class="preview" tabIndex={0} aria-label={`${count} selected`}>
        {nodes.map(({ id, content }) => (
          <Text as="li" key={id} of={content} line />
        ))}
      </ol>
    </FormDialog>
  );
}
