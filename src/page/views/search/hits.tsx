import { type Signal, useComputed } from "@preact/signals";
import { type ComponentChildren, Fragment, type VNode } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ScoreProvenance } from "../../../domain/records/score.ts";
import { FACTORS } from "../../../domain/scoring.ts";
import type { Explanation, NotedContradiction, RetrievalReceipt } from "../../client/types.gen.ts";
import { assign, hrefOf } from "../../data/place.ts";
import { Bar, Button, Head, Moment, TextLink } from "../../parts/controls.tsx";
import { counted, date, number, ordinal, share } from "../../parts/format.ts";
import { State, StateShape } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { opponentsOf, useOpenContradictions } from "../conflicts.tsx";
import { type Answer, barOf, provenanceOf, type ScoreBar } from "./answer.ts";

const SEARCH_SIGNALS: Readonly<Record<string, string>> = {
  semantic: "meaning",
  lexical: "words",
  graph: "graph",
  recency: "time",
  salience: "weight",
  confidence: "certainty",
};

const SEARCH_STEPS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FACTORS.map(({ of, label }) => [of, label])),
  relevance_floor: "at most its relevance",
  rounding: "",
  tie_break: "",
  neural_blend: "read together",
  neural_rank_assignment: "ranked by a model",
  current_update: "newer value",
  evidence_projection: "from its source",
  evidence_augmentation: "next to its source",
  session_decay: "same conversation",
  episode_decay: "same episode",
  newer_first: "a newer one says it",
  behind_newer: "a newer one says it",
};

const LEGEND = [
  ["meaning", "meaning"],
  ["words", "words, pale: weak"],
  ["cut", "taken off"],
] as const;

type Hit = Explanation["in_context"][number];

type Props = {
  readonly answer: Answer;
  /** The memory whose line in the context is marked. */
  readonly line: Signal<string | undefined>;
};

export function Hits({ answer, line }: Props): VNode {
  const [isWhole, setWhole] = useState(false);
  const all = answer.explanation.in_context.toSorted((a, b) => a.rank - b.rank);
  const strong = all.filter(({ node_id }) => !answer.weak.has(node_id));
  const isKnown = strong.length > 0;
  const hits = isWhole ? all : isKnown ? strong : all.slice(0, MOST_UNSURE);
  const drawn = useDrawn(answer.receipt.request_id, hits.length);
  const contradictions = useOpenContradictions();
  return (
    <section>
      <Head
        title="In the context"
        note={
          isKnown ? `${number(all.length)}, by score` : "Nothing is known about this for certain."
        }
        end={LEGEND.map(([of, text]) => (
          <span key={of} class="legend">
            <i class={`sw ${of}`} />
            {text}
          </span>
        ))}
      />
      <ol class="hits">
        {hits.slice(0, drawn).map((hit) => (
          <Marked key={hit.node_id} id={hit.node_id} line={line}>
            <span class="rank">{hit.rank}</span>
            <Memory hit={hit} became={answer.became.get(hit.node_id)} />
            <Score
              hit={hit}
              receipt={answer.receipt}
              isNearestOnly={answer.weak.has(hit.node_id)}
            />
            <OtherSide answer={answer} hit={hit} contradictions={contradictions} />
          </Marked>
        ))}
      </ol>
      {hits.length < all.length && (
        <Button kind="link" onClick={() => setWhole(true)}>
          and {counted(all.length - hits.length, "that is merely near", "that are merely near")}
        </Button>
      )}
    </section>
  );
}

/** Shown if no hit is a certain answer. */
const MOST_UNSURE = 2;

type MarkedProps = {
  readonly id: string;
  readonly line: Props["line"];
  readonly children: ComponentChildren;
};

function Marked({ id, line, children }: MarkedProps): VNode {
  const isCurrent = useComputed(() => (line.value === id ? "true" : undefined));
  const mark = (marked: string | undefined) => (): void => assign(line, marked);
  return (
    <li
      class="hit"
      aria-current={isCurrent}
      onMouseEnter={mark(id)}
      onMouseLeave={mark(undefined)}
      onFocusCapture={mark(id)}
    >
      {children}
    </li>
  );
}

export const GONE = "This memory is gone; only its id is left.";

function Memory({ hit, became }: { hit: Hit; became: string | undefined }): VNode {
  const { node_id, content, node_type, lifecycle_state, event_time, created_at } = hit;
  if (content === null) {
    return (
      <div>
        <p class="text dim">{GONE}</p>
        <p class="small mono">{node_id}</p>
      </div>
    );
  }
  const at = event_time ?? created_at;
  return (
    <div>
      <p class="text clamp">
        <TextLink href={hrefOf("memory", node_id)} text={content} />
      </p>
      <div class="meta">
        {lifecycle_state !== null && <State of={lifecycle_state} />}
        {became !== undefined && <span class="lost">{became} since</span>}
        {node_type !== null && <span>{node_type}</span>}
        {at !== null && <Moment at={at} show={date} />}
        <span>{counted(hit.token_cost, "token")}</span>
      </div>
    </div>
  );
}

