import { signal } from "@preact/signals";
import type { VNode } from "preact";
import type { Node } from "../../client/types.gen.ts";
import { now } from "../../data/clock.ts";
import { t } from "../../language/texts.ts";
import { Head } from "../../parts/controls.tsx";
import { date, monthName } from "../../parts/format.ts";
import { opponentsOf, useOpenContradictions } from "../conflicts/open.ts";
import type { Chain } from "./chain.ts";

const LEFT = 16;
/** Where the drawing ends: a narrow window gets one of its own width, whose texts can be read without scrolling. */
const narrow = matchMedia("(max-width: 480px)");
const drawnTo = signal(edgeNow());
narrow.addEventListener("change", () => {
  drawnTo.value = edgeNow();
});
const ROW = 34;
const TOP = 30;
/** Bars of one drawing; the nearest of a longer chain are shown. */
const MOST = 6;
/** The names of a month and of today, side by side. */
const NAMES = 92;
/** Between two names of months. */
const LABEL = 64;

type Bar = {
  readonly node: Node;
  readonly kind: "former" | "here" | "later" | "contested";
  /** What replaced it, with which it ends at the latest. */
  readonly next?: Node | undefined;
};
type Scale = (ms: number) => number;

function edgeNow(): number {
  return narrow.matches ? 344 : 836;
}

/** When the memory, what it replaced, what replaced it and what contradicts it hold, and when each was learned. */
export function Axis({ node, chain }: { node: Node; chain: Chain }): VNode {
  const opponents = opponentsOf(node.id, useOpenContradictions());
  const line = [...chain.before.slice(0, 2).toReversed(), node, ...chain.after.slice(0, 2)];
  const bars: readonly Bar[] = [
    ...line.map(
      (one, index): Bar => ({ node: one, kind: kindOf(one, node, chain), next: line[index + 1] }),
    ),
    ...opponents.map(({ other }): Bar => ({ node: other, kind: "contested" })),
  ].slice(0, MOST);
  const today = now();
  const starts = bars.flatMap(({ node: one }) => [
    Date.parse(one.valid_from),
    Date.parse(one.created_at),
  ]);
  const first = Math.min(...starts, today);
  const span = Math.max(today - first, 86_400_000);
  const [from, to] = [first - span * 0.06, today + span * 0.05];
  const x: Scale = (ms) =>
    LEFT + ((Math.min(to, Math.max(from, ms)) - from) / (to - from)) * (drawnTo.value - LEFT);
  const bottom = TOP + bars.length * ROW + 6;
  const label = bars.map(rowText).join("; ");
  return (
    <section class="sect">
      <Head title={t.memory.axis.title} note={t.memory.axis.note} />
      <figure class="axis" tabIndex={0}>
        <svg viewBox={`0 0 ${drawnTo.value + LEFT} ${bottom + 30}`} role="img" aria-label={label}>
          <Months from={from} until={x(today) - NAMES} x={x} bottom={bottom} />
          {bars.map((bar, index) => (
            <Row key={bar.node.id} bar={bar} x={x} today={today} y={TOP + index * ROW} />
          ))}
          <path d={`M${x(today)} 6V${bottom}`} class="s-accent" stroke-width="1.5" />
          <text class="tick" x={x(today) - 5} y="15" text-anchor="end">
            {t.memory.axis.today}
          </text>
          <path d={`M${LEFT} ${bottom + 6}H${drawnTo.value}`} class="s-line" />
          <Learned bars={bars} x={x} y={bottom} />
        </svg>
      </figure>
    </section>
  );
}

function kindOf(one: Node, here: Node, { before }: Chain): Bar["kind"] {
  if (one.id === here.id) return "here";
  return before.some(({ id }) => id === one.id) ? "former" : "later";
}

