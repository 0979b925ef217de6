import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Node } from "../../client/types.gen.ts";
import { now } from "../../data/clock.ts";
import { hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Moment } from "../../parts/controls.tsx";
import { dayOf, longDate, number, share, startOfDay, time } from "../../parts/format.ts";
import { StateShape } from "../../parts/state.tsx";
import { hiddenIn, Text } from "../../parts/text.tsx";
import type { Day } from "./days.ts";

/** The name of a day, and how many memories it brought. */
export function DayHeading({ day: { from, count } }: { day: Pick<Day, "from" | "count"> }): VNode {
  const today = dayOf(new Date(now()).toISOString());
  const yesterday = dayOf(startOfDay(today, -1).toISOString());
  const near =
    from === today ? t.timeline.today : from === yesterday ? t.timeline.yesterday : undefined;
  return (
    <h2 class="day">
      {near !== undefined && <b>{near}</b>}
      <span class={near === undefined ? "" : "dim"}>{longDate(from)}</span>
      <span class="dim of">{number(count)}</span>
    </h2>
  );
}

type Props = {
  /** Absent while it is being read. */
  readonly node: Node | undefined;
  readonly before: Node | undefined;
  readonly after: Node | undefined;
  readonly index: number;
  readonly isActive: boolean;
  readonly isTabStop: boolean;
  readonly isSelected: boolean;
  readonly onActive: (index: number) => void;
  /** Absent where nothing can be changed. */
  readonly onSelectTo: ((index: number) => void) | undefined;
  /** Whether its time is when it happened, and not when it was learned. */
  readonly isByEvent: boolean;
};

/** A memory in one line, with what is worth knowing of it in a second. */
export function Row(props: Props): VNode {
  const { node, before, after, index, isActive, isTabStop, isSelected, isByEvent } = props;
  const { onActive, onSelectTo } = props;
  const link = useRef<HTMLAnchorElement>(null);
  // At once: a focus that comes late would take the place of the next one.
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
        // The focus would move the beginning of the range.
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
        <span class="text">
          <Text of={node.content} line />
        </span>
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
      <span class={`state ${node.lifecycle_state}`}>{t.words.state[node.lifecycle_state]}</span>
      <span>{t.words.type[node.node_type]}</span>
      <span>{t.words.scope[node.scope]}</span>
      <span class="wide">{t.words.source[node.source_type]}</span>
      <span class="wide">{share(node.confidence)}</span>
      {node.pinned && <span class="pinned">{t.timeline.pinned}</span>}
      {hidden > 0 && <span class="lost">{t.parts.hidden(hidden)}</span>}
      {isContinued && <span class="vh">{t.timeline.thread}</span>}
    </span>
  );
}

/** The place of a row that is being read. */
function WaitingRow({ index }: { index: number }): VNode {
  return (
    <div class="row waiting" aria-busy="true">
      <span class="gutter" />
      <svg class="skel" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect class="bg" width={40 + ((index * 37) % 45)} height="10" rx="2" />
      </svg>
    </div>
  );
}

function isThread(first: Node | undefined, second: Node | undefined): boolean {
  return first?.session_id != null && first.session_id === second?.session_id;
}
