import type { VNode } from "preact";
import { withQuery } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { number } from "../../parts/format.ts";
import { Text } from "../../parts/text.tsx";
import { type Entry, KINDS, type Wanted } from "./happened.ts";

type Props = { readonly of: Wanted; readonly entries: readonly Entry[] };

/** What and whose is shown. The choices stay where they leave nothing. */
export function Choices({ of, entries }: Props): VNode {
  return (
    <>
      <nav class="sect" aria-label={t.activity.show}>
        <h2 class="side-h">{t.activity.show}</h2>
        <ul class="pick">
          {KINDS.map((kind) => (
            <li key={kind}>
              <a
                href={withQuery({ show: kind === "all" ? undefined : kind, until: undefined })}
                aria-current={kind === of.kind ? "true" : undefined}
              >
                {t.activity.kinds[kind]}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <nav class="sect" aria-label={t.activity.who}>
        <h2 class="side-h">{t.activity.who}</h2>
        <ul class="pick">
          <li>
            <a
              href={withQuery({ who: undefined, until: undefined })}
              aria-current={of.who === undefined ? "true" : undefined}
            >
              {t.activity.everybody}
            </a>
          </li>
          {countsOf(of, entries).map(([name, count]) => (
            <li key={name}>
              <a
                href={withQuery({ who: name, until: undefined })}
                aria-current={name === of.who ? "true" : undefined}
              >
                <Text of={name} line />
              </a>
              <span class="n">{number(count)}</span>
            </li>
          ))}
        </ul>
      </nav>
    </>
  );
}

/** Who did how much of what is shown, the busiest first; whoever is chosen is there in any case. */
function countsOf({ who }: Wanted, entries: readonly Entry[]): readonly [string, number][] {
  const counts = new Map<string, number>(who === undefined ? [] : [[who, 0]]);
  for (const entry of entries) {
    if (entry.who !== null) counts.set(entry.who, (counts.get(entry.who) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}
