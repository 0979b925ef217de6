import type { VNode } from "preact";
import type { Explanation } from "../../client/types.gen.ts";
import { t } from "../../language/texts.ts";
import { Bar } from "../../parts/controls.tsx";
import { number } from "../../parts/format.ts";
import { nameOf } from "./names.ts";

/** How many memories each stage left out. */
export function stagesOf({ in_context, not_in_context }: Explanation) {
  const at = (stage: string): number => not_in_context.filter((one) => one.stage === stage).length;
  const [filtered, selected, unpacked] = [at("filter"), at("selection"), at("packing")];
  const packed = in_context.length;
  return { found: packed + filtered + selected + unpacked, filtered, selected, unpacked, packed };
}

/** The way from what the searches found to what reached the assistant. */
export function Funnel({ of }: { of: Explanation }): VNode {
  const { found, filtered, selected, unpacked, packed } = stagesOf(of);
  const { stages } = t.search;
  const searches = of.searches.map(({ name, found: count }) => `${nameOf(name)} ${number(count)}`);
  const allowed = found - filtered;
  const told = (count: number, text: (count: number) => string): string =>
    count === 0 ? stages.none : text(count);
  const steps = [
    { n: found, name: stages.found, lost: 0, what: searches.join(" · ") },
    { n: allowed, name: stages.allowed, lost: filtered, what: told(filtered, stages.filtered) },
    {
      n: allowed - selected,
      name: stages.chosen,
      lost: selected,
      what: told(selected, stages.selected),
    },
    { n: packed, name: stages.packed, lost: unpacked, what: told(unpacked, stages.unpacked) },
  ];
  return (
    <ol class="funnel" aria-label={stages.label}>
      {steps.map(({ n, name, lost, what }) => (
        <li key={name}>
          <p class="n">
            {number(n)}
            <small>{name}</small>
            {lost > 0 && <small class="lost">−{number(lost)}</small>}
          </p>
          <p class="what">{what}</p>
          <Bar parts={[{ share: found === 0 ? 0 : n / found, class: "f-ink" }]} height={6} />
        </li>
      ))}
    </ol>
  );
}
