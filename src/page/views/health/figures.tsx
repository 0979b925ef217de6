import type { ComponentChildren, VNode } from "preact";
import type { Stats } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { caller, owner, owners } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Bar } from "../../parts/controls.tsx";
import { encryption } from "../../parts/encryption.ts";
import { bytes, number } from "../../parts/format.ts";
import { State } from "../../parts/state.tsx";
import { Text } from "../../parts/text.tsx";

/** The figures of the owner who is shown and, for an operator, of the whole pack. */
export type Figures = { readonly own: Stats; readonly whole: Stats | undefined };

// SAFETY: the words have a key for each state.
const STATES = Object.keys(t.words.state) as readonly (keyof typeof t.words.state)[];

/** How many of the owner's memories are in each state; each number leads to them. */
export function StateCounts({ of: { details } }: { of: Stats }): VNode {
  const counts = details?.states ?? {};
  const present = STATES.filter((state) => (counts[state] ?? 0) > 0);
  const most = Math.max(1, ...present.map((state) => counts[state] ?? 0));
  return (
    <section class="sect">
      <h2 class="side-h">{t.health.figures.title}</h2>
      <ul class="tally">
        {present.map((state) => (
          <li key={state}>
            <State of={state} />
            <Bar parts={[{ share: (counts[state] ?? 0) / most, class: "f-edge" }]} height={6} />
            <a href={hrefOf("", "", { state })}>{number(counts[state] ?? 0)}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Row({ name, children }: { name: ComponentChildren; children: ComponentChildren }): VNode {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** What the pack is. An operator sees the figures of all owners too; nobody else's records. */
export function PackFacts({ of: { own, whole } }: { of: Figures }): VNode | null {
  const words = t.health.pack;
  const { details, backend } = own;
  if (details === null) return null;
  const { model, dimension, version } = details.model;
  const size = whole?.details?.bytes ?? null;
  const embeddings = (whole ?? own).details?.embeddings ?? null;
  return (
    <section class="sect">
      <h2 class="side-h">{words.title[backend]}</h2>
      <dl class="facts">
        <Row name={words.kept}>
          {words.backend[backend]}, {encryption(details.encrypted)}
        </Row>
        {size !== null && <Row name={words.size}>{bytes(size)}</Row>}
        {whole !== undefined && <Row name={words.owners}>{number(owners.value.length)}</Row>}
        <Row name={words.changes}>{details.read_only ? words.refused : words.allowed}</Row>
        <Row name={words.model}>
          <Text of={model} line />
          <span class="small block">
            {words.dimension(dimension)}, <Text of={version} line />
          </span>
        </Row>
        {embeddings !== null && (
          <Row name={words.embeddings}>
            {words.embedded(embeddings.computed, embeddings.asked)}
            {embeddings.failed > 0 && (
              <span class="lost block">{words.embeddingFailed(embeddings.failed)}</span>
            )}
          </Row>
        )}
        <Row name={words.program}>{words.version(caller.value?.version ?? "")}</Row>
      </dl>
      <table class="counts">
        <thead>
          <tr>
            <td />
            <th scope="col">
              <Text of={words.own(owner.value ?? "")} line />
            </th>
            {whole !== undefined && <th scope="col">{words.whole}</th>}
          </tr>
        </thead>
        <tbody>
          <Counted name={words.memories} own={own.node_count} whole={whole?.node_count} />
          <Counted name={words.events} own={own.event_count} whole={whole?.event_count} />
          <Counted name={words.receipts} own={details.receipts} whole={whole?.details?.receipts} />
        </tbody>
      </table>
    </section>
  );
}

function Counted(props: { name: string; own: number; whole: number | undefined }): VNode {
  return (
    <tr>
      <th scope="row">{props.name}</th>
      <td>{number(props.own)}</td>
      {props.whole !== undefined && <td>{number(props.whole)}</td>}
    </tr>
  );
}
