import type { VNode } from "preact";
import { getProvenance } from "../client/sdk.gen.ts";
import type { Node, Provenance } from "../client/types.gen.ts";
import { now } from "../data/clock.ts";
import { answered } from "../data/http.ts";
import { go, hrefOf, place, withQuery } from "../data/place.ts";
import { useQuery } from "../data/query.ts";
import { canChange } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { CopyButton, Moment } from "../parts/controls.tsx";
import { date } from "../parts/format.ts";
import { JsonButton } from "../parts/json-button.tsx";
import { Picture } from "../parts/picture.tsx";
import { State } from "../parts/state.tsx";
import { Answer } from "../parts/states.tsx";
import { hiddenIn, Text } from "../parts/text.tsx";
import { Writing } from "./conflicts/write.tsx";
import { Forget } from "./forgetting/dialog.tsx";
import { Actions } from "./memory/actions.tsx";
import { Axis } from "./memory/axis.tsx";
import { useChain } from "./memory/chain.ts";
import { Correct } from "./memory/correct.tsx";
import { Facts } from "./memory/facts.tsx";
import { Life } from "./memory/life.tsx";
import { Neighbours } from "./memory/neighbours.tsx";
import { Second } from "./memory/second.tsx";
import { Uses } from "./memory/uses.tsx";
import { Versus } from "./memory/versus.tsx";

/** A longer text is cut here until all of it is wanted. */
const SHOWN = 4000;
/** As a heading, up to here. */
const HEADING = 280;

/** What is this, and who says so? */
export function Memory({ id }: { id: string }): VNode {
  const query = useQuery(`memory ${id}`, (userId) => read(id, userId));
  return (
    <>
      {query.data === undefined && <h1 class="vh">{t.frame.view.memory}</h1>}
      <Answer of={query}>{(data) => <Known key={id} data={data} />}</Answer>
    </>
  );
}

async function read(id: string, userId: string): Promise<Provenance> {
  const whole = await answered(getProvenance({ path: { node_id: id } }));
  const { node } = whole;
  // An operator may follow a link into the memory of another owner; then that owner is shown.
  if (node.user_id !== userId) go(hrefOf("memory", id, { owner: node.user_id }), "replace");
  return whole;
}

function Known({ data }: { data: Provenance }): VNode {
  const { node } = data;
  const chain = useChain(node.id);
  return (
    <article>
      <nav class="crumbs" aria-label={t.memory.where}>
        <a href={hrefOf("")}>{t.frame.view.timeline}</a>
        <span aria-hidden="true">›</span>
        <span>{t.frame.view.memory}</span>
        <span class="end">
          <JsonButton data={data} path={`/v1/nodes/${node.id}/provenance`} />
          <CopyButton text={location.href}>{t.parts.copyLink}</CopyButton>
        </span>
      </nav>
      <Claim node={node} />
      <div class="two">
        <div>
          <Versus node={node} />
          <Axis node={node} chain={chain} />
          <Life data={data} chain={chain} />
        </div>
        <aside class="aside" aria-label={t.memory.facts.title}>
          <Facts node={node} />
          <Uses node={node} />
          <Neighbours node={node} />
        </aside>
      </div>
      <Writing />
      <Doing node={node} />
    </article>
  );
}

/** The dialog of the change that the address names. */
function Doing({ node }: { node: Node }): VNode | null {
  const wanted = place.value.query.get("do");
  const onClose = (): void => go(withQuery({ do: undefined }), "replace");
  if (!canChange.value) return null;
  if (wanted === "correct") return <Correct node={node} onClose={onClose} />;
  if (wanted === "forget") return <Forget node={node} onClose={onClose} />;
  if (wanted !== "replace" && wanted !== "contradict") return null;
  return <Second node={node} by={wanted} onClose={onClose} />;
}

function Claim({ node }: { node: Node }): VNode {
  const hidden = hiddenIn(node.content);
  const { valid_from, valid_to } = node;
  return (
    <header class="claim">
      <Content text={node.content} />
      <Picture node={node} />
      {hidden > 0 && <p class="small lost">{t.memory.hidden(t.parts.hidden(hidden))}</p>}
      <div class="meta">
        <State of={node.lifecycle_state} />
        <span>{t.words.type[node.node_type]}</span>
        <span>{t.words.scope[node.scope]}</span>
        <span>
          {valid_to === null
            ? t.memory.trueFrom(date(valid_from))
            : t.memory.trueBetween(date(valid_from), date(valid_to))}
        </span>
        {node.event_time !== null && (
          <span>
            {Date.parse(node.event_time) > now() ? t.memory.happens : t.memory.happened}{" "}
            <Moment at={node.event_time} show={date} />
          </span>
        )}
        {node.pinned && <span>{t.timeline.pinned}</span>}
      </div>
      <Actions node={node} />
    </header>
  );
}

/** The whole text: a short one as the heading, a long one below it. */
function Content({ text }: { text: string }): VNode {
  const wanted = place.value.query.get("all") !== null;
  const isCut = !wanted && text.length > SHOWN;
  if (text.length <= HEADING) {
    return (
      <h1>
        <Text of={text} />
      </h1>
    );
  }
  return (
    <>
      <h1 class="vh">{t.frame.view.memory}</h1>
      <p class="long">
        <Text of={isCut ? text.slice(0, SHOWN) : text} />
        {isCut && "…"}
      </p>
      {isCut && (
        <p>
          <a class="btn" href={withQuery({ all: "1" })}>
            {t.parts.all(text.length)}
          </a>
        </p>
      )}
    </>
  );
}
