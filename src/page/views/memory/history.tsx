import { signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { storedSpeaker } from "../../../domain/speaker.ts";
import { chain } from "../../client/sdk.gen.ts";
import type { Event, Node, Provenance } from "../../client/types.gen.ts";
import { endOf } from "../../data/changes.ts";
import { answered } from "../../data/http.ts";
import { assign, hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/server.ts";
import { Moment, Section } from "../../parts/controls.tsx";
import { counted, date, doneWord, monthName, now, words } from "../../parts/format.ts";
import { StateShape } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { opponentsOf, useOpenContradictions } from "../conflicts.tsx";

/** What a memory replaced, latest first, and what replaced it, next first. */
type Chain = { readonly before: readonly Node[]; readonly after: readonly Node[] };

export function useChain(id: string): Chain {
  const { data } = useQuery(`chain ${id}`, async () => {
    const read = async (direction: "forward" | "backward"): Promise<readonly Node[]> =>
      (await answered(chain({ path: { node_id: id }, query: { direction } }))).nodes;
    const [before, after] = await Promise.all([read("backward"), read("forward")]);
    return { before, after };
  });
  return data ?? { before: [], after: [] };
}

const LEFT = 16;
/** The width of the drawing: a narrow window gets its own, so that texts can be read without scrolling. */
const narrow = matchMedia("(max-width: 480px)");
const drawnTo = signal(edgeNow());
narrow.addEventListener("change", () => assign(drawnTo, edgeNow()));
const ROW = 34;
const TOP = 30;
const MOST = 6;
/** The names of a month and of today, side by side. */
const NAMES = 92;
const LABEL = 64;

type Bar = {
  readonly node: Node;
  readonly kind: "former" | "here" | "later" | "contested";
  /** Its replacement, which ends it at the latest. */
  readonly next?: Node | undefined;
};
type Scale = (ms: number) => number;

function edgeNow(): number {
  return narrow.matches ? 344 : 836;
}

/** The validity of the memory, what it replaced, what replaced it and what contradicts it, and when each was learned. */
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
    <Section
      title="When it was true"
      note="bars: what holds in the world; ticks below: when the memory learned it"
    >
      <figure class="axis" tabIndex={0}>
        <svg viewBox={`0 0 ${drawnTo.value + LEFT} ${bottom + 30}`} role="img" aria-label={label}>
          <Months from={from} until={x(today) - NAMES} x={x} bottom={bottom} />
          {bars.map((bar, index) => (
            <Row key={bar.node.id} bar={bar} x={x} today={today} y={TOP + index * ROW} />
          ))}
          <path d={`M${x(today)} 6V${bottom}`} class="s-accent" stroke-width="1.5" />
          <text class="tick" x={x(today) - 5} y="15" text-anchor="end">
            today
          </text>
          <path d={`M${LEFT} ${bottom + 6}H${drawnTo.value}`} class="s-line" />
          <Learned bars={bars} x={x} y={bottom} />
        </svg>
      </figure>
    </Section>
  );
}

function kindOf(one: Node, here: Node, { before }: Chain): Bar["kind"] {
  if (one.id === here.id) return "here";
  return before.some(({ id }) => id === one.id) ? "former" : "later";
}

function barEnd({ node: { valid_to }, next }: Bar): number | undefined {
  const ends = [valid_to, next?.valid_from].flatMap((at) => (at == null ? [] : [Date.parse(at)]));
  return ends.length === 0 ? undefined : Math.min(...ends);
}

function rowText(bar: Bar): string {
  const { content, valid_from } = bar.node;
  const end = barEnd(bar);
  const told = end === undefined ? "on" : `to ${date(new Date(end).toISOString())}`;
  return `${content.slice(0, 80)}, from ${date(valid_from)} ${told}`;
}

