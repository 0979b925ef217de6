import type { VNode } from "preact";
import { hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Bar, CopyButton } from "../../parts/controls.tsx";
import { number } from "../../parts/format.ts";
import { JsonButton } from "../../parts/json-button.tsx";
import { Text } from "../../parts/text.tsx";
import type { Answer } from "./answer.ts";

const SHADES = ["f-c1", "f-c2", "f-c3", "f-c4"] as const;

type Props = {
  readonly answer: Answer;
  readonly line: string | undefined;
  readonly onLine: (id: string | undefined) => void;
};

/** What the assistant received, line by line, and what became of its tokens. */
export function Context({ answer, line, onLine }: Props): VNode {
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
      <Body answer={answer} line={line} onLine={onLine} />
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
            {changed.map((id) => (
              <li key={id}>
                <a href={hrefOf("memory", id)}>
                  <Text of={answer.nodes.get(id)?.content ?? id} line />
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
function Body({ answer, line, onLine }: Props): VNode {
  const { context, explanation } = answer;
  const lines = context.text.split("\n");
  const records = lines.filter((one) => one.startsWith("- ")).length;
  // Only where every memory has one line are the two told apart.
  const inOrder =
    context.sameness !== "other" && records === explanation.in_context.length
      ? explanation.in_context.toSorted((a, b) => a.place - b.place)
      : [];
  let place = 0;
  return (
    <section class="body" tabIndex={0} aria-label={t.search.context.label}>
      {lines.map((text, index) => {
        const record = text.startsWith("- ") ? inOrder[place] : undefined;
        if (text.startsWith("- ")) place += 1;
        const key = `${index}`;
        if (record === undefined) {
          return (
            <p key={key} class={text.startsWith("[") ? "sec" : index === 0 ? "rule" : ""}>
              <Text of={text} />
            </p>
          );
        }
        return (
          <p
            key={key}
            class={record.node_id === line ? "ln on" : "ln"}
            onMouseEnter={() => onLine(record.node_id)}
            onMouseLeave={() => onLine(undefined)}
          >
            <span>
              <Text of={text} />
            </span>
            <span>{number(record.token_cost)}</span>
          </p>
        );
      })}
    </section>
  );
}
