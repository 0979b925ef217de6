import { type Signal, useComputed } from "@preact/signals";
import { type ComponentChildren, Fragment, type VNode } from "preact";
import { useMemo } from "preact/hooks";
import type { ScoreProvenance } from "../../../domain/records/score.ts";
import type { Explanation, NotedContradiction, RetrievalReceipt } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Bar, Head, Moment } from "../../parts/controls.tsx";
import { date, ordinal, share } from "../../parts/format.ts";
import { State, StateShape } from "../../parts/state.tsx";
import { Text } from "../../parts/text.tsx";
import { opponentsOf, useOpenContradictions } from "../conflicts/open.ts";
import type { Answer } from "./answer.ts";
import { barOf, provenanceOf, type ScoreBar } from "./checks.ts";
import { useDrawn } from "./drawn.ts";

type Hit = Explanation["in_context"][number];

type Props = {
  readonly answer: Answer;
  /** The memory whose line in the context is marked. */
  readonly line: Signal<string | undefined>;
};

/** What is in the context, by score, with what each score is made of. */
export function Hits({ answer, line }: Props): VNode {
  const hits = answer.explanation.in_context.toSorted((a, b) => a.rank - b.rank);
  const drawn = useDrawn(answer.receipt.request_id, hits.length);
  const contradictions = useOpenContradictions();
  return (
    <section>
      <Head
        title={t.search.inside}
        note={t.search.byScore(hits.length)}
        end={
          <>
            <Legend of="meaning" text={t.search.signals.semantic} />
            <Legend of="words" text={`${t.search.signals.lexical}, ${t.search.legend.weak}`} />
            <Legend of="cut" text={t.search.legend.cut} />
          </>
        }
      />
      <ol class="hits">
        {hits.slice(0, drawn).map((hit) => (
          <Marked key={hit.node_id} id={hit.node_id} line={line}>
            <span class="rank">{hit.rank}</span>
            <Memory hit={hit} />
            <Score
              hit={hit}
              receipt={answer.receipt}
              isNearestOnly={answer.weak.has(hit.node_id)}
            />
            <OtherSide answer={answer} hit={hit} contradictions={contradictions} />
          </Marked>
        ))}
      </ol>
    </section>
  );
}

type MarkedProps = {
  readonly id: string;
  readonly line: Props["line"];
  readonly children: ComponentChildren;
};

/** A row that marks its line in the context, and is marked with it. */
function Marked({ id, line, children }: MarkedProps): VNode {
  const isCurrent = useComputed(() => (line.value === id ? "true" : undefined));
  const mark = (): void => {
    line.value = id;
  };
  const unmark = (): void => {
    line.value = undefined;
  };
  return (
    <li
      class="hit"
      aria-current={isCurrent}
      onMouseEnter={mark}
      onMouseLeave={unmark}
      onFocusCapture={mark}
    >
      {children}
    </li>
  );
}

function Legend({ of, text }: { of: string; text: string }): VNode {
  return (
    <span class="legend">
      <i class={`sw ${of}`} />
      {text}
    </span>
  );
}

function Memory({ hit }: { hit: Hit }): VNode {
  const { node_id, content, node_type, lifecycle_state, event_time, created_at } = hit;
  if (content === null) {
    return (
      <div>
        <p class="text dim">{t.search.gone}</p>
        <p class="small mono">{node_id}</p>
      </div>
    );
  }
  const at = event_time ?? created_at;
  return (
    <div>
      <p class="text clamp">
        <a href={hrefOf("memory", node_id)}>
          <Text of={content} line />
        </a>
      </p>
      <div class="meta">
        {lifecycle_state !== null && <State of={lifecycle_state} />}
        {node_type !== null && <span>{t.words.type[node_type]}</span>}
        {at !== null && <Moment at={at} show={date} />}
        <span>{t.search.tokens(hit.token_cost)}</span>
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

function Score(props: {
  hit: Hit;
  receipt: RetrievalReceipt;
  isNearestOnly: boolean;
}): VNode | null {
  const { hit, receipt, isNearestOnly } = props;
  const provenance = useMemo(() => provenanceOf(receipt, hit.node_id), [receipt, hit.node_id]);
  if (provenance === undefined) return null;
  const bar = barOf(provenance, isNearestOnly);
  const parts = bar.shares.map((part) => ({
    share: part.share,
    class: COLOURS[part.signal] ?? "f-edge",
    pale: part.isWeak,
  }));
  const label = [
    ...bar.shares.map(({ signal, share: value }) => `${signalName(signal)} ${share(value)}`),
    ...(bar.takenOff > 0 ? [`${t.search.legend.cut} ${share(bar.takenOff)}`] : []),
  ].join(", ");
  return (
    <div class="score">
      <div class="bar">
        <Bar parts={[...parts, { share: bar.takenOff, class: "f-loss" }]} label={label} />
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

function signalName(signal: string): string {
  const names: Readonly<Record<string, string>> = t.search.signals;
  return names[signal] ?? signal;
}

/** Below this a factor or a change is not worth a word. */
const WORTH_A_WORD = 0.005;

/** What brought the score, and what changed it, in a few words. */
function wordsOf({ shares, steps }: ScoreBar, { fusion }: ScoreProvenance): readonly string[] {
  const ranks: Readonly<Record<string, number | undefined>> =
    fusion?.kind === "rrf" ? { semantic: fusion.semanticRank, lexical: fusion.lexicalRank } : {};
  const signals = shares
    .filter(({ share: value }) => value >= WORTH_A_WORD)
    .map(({ signal, share: value, isWeak }) => {
      const rank = ranks[signal];
      const told = rank === undefined ? share(value) : ordinal(rank);
      return `${signalName(signal)} ${told}${isWeak ? ` ${t.search.hardly}` : ""}`;
    });
  const names: Readonly<Record<string, string>> = t.search.steps;
  const changes = steps
    .filter(({ kind, change }) => names[kind] !== "" && Math.abs(change) >= WORTH_A_WORD)
    .map(
      ({ kind, factor }) =>
        `${names[kind] ?? kind}${factor === undefined ? "" : ` × ${share(factor)}`}`,
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
    ? t.search.otherInside
    : outside?.score == null
      ? t.search.otherUnfound
      : t.search.otherScore(outside.score.toFixed(3));
  return (
    <div class="note">
      <StateShape of="contested" size={12} />
      <p>
        {t.search.contested(t.search.somebody)}{" "}
        <q>
          <Text of={other.content} line />
        </q>{" "}
        {told}
      </p>
      <a class="btn" href={hrefOf("memory", hit.node_id)}>
        {t.search.settle}
      </a>
    </div>
  );
}
