import type { VNode } from "preact";
import type { Node } from "../../client/types.gen.ts";
import { now } from "../../data/clock.ts";
import { hrefOf } from "../../data/place.ts";
import { useQuery } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { Button, CopyButton, Head } from "../../parts/controls.tsx";
import { date, share } from "../../parts/format.ts";
import { JsonButton } from "../../parts/json-button.tsx";
import { useRowFocus } from "../../parts/row-focus.ts";
import { State } from "../../parts/state.tsx";
import { Answer } from "../../parts/states.tsx";
import { hiddenIn, Text } from "../../parts/text.tsx";
import { showClaimsAbout } from "../claims/fields.ts";
import { type Beside, type Known, MOST_EDGES, readThing } from "./beside.ts";
import { Changes } from "./changes.tsx";
import { Neighbourhood } from "./neighbourhood.tsx";

/** Longer names are cut in the heading. */
const NAME = 280;

/** What is known about one person or thing. */
export function Thing({ id }: { id: string }): VNode {
  const query = useQuery(`thing ${id}`, (userId) => readThing(id, userId));
  useRowFocus();
  return (
    <>
      {query.data === undefined && <h1 class="vh">{t.frame.view.things}</h1>}
      <Answer of={query}>{(data) => <About data={data} />}</Answer>
    </>
  );
}

/** What kind of thing a memory names, as it was extracted; else the word for its type. */
export function kindOf({ metadata, node_type }: Node): string {
  const kind = metadata?.["entity_type"];
  return typeof kind === "string" && kind.trim() !== "" ? kind : t.words.type[node_type];
}

function About({ data }: { data: Known }): VNode {
  const { node, beside, isCut } = data;
  const { contested, present, past } = sorted(beside);
  const path = `/v1/nodes/${node.id}/edges`;
  return (
    <article>
      <nav class="crumbs" aria-label={t.things.where}>
        <a href={hrefOf("things")}>{t.frame.view.things}</a>
        <span aria-hidden="true">›</span>
        <a href={hrefOf("memory", node.id)}>{t.frame.view.memory}</a>
        <span class="end">
          <JsonButton data={data} path={path} />
          <CopyButton text={location.href}>{t.parts.copyLink}</CopyButton>
        </span>
      </nav>
      <header class="claim">
        <h1>
          <Text of={node.content.slice(0, NAME)} />
        </h1>
        <div class="meta">
          <State of={node.lifecycle_state} />
          <span>
            <Text of={kindOf(node)} line />
          </span>
          <span>{t.words.scope[node.scope]}</span>
          <span>{t.things.open(contested.length + present.length + past.length)}</span>
        </div>
        {isCut && <p class="small">{t.things.cut(MOST_EDGES)}</p>}
        <div class="acts">
          <Button onClick={() => showClaimsAbout(node.content)}>{t.things.allClaims}</Button>
        </div>
      </header>
      <div class="two thing-view">
        <div>
          {contested.length + present.length + past.length === 0 && <p>{t.things.noFacts}</p>}
          <Facts title={t.things.contestedTitle} of={contested} />
          <Facts title={t.things.now} of={present} />
          <Facts title={t.things.before} of={past} />
          <Changes beside={beside} />
        </div>
        <aside class="aside" aria-label={t.things.around.title}>
          <Neighbourhood of={data} />
        </aside>
      </div>
    </article>
  );
}

/** Memories by whether they hold now; those of late first. Other things are in the neighbourhood. */
function sorted(beside: readonly Beside[]) {
  const moment = new Date(now()).toISOString();
  const facts = beside
    .filter(({ node }) => node.node_type !== "entity")
    .toSorted((a, b) => (a.node.valid_from < b.node.valid_from ? 1 : -1));
  const groups = Map.groupBy(facts, ({ node }) => standing(node, moment));
  return {
    contested: groups.get("contested") ?? [],
    present: groups.get("present") ?? [],
    past: groups.get("past") ?? [],
  };
}

function standing(node: Node, moment: string): "contested" | "present" | "past" {
  const { lifecycle_state: state, valid_to } = node;
  if (state === "contested") return "contested";
  const isActive = state === "stable" || state === "tentative";
  return isActive && (valid_to === null || valid_to > moment) ? "present" : "past";
}

function Facts({ title, of }: { title: string; of: readonly Beside[] }): VNode | null {
  if (of.length === 0) return null;
  return (
    <section class="sect">
      <Head title={title} note={t.things.memories(of.length)} />
      <ul class="hits">
        {of.map(({ node }) => (
          <Fact key={node.id} node={node} />
        ))}
      </ul>
    </section>
  );
}

function Fact({ node }: { node: Node }): VNode {
  const { valid_from, valid_to, content } = node;
  const hidden = hiddenIn(content.slice(0, 2000));
  return (
    <li class="fact">
      <a class="text clamp" href={hrefOf("memory", node.id)} data-step>
        <Text of={content} line />
      </a>
      <span class="meta">
        <State of={node.lifecycle_state} />
        <span>{t.words.type[node.node_type]}</span>
        <span>
          {valid_to === null
            ? t.things.from(date(valid_from))
            : t.things.between(date(valid_from), date(valid_to))}
        </span>
        <span>{t.words.knowledge[node.epistemic_type]}</span>
        <span>{share(node.confidence)}</span>
        {hidden > 0 && <span class="lost">{t.parts.hidden(hidden)}</span>}
      </span>
    </li>
  );
}
