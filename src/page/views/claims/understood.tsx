import type { VNode } from "preact";
import type { QuantityPlan } from "../../client/types.gen.ts";
import { t } from "../../language/texts.ts";
import { Text } from "../../parts/text.tsx";

/** How a question was understood: what is summed, and what was assumed. */
export function Understood({ plan }: { plan: QuantityPlan }): VNode | null {
  const { query, assumptions } = plan;
  if (query === null) return null;
  const parts = [
    [t.claims.subject, query.subjects],
    [t.claims.predicate, query.predicate_prefixes],
    [t.claims.unit, query.units],
  ] as const;
  return (
    <dl class="understood">
      <dt>{t.claims.understood}</dt>
      <dd>
        {parts.map(([name, texts]) => (
          <span key={name}>
            {name} <b>{texts.length === 0 ? t.claims.any : <Text of={texts.join(", ")} line />}</b>
          </span>
        ))}
      </dd>
      <dt>{t.claims.assumed}</dt>
      <dd>{assumptions.map((one) => one.replaceAll("_", " ")).join(", ")}</dd>
    </dl>
  );
}