/** When it ended to hold, in milliseconds since 1970. */
function endOf({ node: { valid_to }, next }: Bar): number | undefined {
  const ends = [valid_to, next?.valid_from].flatMap((at) => (at == null ? [] : [Date.parse(at)]));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function rowText(bar: Bar): string {
  const { axis } = t.memory;
  const { content, valid_from } = bar.node;
  const end = endOf(bar);
  const told = end === undefined ? axis.on : axis.until(date(new Date(end).toISOString()));
  return axis.row(content.slice(0, 80), date(valid_from), told);
}

/** A bar with its text; without an end it points into the future. */
function Row({ bar, x, today, y }: { bar: Bar; x: Scale; today: number; y: number }): VNode {
  const { node, kind } = bar;
  const start = x(Date.parse(node.valid_from));
  const end = endOf(bar);
  const right = Math.max(start + 6, x(end ?? today));
  const edge = end === undefined ? "l9 13-9 13" : "v26";
  const dashed = { "stroke-width": "1.5", "stroke-dasharray": "4 3" };
  return (
    <>
      <path
        d={`M${start} ${y}H${right}${edge}H${start}z`}
        class={CLASSES[kind]}
        {...(kind === "contested" ? dashed : {})}
      />
      <RowText text={node.content} start={start} right={right} y={y} isLight={kind === "here"} />
    </>
  );
}

const CLASSES: Readonly<Record<Bar["kind"], string>> = {
  former: "f-c4",
  here: "f-c1",
  later: "f-c4",
  contested: "s-clash hollow",
};

/** About what a letter takes, in pixels. */
const LETTER = 7;

type RowTextProps = { text: string; start: number; right: number; y: number; isLight: boolean };

/** The text in its bar, else behind it, else before it: where there is most room. */
function RowText({ text, start, right, y, isLight }: RowTextProps): VNode {
  const rooms = [
    { room: right - start - 20, left: start + 10, anchor: "start" as const, isIn: true },
    { room: drawnTo.value - right - 20, left: right + 16, anchor: "start" as const, isIn: false },
    { room: start - LEFT - 10, left: start - 8, anchor: "end" as const, isIn: false },
  ];
  const { room, left, anchor, isIn } = rooms.reduce((best, one) =>
    one.room > best.room ? one : best,
  );
  const letters = Math.max(6, Math.floor(room / LETTER));
  return (
    <text class={isIn && isLight ? "on" : "t"} x={left} y={y + 17} text-anchor={anchor}>
      {text.length > letters ? `${text.slice(0, letters - 1)}…` : text}
    </text>
  );
}

/** Lines at the beginnings of months, as many as there is room for. */
function Months(props: { from: number; until: number; x: Scale; bottom: number }): VNode {
  const { from, until, x, bottom } = props;
  const start = new Date(from);
  const months = Array.from(
    { length: 240 },
    (_, index) => new Date(start.getFullYear(), start.getMonth() + 1 + index, 1),
  );
  let last = Number.NEGATIVE_INFINITY;
  const shown = months.filter((month) => {
    const at = x(month.getTime());
    if (at < last + LABEL || at > until) return false;
    last = at;
    return true;
  });
  return (
    <>
      {shown.map((month, index) => (
        <g key={month.getTime()}>
          <path d={`M${x(month.getTime())} 22V${bottom}`} class="s-line" />
          <text class="tick" x={x(month.getTime()) + 5} y="15">
            {monthName(month)}
            {(index === 0 || month.getMonth() === 0) && ` ${month.getFullYear()}`}
          </text>
        </g>
      ))}
    </>
  );
}

/** Ticks at the moments at which the memories were learned. */
function Learned({ bars, x, y }: { bars: readonly Bar[]; x: Scale; y: number }): VNode {
  // Behind the word "learned", with room for half a date.
  let last = LEFT + 84;
  const ticks = bars
    .map(({ node }) => ({ id: node.id, at: node.created_at, left: x(Date.parse(node.created_at)) }))
    .toSorted((a, b) => a.left - b.left)
    .map((tick) => {
      const isNamed = tick.left > last && tick.left < drawnTo.value - 40;
      if (isNamed) last = tick.left + 90;
      return { ...tick, isNamed };
    });
  return (
    <>
      <text class="tick" x={LEFT} y={y + 24}>
        {t.memory.axis.learned}
      </text>
      {ticks.map(({ id, at, left, isNamed }) => (
        <g key={id}>
          <path d={`M${left} ${y + 1}v10`} class="s-ink" stroke-width="2" />
          {isNamed && (
            <text class="tick" x={left} y={y + 24} text-anchor="middle">
              {date(at)}
            </text>
          )}
        </g>
      ))}
    </>
  );
}
