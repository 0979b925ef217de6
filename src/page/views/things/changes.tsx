import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { assertionState } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { now } from "../../data/clock.ts";
import { answered } from "../../data/http.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { Head } from "../../parts/controls.tsx";
import { date, number } from "../../parts/format.ts";
import { StateShape } from "../../parts/state.tsx";
import { Answer } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { Exclusions } from "../claims/coverage.tsx";
import type { Beside } from "./beside.ts";

/** Values and entries of one question. */
const SHOWN = 50;

/** What a claim is about: the question that its changes answer. */
type Topic = {
  readonly subject: string;
  readonly predicate: string;
  readonly scope: Node["scope"];
};

/** What is claimed about the thing, predicate by predicate; each is counted when it is opened. */
export function Changes({ beside }: { beside: readonly Beside[] }): VNode | null {
  const topics = topicsOf(beside);
  if (topics.length === 0) return null;
  const { title, note } = t.things.claims;
  return (
    <section class="sect">
      <Head title={title} note={note} />
      {topics.map((topic) => (
        <Change key={JSON.stringify(topic)} of={topic} />
      ))}
    </section>
  );
}

function topicsOf(beside: readonly Beside[]): readonly Topic[] {
  const topics = new Map<string, Topic>();
  for (const { node, edges } of beside) {
    const { subject, predicate } = Object(node.metadata);
    if (typeof subject !== "string" || typeof predicate !== "string") continue;
    if (subject.trim() === "" || predicate.trim() === "") continue;
    // Where the thing is only mentioned, the claim is about another one.
    if (edges.every(({ edge_type }) => edge_type === "mentions")) continue;
    const topic = { subject, predicate, scope: node.scope };
    topics.set(JSON.stringify(topic), topic);
  }
  return [...topics.values()];
}

function Change({ of }: { of: Topic }): VNode {
  const isOpen = useSignal(false);
  return (
    <details
      class="change"
      onToggle={({ currentTarget }) => {
        isOpen.value = currentTarget.open;
      }}
    >
      <summary data-step>
        <span class="tri" aria-hidden="true">
          ▸
        </span>
        <span>
          <Text of={of.subject} line />{" "}
          <b>
            <Text of={of.predicate} line />
          </b>
        </span>
        <span class="dim">{t.words.scope[of.scope]}</span>
      </summary>
      {isOpen.value && <Claimed of={of} />}
    </details>
  );
}

function Claimed({ of }: { of: Topic }): VNode {
  const query = useQuery(`state ${JSON.stringify(of)}`, (user_id) => {
    const valid_at = new Date(now()).toISOString();
    return answered(
      assertionState({ body: { user_id, query: { ...of, valid_at, limit: SHOWN } } }),
    );
  });
  const { claims } = t.things;
  return (
    <Answer of={query}>
      {({ status, current_values, timeline, matched_records, scanned_nodes, exclusions }) => (
        <div class="claimed">
          <p>
            <b>{claims.status[status]}</b>{" "}
            {current_values.map(({ object, polarity, candidate_count }) => (
              <span key={`${polarity} ${object}`} class="value">
                <Text of={object} line /> <span class="dim">{claims.values(candidate_count)}</span>
              </span>
            ))}
          </p>
          <ol>
            {timeline.toReversed().map((entry) => (
              <li key={entry.node_id}>
                <StateShape of={entry.lifecycle_state} />
                <a href={hrefOf("memory", entry.node_id)}>
                  <Text of={entry.content} line />
                </a>
                <span class="small">
                  {entry.valid_to === null
                    ? t.things.from(date(entry.valid_from))
                    : t.things.between(date(entry.valid_from), date(entry.valid_to))}
                  {entry.current_candidate && `, ${claims.current}`}
                </span>
              </li>
            ))}
          </ol>
          <p class="small">{claims.coverage(number(matched_records), number(scanned_nodes))}</p>
          <Exclusions of={exclusions} />
        </div>
      )}
    </Answer>
  );
}
