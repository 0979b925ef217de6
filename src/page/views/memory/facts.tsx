import type { VNode } from "preact";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Node } from "../../client/types.gen.ts";
import { t } from "../../language/texts.ts";
import { Bar } from "../../parts/controls.tsx";
import { share } from "../../parts/format.ts";
import { Text } from "../../parts/text.tsx";

/** How sure and how weighty a memory is, and where it belongs. */
export function Facts({ node }: { node: Node }): VNode {
  const { facts } = t.memory;
  const speaker = storedSpeaker(node.metadata ?? undefined);
  return (
    <section class="sect">
      <h2 class="side-h">{facts.title}</h2>
      <dl class="facts">
        <dt>{facts.confidence}</dt>
        <dd>
          <Measure of={node.confidence} />
        </dd>
        <dt>{facts.salience}</dt>
        <dd>
          <Measure of={node.salience} />
        </dd>
        <dt>{facts.knowledge}</dt>
        <dd>{t.words.knowledge[node.epistemic_type]}</dd>
        <dt>{facts.source}</dt>
        <dd>{t.words.source[node.source_type]}</dd>
        {speaker !== undefined && (
          <>
            <dt>{facts.speaker}</dt>
            <dd>
              <Text of={speaker} line />
            </dd>
          </>
        )}
        <dt>{facts.fading}</dt>
        <dd>{t.words.fading[node.decay_profile]}</dd>
        <dt>{facts.scope}</dt>
        <dd>{t.words.scope[node.scope]}</dd>
        <dt>{facts.id}</dt>
        <dd class="mono">{node.id}</dd>
      </dl>
    </section>
  );
}

function Measure({ of }: { of: number }): VNode {
  return (
    <>
      <Bar parts={[{ share: of, class: "f-ink" }]} height={6} label={t.parts.ofOne(share(of))} />
      {share(of)}
    </>
  );
}
