import type { VNode } from "preact";
import { t } from "../../language/texts.ts";
import { number } from "../../parts/format.ts";

/** How many memories were left out, by reason, the most first. */
export function Exclusions({ of }: { of: Readonly<Record<string, number>> }): VNode | null {
  const reasons = Object.entries(of).toSorted(([, a], [, b]) => b - a);
  if (reasons.length === 0) return null;
  const words: Readonly<Record<string, string>> = t.claims.reasons;
  return (
    <div class="exclusions">
      <span>{t.claims.out}</span>
      <dl>
        {reasons.map(([reason, count]) => (
          <div key={reason}>
            <dt>{words[reason] ?? reason.replaceAll("_", " ")}</dt>
            <dd>{number(count)}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
