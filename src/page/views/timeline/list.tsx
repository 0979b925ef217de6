import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../../language/texts.ts";
import { useSeen } from "../../parts/window.ts";
import { type Days, dayAtHeight, dayOfRow, HEADING, ROW, rowAtHeight, topOfRow } from "./days.ts";
import { DayHeading, Row } from "./row.tsx";
import type { Rows } from "./rows.ts";

/** As many rows as there may be in the document at once, the one with the focus among them. */
const MOST_ROWS = 56;
/** Rows beyond the edges of the screen, for the next small step; a leap of a screen or more would leave them all behind. */
const OVERSCAN = 8;

type Props = {
  readonly days: Days;
  readonly rows: Rows;
  /** The row that keys act on. */
  readonly active: number | undefined;
  readonly selected: ReadonlySet<string>;
  readonly isByEvent: boolean;
  readonly onActive: (index: number) => void;
  readonly onSelectTo: ((index: number) => void) | undefined;
  readonly onSeen: (from: string, to: string) => void;
};

/** The list of all memories that pass the filters; only the rows on the screen and some around it are in the document. */
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
      <ol aria-label={t.timeline.list}>
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
              onActive={onActive}
              onSelectTo={onSelectTo}
              isByEvent={isByEvent}
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

function isFirst(days: Days, index: number): boolean {
  return dayOfRow(days, index)?.index === index;
}

/** A row where it lies; the first of a day has the heading above it. */
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
