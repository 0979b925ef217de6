import { type Signal, useComputed } from "@preact/signals";
import type { VNode } from "preact";
import type { Explanation } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Bar, CopyButton } from "../../parts/controls.tsx";
import { number } from "../../parts/format.ts";
import { JsonButton } from "../../parts/json-button.tsx";
import { Text } from "../../parts/text.tsx";
import type { Answer } from "./answer.ts";
import { useDrawn } from "./drawn.ts";

const SHADES = ["f-c1", "f-c2", "f-c3", "f-c4"] as const;

type Props = {
  readonly answer: Answer;
  readonly line: Signal<string | undefined>;
};

/** What the assistant received, line by line, and what became of its tokens. */
export function Context({ answer, line }: Props): VNode {
  const { explanation, receipt, context, changed, request } = answer;
  const { overhead_tokens } = receipt.packing;
  const path = `/v1/retrievals/${receipt.request_id}`;
  const { context: words } = t.search;
  return (
    <aside class="ctx" aria-label={words.label}>
      <div class="budget">
        <p class="sum">
          <b>{number(explanation.tokens_used)}</b>
          <span>{words.of(explanation.tokens_available, overhead_tokens)}</span>
        </p>
        <Budget answer={answer} />
      </div>
      <Body answer={answer} line={line} />
      <div class="foot">
        <span class={context.sameness === "other" ? "lost" : ""}>{words[context.sameness]}</span>
        <CopyButton text={context.text} />
        <JsonButton
          data={receipt}
          path={request === undefined ? path : "/v1/retrieve"}
          {...(request === undefined ? {} : { body: request })}
        />
      </div>
      {context.sameness === "other" && (
        <div class="foot changed">
          <p>{words.changed(changed.length)}</p>
          <ul>
            {changed.map(({ node_id, content }) => (
              <li key={node_id}>
                <a href={hrefOf("memory", node_id)}>
                  <Text of={content ?? node_id} line />
                </a>
              </li>
            ))}
          </ul>
        </div>
      )}
    </aside>
  );
}

/** The tokens by section. */
function Budget({ answer: { explanation } }: { answer: Answer }): VNode {
  const { in_context, tokens_used, tokens_available } = explanation;
  const sections = [...Map.groupBy(in_context, ({ section }) => section)].map(
    ([name, list], index) => ({
      name: t.search.sections[name],
      tokens: list.reduce((sum, { token_cost }) => sum + token_cost, 0),
      class: SHADES[index % SHADES.length] ?? "f-c4",
    }),
  );
  const inside = sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const parts = [
    { name: t.search.context.rest, tokens: Math.max(0, tokens_used - inside), class: "f-edge" },
    ...sections,
  ].filter(({ tokens }) => tokens > 0);
  return (
    <>
      <Bar
        parts={parts.map(({ tokens, class: name }) => ({
          share: tokens_available === 0 ? 0 : tokens / tokens_available,
          class: name,
        }))}
        height={12}
        label={t.search.context.bar(tokens_used, tokens_available)}
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

/** The text as it is; a line of a memory is marked with it. */
function Body({ answer, line }: Props): VNode {
  const { context, explanation } = answer;
  const lines = context.text.split("\n");
  const drawn = useDrawn(answer.receipt.request_id, lines.length);
  const records = lines.filter((one) => one.startsWith("- ")).length;
  // Only where every memory has one line are the two told apart.
  const inOrder =
    context.sameness !== "other" && records === explanation.in_context.length
      ? explanation.in_context.toSorted((a, b) => a.place - b.place)
      : [];
  let place = 0;
  return (
    <section class="body" tabIndex={0} aria-label={t.search.context.label}>
      {lines.slice(0, drawn).map((text, index) => {
        const record = text.startsWith("- ") ? inOrder[place] : undefined;
        if (text.startsWith("- ")) place += 1;
        if (record === undefined) {
          return (
            <p key={`${index}`} class={text.startsWith("[") ? "sec" : index === 0 ? "rule" : ""}>
              <Text of={text} />
            </p>
          );
        }
        return <Line key={record.node_id} of={record} text={text} line={line} />;
      })}
    </section>
  );
}

type LineProps = {
  readonly of: Explanation["in_context"][number];
  readonly text: string;
  readonly line: Props["line"];
};

function Line({ of: { node_id, token_cost }, text, line }: LineProps): VNode {
  const name = useComputed(() => (line.value === node_id ? "ln on" : "ln"));
  return (
    <p
      class={name}
      onMouseEnter={() => {
        line.value = node_id;
      }}
      onMouseLeave={() => {
        line.value = undefined;
      }}
    >
      <span>
        <Text of={text} />
      </span>
      <span>{number(token_cost)}</span>
    </p>
  );
}
