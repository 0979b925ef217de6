import { useSignal } from "@preact/signals";
import type { RefObject, VNode } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { Node } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { Moment } from "../../parts/controls.tsx";
import {
  counted,
  dayOf,
  longDate,
  memoryCount,
  monthName,
  now,
  number,
  startOfDay,
  time,
  words,
} from "../../parts/format.ts";
import { State, StateShape } from "../../parts/states.tsx";
import { hiddenIn, Text } from "../../parts/text.tsx";
import {
  type Day,
  type Days,
  dayAtHeight,
  dayOfRow,
  HEADING,
  ROW,
  type Rows,
  rowAtHeight,
  topOfRow,
} from "./rows.ts";

/** Maximum rows in the document at once, including the focused one. */
const MOST_ROWS = 56;
/** Rows rendered beyond the visible area, for small scroll steps; a jump of a screen or more passes all of them. */
const OVERSCAN = 8;

type Props = {
  readonly days: Days;
  readonly rows: Rows;
  readonly active: number | undefined;
  readonly selected: ReadonlySet<string>;
  /** Whether a time is that of the event, not when it was learned. */
  readonly isByEvent: boolean;
  readonly onActive: (index: number) => void;
  readonly onSelectTo: ((index: number) => void) | undefined;
  readonly onSeen: (from: string, to: string) => void;
};

/** The list of all memories that pass the filters; only the visible rows and some around them are in the document. */
export function List(props: Props): VNode {
  const { days, rows, active, selected, isByEvent, onActive, onSelectTo, onSeen } = props;
  const box = useRef<HTMLDivElement>(null);
  const seen = useSeen(box);
  const [from, to] = rangeOf(days, seen.from, seen.to, seen.isElsewhere ? 0 : OVERSCAN);
  // A new page of rows is a new list.
  void rows.version.value;
  useEffect(() => rows.want(from, to), [rows, from, to]);
  const top = dayAtHeight(days, seen.from);
  const bottom = dayAtHeight(days, seen.to);
  useEffect(() => {
    if (top !== undefined && bottom !== undefined) onSeen(top.from, bottom.from);
  }, [top?.from, bottom?.from]);
  const shown = Array.from({ length: to - from }, (_, place) => from + place);
  if (active !== undefined && active < days.total && (active < from || active >= to))
    shown.push(active);
  return (
    <div class="list" ref={box} style={{ height: `${days.height}px` }}>
      {top !== undefined && seen.from > 0 && (
        <div class="stuck" aria-hidden="true">
          <DayHeading day={top} />
        </div>
      )}
      <ol aria-label="Memories, newest first">
        {shown.map((index) => (
          <Place key={index} days={days} index={index}>
            <Row
              node={rows.at(index)}
              before={isFirst(days, index) ? undefined : rows.at(index - 1)}
              after={isFirst(days, index + 1) ? undefined : rows.at(index + 1)}
              index={index}
              isActive={index === active}
              isTabStop={index === (active ?? from)}
              isSelected={selected.has(rows.at(index)?.id ?? "")}
              {...{ isByEvent, onActive, onSelectTo }}
            />
          </Place>
        ))}
      </ol>
    </div>
  );
}

function rangeOf(days: Days, from: number, to: number, beyond: number): readonly [number, number] {
  if (days.total === 0) return [0, 0];
  const first = Math.max(0, rowAtHeight(days, from) - beyond);
  const last = Math.min(days.total, rowAtHeight(days, to) + 1 + beyond);
  return [first, Math.min(last, first + MOST_ROWS)];
}

const isFirst = (days: Days, index: number): boolean => dayOfRow(days, index)?.index === index;

function Place(props: { days: Days; index: number; children: VNode }): VNode {
  const { days, index, children } = props;
  const day = dayOfRow(days, index);
  const starts = day?.index === index;
  const top = topOfRow(days, index) - (starts ? HEADING : 0);
  const height = starts ? ROW + HEADING : ROW;
  return (
    <li
      class="place"
      aria-setsize={days.total}
      aria-posinset={index + 1}
      style={{ transform: `translateY(${top}px)`, height: `${height}px` }}
    >
      {starts && day !== undefined && <DayHeading day={day} />}
      {children}
    </li>
  );
}

