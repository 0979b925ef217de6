import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../../language/texts.ts";
import { monthName, startOfDay } from "../../parts/format.ts";
import type { Day, Days } from "./days.ts";

const HEIGHT = 480;
const WIDTH = 84;
/** A bar is at least this thick, in pixels. */
const SLOT = 4;
const DAY_MS = 86_400_000;
/** Between two names of months. */
const LABEL_GAP = 15;

type Slot = { readonly count: number; readonly day: Day };

type Props = {
  readonly days: Days;
  /** The days that are on the screen, newest first. */
  readonly seen: readonly [string, string] | undefined;
  readonly onGo: (day: Day) => void;
};

/** When memories came: a bar for each span of days, newest on top, and what of it is on the screen. A click goes there. */
export function ScrollMap({ days: { days }, seen, onGo }: Props): VNode | null {
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
  const filled = slotsOf(days, slotOf);
  const most = Math.max(...[...filled.values()].map(({ count }) => count));
  const height = slots * thick;
  const goTo = (event: MouseEvent): void => {
    const box = svg.current?.getBoundingClientRect();
    if (box === undefined) return;
    const wanted = Math.floor(((event.clientY - box.top) / box.height) * slots);
    const near = [...filled].toSorted(([a], [b]) => Math.abs(a - wanted) - Math.abs(b - wanted))[0];
    if (near !== undefined) onGo(near[1].day);
  };
  return (
    <nav class="map" aria-label={t.timeline.map}>
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
        {[...filled].map(([slot, { count }]) => (
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
              aria-label={t.timeline.goTo(name, count)}
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

function slotsOf(days: readonly Day[], slotOf: (day: string) => number): ReadonlyMap<number, Slot> {
  const filled = new Map<number, Slot>();
  for (const day of days) {
    const slot = slotOf(day.from);
    const before = filled.get(slot);
    filled.set(slot, { count: (before?.count ?? 0) + day.count, day: before?.day ?? day });
  }
  return filled;
}

type Month = {
  readonly day: Day;
  readonly name: string;
  readonly count: number;
  readonly top: number;
};

/** The months with memories, each with its newest day; those without room for their name are left out. */
function monthsOf(days: readonly Day[], topOf: (day: string) => number): readonly Month[] {
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
    const count = within.reduce((sum, one) => sum + one.count, 0);
    return [{ day, name, count, top }];
  });
}