const COLOURS: Readonly<Record<string, string>> = {
  semantic: "f-meaning",
  lexical: "f-words",
  graph: "f-graph",
  recency: "f-time",
};

function Score(props: { hit: Hit; receipt: RetrievalReceipt; isNearestOnly: boolean }): VNode {
  const { hit, receipt, isNearestOnly } = props;
  const provenance = useMemo(() => provenanceOf(receipt, hit.node_id), [receipt, hit.node_id]);
  if (provenance === undefined) {
    return (
      <div class="score">
        <div class="bar">
          <b>{hit.score.toFixed(3)}</b>
        </div>
        <p class="why">
          {hit.reasons
            .map(({ text, node_id: id }) => (id === null ? text : `${text} …${id.slice(-8)}`))
            .join("; ")}
        </p>
      </div>
    );
  }
  const bar = barOf(provenance, isNearestOnly);
  const parts = bar.shares.map((part) => ({
    share: part.share,
    class: COLOURS[part.signal] ?? "f-edge",
    pale: part.isWeak,
  }));
  const label = [
    ...bar.shares.map(({ signal, share: value }) => `${signalName(signal)} ${share(value)}`),
    ...(bar.takenOff > 0 ? [`taken off ${share(bar.takenOff)}`] : []),
  ].join(", ");
  return (
    <div class="score">
      <div class="bar">
        <Bar of={[...parts, { share: bar.takenOff, class: "f-loss" }]} label={label} />
        <b>{hit.score.toFixed(3)}</b>
      </div>
      <p class="why">
        {wordsOf(bar, provenance).map((word, index, all) => (
          <Fragment key={word}>
            <i>
              {word}
              {index < all.length - 1 ? "," : ""}
            </i>{" "}
          </Fragment>
        ))}
      </p>
    </div>
  );
}

const signalName = (signal: string): string => SEARCH_SIGNALS[signal] ?? signal;

const WORTH_A_WORD = 0.005;

function wordsOf({ shares, steps }: ScoreBar, { fusion }: ScoreProvenance): readonly string[] {
  const ranks: Readonly<Record<string, number | undefined>> =
    fusion?.kind === "rrf" ? { semantic: fusion.semanticRank, lexical: fusion.lexicalRank } : {};
  const signals = shares
    .filter(({ share: value }) => value >= WORTH_A_WORD)
    .map(({ signal, share: value, isWeak }) => {
      const rank = ranks[signal];
      const told = rank === undefined ? share(value) : ordinal(rank);
      return `${signalName(signal)} ${told}${isWeak ? " (weak)" : ""}`;
    });
  const changes = steps
    .filter(({ kind, change }) => SEARCH_STEPS[kind] !== "" && Math.abs(change) >= WORTH_A_WORD)
    .map(
      ({ kind, factor }) =>
        `${SEARCH_STEPS[kind] ?? kind}${factor === undefined ? "" : ` × ${share(factor)}`}`,
    );
  return [...signals, ...changes];
}

/** A contested memory with what contradicts it, and whether the assistant saw that too. */
function OtherSide(props: {
  answer: Answer;
  hit: Hit;
  contradictions: readonly NotedContradiction[];
}): VNode | null {
  const { answer, hit, contradictions } = props;
  const [found] = opponentsOf(hit.node_id, contradictions);
  if (found === undefined) return null;
  const { other } = found;
  const { in_context, not_in_context } = answer.explanation;
  const isInside = in_context.some(({ node_id }) => node_id === other.id);
  const outside = not_in_context.find(({ node_id }) => node_id === other.id);
  const told = isInside
    ? "It reached the assistant too."
    : outside?.score == null
      ? "It was not found, so the assistant saw only this side."
      : `It was found too (${outside.score.toFixed(3)}) but did not reach the assistant, which saw only this side.`;
  return (
    <div class="note">
      <StateShape of="contested" size={12} />
      <p>
        Another memory says <Text as="q" of={other.content} line /> {told}
      </p>
      <a class="btn" href={hrefOf("memory", hit.node_id)}>
        Settle it
      </a>
    </div>
  );
}

const FIRST = 20;
/** The rest follows in a few steps; keys and clicks are handled in between. */
const GROWTH = 3;

/**
 * How many rows of a long list to render: first the visible ones, the others once these are painted.
 * @param of identifies the list; a new id starts over, reloading the same one does not
 */
export function useDrawn(of: string, total: number): number {
  const [drawn, setDrawn] = useState({ of, count: FIRST });
  const count = drawn.of === of ? drawn.count : FIRST;
  useEffect(() => {
    if (count >= total) return;
    const timer = setTimeout(() => setDrawn({ of, count: count * GROWTH }));
    return () => clearTimeout(timer);
  }, [of, count, total]);
  return Math.min(count, total);
}