function DayHeading({ day: { from, count } }: { day: Pick<Day, "from" | "count"> }): VNode {
  const today = dayOf(new Date(now()).toISOString());
  const yesterday = dayOf(startOfDay(today, -1).toISOString());
  const near = from === today ? "Today" : from === yesterday ? "Yesterday" : undefined;
  return (
    <h2 class="day">
      {near !== undefined && <b>{near}</b>}
      <span class={near === undefined ? "" : "dim"}>{longDate(from)}</span>
      <span class="dim of">{number(count)}</span>
    </h2>
  );
}

type RowProps = Pick<Props, "isByEvent" | "onActive" | "onSelectTo"> & {
  readonly node: Node | undefined;
  readonly before: Node | undefined;
  readonly after: Node | undefined;
  readonly index: number;
  readonly isActive: boolean;
  readonly isTabStop: boolean;
  readonly isSelected: boolean;
};

function Row(props: RowProps): VNode {
  const { node, before, after, index, isActive, isTabStop, isSelected, isByEvent } = props;
  const { onActive, onSelectTo } = props;
  const link = useRef<HTMLAnchorElement>(null);
  // At once: a late focus would override the next one.
  useLayoutEffect(() => {
    if (isActive) link.current?.focus({ preventScroll: true });
  }, [isActive, node === undefined]);
  if (node === undefined) return <WaitingRow index={index} />;
  const up = isThread(before, node);
  const down = isThread(node, after);
  const at = isByEvent ? (node.event_time ?? node.created_at) : node.created_at;
  const thread = up && down ? " mid" : up ? " end" : down ? " start" : "";
  return (
    <a
      ref={link}
      class={`row${thread}${isSelected ? " chosen" : ""}`}
      href={hrefOf("memory", node.id)}
      tabIndex={isTabStop ? 0 : -1}
      data-row={index}
      onFocus={() => onActive(index)}
      onMouseDown={(event) => {
        // Focusing would move the start of the range.
        if (event.shiftKey && onSelectTo !== undefined) event.preventDefault();
      }}
      onClick={(event) => {
        if (!event.shiftKey || onSelectTo === undefined) return;
        event.preventDefault();
        onSelectTo(index);
      }}
    >
      <span class="gutter">
        <StateShape of={node.lifecycle_state} />
      </span>
      <span class="words">
        <Text as="span" class="text" of={node.content} line />
        <Meta node={node} isContinued={up} />
      </span>
      <Moment at={at} show={time} />
    </a>
  );
}

function Meta({ node, isContinued }: { node: Node; isContinued: boolean }): VNode {
  const hidden = hiddenIn(node.content.slice(0, 2000));
  return (
    <span class="meta">
      <span>{node.node_type}</span>
      {node.lifecycle_state !== "tentative" && <State of={node.lifecycle_state} isBare />}
      <span class="wide">{words.source[node.source_type]}</span>
      <span class="wide">{node.scope}</span>
      {node.pinned && <span class="pinned">pinned</span>}
      {hidden > 0 && <span class="lost">{counted(hidden, "hidden character")}</span>}
      {isContinued && <span class="vh">same conversation</span>}
    </span>
  );
}

const WaitingRow = ({ index }: { index: number }): VNode => (
  <div class="row waiting" aria-busy="true">
    <span class="gutter" />
    <svg class="skel" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="bg" width={40 + ((index * 37) % 45)} height="10" rx="2" />
    </svg>
  </div>
);

function isThread(first: Node | undefined, second: Node | undefined): boolean {
  return first?.session_id != null && first.session_id === second?.session_id;
}

/** The visible part of a tall element, in pixels from its upper edge. */
type Seen = {
  readonly from: number;
  readonly to: number;
  /** Whether it has nothing in common with the previous visible part. */
  readonly isElsewhere: boolean;
};

/** Tracks the visible part of an element while scrolling, once per frame. */
function useSeen(element: RefObject<HTMLElement | null>): Seen {
  const seen = useSignal<Seen>({ from: 0, to: innerHeight, isElsewhere: false });
  useEffect(() => {
    let frame = 0;
    const measure = (): void => {
      frame = 0;
      const top = element.current?.getBoundingClientRect().top ?? 0;
      const now = { from: Math.max(0, -top), to: Math.max(0, innerHeight - top) };
      const { from, to } = seen.peek();
      if (now.from === from && now.to === to) return;
      seen.value = { ...now, isElsewhere: now.from >= to || now.to <= from };
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(measure);
    };
    measure();
    addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    const observer = new ResizeObserver(soon);
    observer.observe(document.body);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
      observer.disconnect();
    };
  }, []);
  return seen.value;
}

