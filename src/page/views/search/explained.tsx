import { type Signal, useComputed, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Explanation, RetrievalReceipt } from "../../client/types.gen.ts";
import { assign, hrefOf } from "../../data/place.ts";
import {
  Bar,
  Button,
  CopyButton,
  Head,
  JsonButton,
  Measure,
  Moment,
  TextLink,
} from "../../parts/controls.tsx";
import { counted, memoryCount, number } from "../../parts/format.ts";
import { Box, Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { type Answer, type Checked, check, nameOf } from "./answer.ts";
import { GONE, Hits, useDrawn } from "./hits.tsx";

export function Explained({ answer }: { answer: Answer }): VNode {
  const { explanation } = answer;
  // Pointing at a memory re-renders its two lines, not the whole answer.
  const line = useSignal<string | undefined>(undefined);
  const failed = explanation.searches.filter(({ failure }) => failure !== null);
  return (
    <article class="explained">
      <div class="verdict">
        <Verdict answer={answer} />
        <Seal answer={answer} />
      </div>
      {failed.map(({ name, failure }) => (
        <Warning
          key={name}
          title={`The search by ${nameOf(name)} failed`}
          code={`${name}: ${failure}`}
        >
          so the answer was made from the others. Results may miss memories.
        </Warning>
      ))}
      {explanation.notes.map((note) => (
        <p key={note} class="small">
          {note}
        </p>
      ))}
      <Funnel of={explanation} />
      {explanation.in_context.length === 0 && explanation.not_in_context.length === 0 ? (
        <Box title="Nothing was found.">
          <p>Try other words, or fewer conditions.</p>
        </Box>
      ) : (
        <div class="cols">
          <div>
            <Hits answer={answer} line={line} />
            <LeftOut answer={answer} />
          </div>
          <Context answer={answer} line={line} />
        </div>
      )}
    </article>
  );
}

function Verdict({ answer: { explanation } }: { answer: Answer }): VNode {
  const { found, filtered, selected, unpacked } = stagesOf(explanation);
  const were = (count: number, what: string): readonly string[] =>
    count === 0 ? [] : [`${counted(count, "was", "were")} ${what}`];
  const lost = [
    ...were(filtered, "not allowed"),
    ...were(selected, "weaker"),
    ...were(unpacked, "not packed"),
  ];
  const rest = [...were(found, "found"), ...(lost.length === 0 ? [] : [lost.join(", ")])];
  return (
    <div>
      <Text as="p" class="asked" of={explanation.query} line />
      <h1>
        {found === 0
          ? "Nothing was found."
          : `${memoryCount(explanation.in_context.length)} reached the assistant.`}{" "}
        {found > 0 && <em>{rest.join("; ")}.</em>}
      </h1>
    </div>
  );
}

/** What this page verified, rather than the server's claims. */
function Seal({ answer }: { answer: Answer }): VNode {
  const { receipt, explanation, ms } = answer;
  const [checked, setChecked] = useState<{ of: RetrievalReceipt; found: Checked } | undefined>();
  useEffect(
    () => void check(receipt).then((found) => setChecked({ of: receipt, found })),
    [receipt],
  );
  const id = <span class="mono">…{receipt.request_id.slice(-12)}</span>;
  return (
    <p class="seal">
      {checked?.of === receipt ? (
        <Outcome of={checked.found} />
      ) : (
        <span>computing the checksum and the scores again…</span>
      )}
      <br />
      {ms === undefined ? <>receipt {id}</> : "no receipt was kept"}
      {" · "}
      <Moment at={explanation.created_at} />
      {ms !== undefined && ` · ${number(Math.round(ms))} ms`}
    </p>
  );
}

function Outcome({ of: { isChecksumRight, wrongScores } }: { of: Checked }): VNode {
  const isGood = isChecksumRight !== false && !wrongScores;
  const checksum =
    isChecksumRight === undefined
      ? "checksum not checked"
      : isChecksumRight
        ? "checksum holds"
        : "The checksum does not fit: the receipt is not as it was written";
  return (
    <span class={isGood ? "ok" : "lost"}>
      {isGood ? "✓ " : "✗ "}
      {checksum},{" "}
      {wrongScores === undefined
        ? "scores cannot be computed again from a lean receipt"
        : wrongScores === 0
          ? "scores computed again are equal"
          : `${counted(wrongScores, "score")} computed again ${wrongScores === 1 ? "is" : "are"} not equal`}
    </span>
  );
}

function stagesOf({ in_context, not_in_context }: Explanation) {
  const at = (stage: string): number => not_in_context.filter((one) => one.stage === stage).length;
  const [filtered, selected, unpacked] = [at("filter"), at("selection"), at("packing")];
  const packed = in_context.length;
  return { found: packed + filtered + selected + unpacked, filtered, selected, unpacked, packed };
}

function Funnel({ of }: { of: Explanation }): VNode {
  const { found, filtered, selected, unpacked, packed } = stagesOf(of);
  const searches = of.searches.map(({ name, found: count }) => `${nameOf(name)} ${number(count)}`);
  const allowed = found - filtered;
  const steps = [
    [found, "found", 0, searches.join(" · ")],
    [allowed, "allowed", filtered, "left out by a rule"],
    [allowed - selected, "chosen", selected, "left out by limits"],
    [packed, "packed", unpacked, "not packed"],
  ] as const;
  return (
    <ol class="funnel" aria-label="Stages">
      {steps.map(([n, name, lost, what], index) => (
        <li key={name}>
          <p class="n">
            {number(n)}
            <small>{name}</small>
            {lost > 0 && <small class="lost">−{number(lost)}</small>}
          </p>
          <p class="what">
            {index === 0 ? what : lost === 0 ? "none left out" : `${number(lost)} ${what}`}
          </p>
          <Measure of={found === 0 ? 0 : n / found} class="f-ink" />
        </li>
      ))}
    </ol>
  );
}

const SAMENESS: Readonly<Record<Answer["context"]["sameness"], string>> = {
  own: "word for word as an assistant would get it",
  equal: "word for word as it was sent",
  other: "asked again now, it is another text",
  unchecked: "asked again now; not compared, since this browser computes no hashes here",
};

const SHADES = ["f-c1", "f-c2", "f-c3", "f-c4"] as const;

type Props = { readonly answer: Answer; readonly line: Signal<string | undefined> };

function Context({ answer, line }: Props): VNode {
  const { explanation, receipt, context, changed, request } = answer;
  const { overhead_tokens } = receipt.packing;
  const path = `/v1/retrievals/${receipt.request_id}`;
  return (
    <aside class="ctx" aria-label="What the assistant received">
      <div class="budget">
        <p class="sum">
          <b>{number(explanation.tokens_used)}</b>
          <span>
            of {number(explanation.tokens_available)} tokens
            {overhead_tokens > 0 && `; ${number(overhead_tokens)} kept back for the prompt`}
          </span>
        </p>
        <Budget answer={answer} />
      </div>
      <Body answer={answer} line={line} />
      <div class="foot">
        <span class={context.sameness === "other" ? "lost" : ""}>{SAMENESS[context.sameness]}</span>
        <CopyButton text={context.text} />
        <JsonButton data={receipt} path={request ? "/v1/retrieve" : path} body={request} />
      </div>
      {context.sameness === "other" && (
        <div class="foot changed">
          <p>
            {receipt.detail === "lean"
              ? "A lean receipt does not tell what has changed."
              : changed.length === 0
                ? "No memory in it has changed; others have come, or rank differently."
                : `${memoryCount(changed.length)} in it changed since or no longer there:`}
          </p>
          <ul>
            {changed.map(({ node_id, content }) => (
              <li key={node_id}>
                <TextLink href={hrefOf("memory", node_id)} text={content ?? node_id} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </aside>
  );
}

function Budget({ answer: { explanation } }: { answer: Answer }): VNode {
  const { in_context, tokens_used, tokens_available } = explanation;
  const sections = [...Map.groupBy(in_context, ({ section }) => section)].map(
    ([name, list], index) => ({
      name: name.replaceAll("_", " "),
      tokens: list.reduce((sum, { token_cost }) => sum + token_cost, 0),
      class: SHADES[index % SHADES.length] ?? "f-c4",
    }),
  );
  const inside = sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const parts = [
    { name: "around it", tokens: Math.max(0, tokens_used - inside), class: "f-edge" },
    ...sections,
  ].filter(({ tokens }) => tokens > 0);
  return (
    <>
      <Bar
        of={parts.map(({ tokens, class: name }) => ({
          share: tokens_available === 0 ? 0 : tokens / tokens_available,
          class: name,
        }))}
        height={12}
        label={`${number(tokens_used)} of ${number(tokens_available)} tokens used`}
      />
      <p class="keys">
        {parts.map(({ name, tokens, class: shade }) => (
          <span key={name} class="legend">
            <svg width="9" height="9" aria-hidden="true">
              <rect width="9" height="9" rx="2" class={shade} />
            </svg>
            {name} {number(tokens)}
          </span>
        ))}
      </p>
    </>
  );
}

/** The text as it is; the line of the selected memory is marked. */
function Body({ answer, line }: Props): VNode {
  const { context, explanation } = answer;
  const lines = context.text.split("\n");
  const drawn = useDrawn(answer.receipt.request_id, lines.length);
  const records = lines.filter((one) => one.startsWith("- ")).length;
  // They can only be matched if every memory has one line.
  const inOrder =
    context.sameness !== "other" && records === explanation.in_context.length
      ? explanation.in_context.toSorted((a, b) => a.place - b.place)
      : [];
  let place = 0;
  return (
    <section class="body" tabIndex={0} aria-label="What the assistant received">
      {lines.slice(0, drawn).map((text, index) => {
        const record = text.startsWith("- ") ? inOrder[place] : undefined;
        if (text.startsWith("- ")) place += 1;
        if (record === undefined) {
          return (
            <p key={index} class={text.startsWith("[") ? "sec" : index === 0 ? "rule" : ""}>
              <Text of={text} />
            </p>
          );
        }
        return <Line key={record.node_id} of={record} text={text} line={line} />;
      })}
    </section>
  );
}

type LineProps = Pick<Props, "line"> & {
  readonly of: Explanation["in_context"][number];
  readonly text: string;
};

function Line({ of: { node_id, token_cost }, text, line }: LineProps): VNode {
  const name = useComputed(() => (line.value === node_id ? "ln on" : "ln"));
  const mark = (id: string | undefined) => (): void => assign(line, id);
  return (
    <p class={name} onMouseEnter={mark(node_id)} onMouseLeave={mark(undefined)}>
      <Text as="span" of={text} />
      <span>{number(token_cost)}</span>
    </p>
  );
}

/** Of groups whose reasons differ; one reason of all is the server's own words. */
const WHY: Readonly<Record<string, string>> = {
  folded: "says nothing beyond another",
  below_threshold: "too weak",
};

type Excluded = Explanation["not_in_context"][number];

const FIRST = 5;

function LeftOut({ answer }: { answer: Answer }): VNode | null {
  const { not_in_context: all } = answer.explanation;
  if (all.length === 0) return null;
  const groups = Map.groupBy(all, ({ code }) => code.replace(/:.*$/s, ""));
  return (
    <section class="outs">
      <Head title="Not in the context" note={`${number(all.length)}, by reason`} />
      {[...groups].map(([code, list]) => (
        <Group key={code} code={code} list={list} />
      ))}
    </section>
  );
}

function Group({ code, list }: { code: string; list: readonly Excluded[] }): VNode {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? list : list.slice(0, FIRST);
  const reasons = new Set(list.map(({ reason }) => reason.text));
  const [common] = reasons.size === 1 ? reasons : [];
  return (
    <details open={list.length <= 12}>
      <summary>
        <span class="tri" aria-hidden="true">
          ▸
        </span>
        <b>{common ?? WHY[code] ?? code.replaceAll("_", " ")}</b>
        <span class="dim">{number(list.length)}</span>
      </summary>
      <ol>
        {shown.map((one) => (
          <Out key={one.node_id} of={one} isExplained={common !== undefined} />
        ))}
      </ol>
      {shown.length < list.length && (
        <Button kind="link" onClick={() => setWhole(true)}>
          {number(list.length - shown.length)} more
        </Button>
      )}
    </details>
  );
}

function Out({ of, isExplained }: { of: Excluded; isExplained: boolean }): VNode {
  const { node_id, content, score, reason } = of;
  return (
    <li class="out">
      <span />
      <div>
        <p>
          {content === null ? GONE : <TextLink href={hrefOf("memory", node_id)} text={content} />}
        </p>
        {!isExplained && <p class="small">{reason.text}</p>}
      </div>
      <div class="bar">
        {score === null ? <span /> : <Measure of={score} />}
        <b>{score === null ? "–" : score.toFixed(3)}</b>
      </div>
    </li>
  );
}