function Row({ bar, x, today, y }: { bar: Bar; x: Scale; today: number; y: number }): VNode {
  const { node, kind } = bar;
  const start = x(Date.parse(node.valid_from));
  const end = barEnd(bar);
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

const LETTER = 7;

type RowTextProps = { text: string; start: number; right: number; y: number; isLight: boolean };

/** The text inside its bar, else after it, else before it: wherever there is most room. */
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

function Learned({ bars, x, y }: { bars: readonly Bar[]; x: Scale; y: number }): VNode {
  // After the word "learned", with room for half a date.
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
        learned
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

const SHOWN = 1200;

export function Life({ data, chain }: { data: Provenance; chain: Chain }): VNode {
  const { node, evidence_events, operations, missing_evidence_refs } = data;
  const end = endOf(node);
  const [before] = chain.before;
  const [after] = chain.after;
  return (
    <Section title="How it came to be" note="oldest first">
      <ol class="life">
        {evidence_events.map((event) => (
          <Said key={event.id} event={event} content={node.content} />
        ))}
        {missing_evidence_refs.length > 0 && (
          <li>
            <p class="small">
              {counted(missing_evidence_refs.length, "source")} can no longer be read.
            </p>
          </li>
        )}
        {before !== undefined && <Replaced text="It replaced" node={before} at={node.created_at} />}
        {operations.map(({ id, op_type, actor_id, created_at }) => (
          <Step key={id} at={created_at}>
            <b>It was {doneWord(op_type)}</b>{" "}
            <Text as="span" class="dim" of={`by ${actor_id}`} line />
          </Step>
        ))}
        {after !== undefined && (
          <Replaced text="It was replaced by" node={after} at={after.created_at} />
        )}
        {end !== undefined && node.ttl_days !== null && isActive(node) && (
          <Step at={end} show={date}>
            <span class="dim">
              Kept for {counted(node.ttl_days, "day")}: archived on {date(end)}, unless it is
              pinned.
            </span>
          </Step>
        )}
      </ol>
    </Section>
  );
}

function isActive({ lifecycle_state: state }: Node): boolean {
  return state === "tentative" || state === "stable" || state === "contested";
}

type StepProps = {
  readonly at: string;
  readonly show?: (at: string) => string;
  /** Default: a hollow dot. */
  readonly shape?: VNode;
  readonly children: ComponentChildren;
};

const Step = ({ at, show, shape = HOLLOW, children }: StepProps): VNode => (
  <li>
    <span class="dot">{shape}</span>
    <span class="when">
      <Moment at={at} show={show} />
    </span>
    {children}
  </li>
);

const dot = (circle: VNode): VNode => (
  <svg width="13" height="13" viewBox="-1.5 -1.5 13 13" aria-hidden="true">
    {circle}
  </svg>
);
const FILLED = dot(<circle cx="5" cy="5" r="5" class="f-ink" />);
const HOLLOW = dot(<circle cx="5" cy="5" r="4.2" class="s-edge hollow" stroke-width="1.6" />);

function Said({ event, content }: { event: Event; content: string }): VNode {
  const said: Readonly<Record<string, string>> = words.said;
  const speaker = storedSpeaker(event.metadata ?? undefined);
  return (
    <Step at={event.timestamp} shape={FILLED}>
      <b>
        {speaker === undefined ? (
          (said[event.role] ?? event.role)
        ) : (
          <>
            <Text of={speaker} line /> said it
          </>
        )}
      </b>
      {event.session_id !== null && (
        <span class="dim">
          {" "}
          in the conversation{" "}
          <a class="mono" href={hrefOf("timeline", "", { session_id: event.session_id })}>
            <Text of={event.session_id} line />
          </a>
        </span>
      )}
      <blockquote class="src">
        <Quoted text={event.content.slice(0, SHOWN)} content={content} />
      </blockquote>
      <p class="small">
        event <span class="mono">…{event.id.slice(-12)}</span>
      </p>
    </Step>
  );
}

function Quoted({ text, content }: { text: string; content: string }): VNode {
  const at = text.indexOf(content);
  if (at < 0 || content === text) return <Text of={text} />;
  return (
    <>
      <Text of={text.slice(0, at)} />
      <Text as="strong" of={content} />
      <Text of={text.slice(at + content.length)} />
    </>
  );
}

const Replaced = ({ text, node, at }: { text: string; node: Node; at: string }): VNode => (
  <Step at={at} shape={<StateShape of="superseded" size={13} />}>
    <b>{text}</b>{" "}
    <a href={hrefOf("memory", node.id)}>
      <Text as="u" of={node.content} line />
    </a>
  </Step>
);