const HEIGHT = 480;
const WIDTH = 84;
const SLOT = 4;
const DAY_MS = 86_400_000;
const LABEL_GAP = 15;

type MapProps = {
  readonly days: Days;
  /** The visible days, newest first. */
  readonly seen: readonly [string, string] | undefined;
  readonly onGo: (day: Day) => void;
};

/** When memories came: a bar for each span of days, newest on top, with the visible part marked. A click scrolls there. */
export function ScrollMap({ days: { days }, seen, onGo }: MapProps): VNode | null {
  const svg = useRef<SVGSVGElement>(null);
  const [newest, oldest] = [days[0], days.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  const end = startOfDay(newest.from, 1).getTime();
  const span = Math.max(1, Math.round((end - startOfDay(oldest.from).getTime()) / DAY_MS));
  const slots = Math.min(span, Math.floor(HEIGHT / SLOT));
  const thick = Math.min(16, HEIGHT / slots);
  const slotOf = (day: string): number => {
    const back = (end - startOfDay(day).getTime()) / DAY_MS - 1;
    return Math.min(slots - 1, Math.floor((back / span) * slots));
  };
  const filled = [...Map.groupBy(days, ({ from }) => slotOf(from))].map(([slot, within]) => {
    return { slot, day: within[0] ?? newest, count: countOf(within) };
  });
  const most = Math.max(...filled.map(({ count }) => count));
  const height = slots * thick;
  const goTo = (event: MouseEvent): void => {
    const box = svg.current?.getBoundingClientRect();
    if (box === undefined) return;
    const wanted = Math.floor(((event.clientY - box.top) / box.height) * slots);
    const away = ({ slot }: { slot: number }): number => Math.abs(slot - wanted);
    const [near] = filled.toSorted((a, b) => away(a) - away(b));
    if (near !== undefined) onGo(near.day);
  };
  return (
    <nav class="map" aria-label="When memories came">
      <svg
        ref={svg}
        width={WIDTH}
        height={height}
        viewBox={`0 0 ${WIDTH} ${height}`}
        aria-hidden="true"
        onClick={goTo}
      >
        {seen !== undefined && (
          <rect
            class="seen"
            y={slotOf(seen[0]) * thick}
            width={WIDTH}
            height={(slotOf(seen[1]) - slotOf(seen[0]) + 1) * thick}
            rx="2"
          />
        )}
        {filled.map(({ slot, count }) => (
          <rect
            key={slot}
            class="f-ink"
            x="34"
            y={slot * thick + 0.5}
            width={Math.max(2, Math.sqrt(count / most) * (WIDTH - 36))}
            height={thick - 1}
            rx="1"
          />
        ))}
      </svg>
      <ol>
        {monthsOf(days, (day) => slotOf(day) * thick).map(({ day, name, count, top }) => (
          <li key={day.from} style={{ insetBlockStart: `${top}px` }}>
            <button
              type="button"
              aria-label={`${name}, ${memoryCount(count)}`}
              onClick={() => onGo(day)}
            >
              {name}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

const countOf = (days: readonly Day[]): number => days.reduce((sum, { count }) => sum + count, 0);

/** The months with memories, each with its newest day; those without room for their name are left out. */
function monthsOf(days: readonly Day[], topOf: (day: string) => number) {
  const months = Map.groupBy(days, ({ from }) => from.slice(0, 7));
  let bottom = -LABEL_GAP;
  let year = "";
  return [...months].flatMap(([month, within]) => {
    const [day] = within;
    const top = day === undefined ? 0 : topOf(day.from);
    if (day === undefined || top < bottom + LABEL_GAP) return [];
    bottom = top;
    const isNewYear = month.slice(0, 4) !== year;
    const name = isNewYear && year !== "" ? month.slice(0, 4) : monthName(startOfDay(day.from));
    year = month.slice(0, 4);
    return [{ day, name, count: countOf(within), top }];
  });
}
