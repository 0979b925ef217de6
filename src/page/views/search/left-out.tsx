import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Explanation } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Bar, Head } from "../../parts/controls.tsx";
import { number } from "../../parts/format.ts";
import { Text } from "../../parts/text.tsx";
import type { Answer } from "./answer.ts";

type Excluded = Explanation["not_in_context"][number];

/** Rows of one reason that are shown at first. */
const FIRST = 5;

/** What was found and is not in the context, by reason. */
export function LeftOut({ answer }: { answer: Answer }): VNode | null {
  const { not_in_context: all } = answer.explanation;
  if (all.length === 0) return null;
  const groups = Map.groupBy(all, ({ code }) => code.replace(/:.*$/s, ""));
  return (
    <section class="outs">
      <Head title={t.search.outside} note={t.search.byReason(all.length)} />
      {[...groups].map(([code, list]) => (
        <Group key={code} code={code} list={list} />
      ))}
    </section>
  );
}

function Group({ code, list }: { code: string; list: readonly Excluded[] }): VNode {
  const [isWhole, setWhole] = useState(false);
  const names: Readonly<Record<string, string>> = t.search.why;
  const shown = isWhole ? list : list.slice(0, FIRST);
  const reasons = new Set(list.map(({ reason }) => reason.text));
  const [common] = reasons.size === 1 ? reasons : [];
  return (
    <details open={list.length <= 12}>
      <summary>
        <span class="tri" aria-hidden="true">
          ▸
        </span>
        <span>
          <b>{names[code] ?? code}</b>
          {common !== undefined && <span class="dim">{common}</span>}
        </span>
        <span class="dim">{number(list.length)}</span>
      </summary>
      <ol>
        {shown.map((one) => (
          <Out key={one.node_id} of={one} isExplained={common !== undefined} />
        ))}
        {shown.length < list.length && (
          <li class="out">
            <span />
            <p>
              <button type="button" class="link" onClick={() => setWhole(true)}>
                {t.parts.more(list.length - shown.length)}
              </button>
            </p>
            <span />
          </li>
        )}
      </ol>
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
          {content === null ? (
            t.search.gone
          ) : (
            <a href={hrefOf("memory", node_id)}>
              <Text of={content} line />
            </a>
          )}
        </p>
        {!isExplained && <p class="small">{reason.text}</p>}
      </div>
      <div class="bar">
        {score === null ? <span /> : <Bar parts={[{ share: score, class: "f-edge" }]} height={6} />}
        <b>{score === null ? "–" : score.toFixed(3)}</b>
      </div>
    </li>
  );
}
