import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { seenIn, seenInWords, storedSpeaker } from "../../domain/speaker.ts";
import { getBlob, getNodeEdges, getNodeRetrievals, getProvenance } from "../client/sdk.gen.ts";
import type { Edge, Node, Provenance } from "../client/types.gen.ts";
import { archive, canBeReplaced, pin, promote, reinforce, restore } from "../data/changes.ts";
import { answered } from "../data/http.ts";
import { farEnd, readNodes } from "../data/nodes.ts";
import { go, hrefOf, place, withQuery } from "../data/place.ts";
import { canChange, useQuery } from "../data/server.ts";
import {
  AskedItem,
  Button,
  Crumbs,
  Facts,
  Measure,
  Moment,
  Section,
  TextLink,
} from "../parts/controls.tsx";
import {
  counted,
  date,
  edgeWords,
  now,
  number,
  ordinal,
  share,
  span,
  words,
} from "../parts/format.ts";
import { type KeyAction, useKeys } from "../parts/keys.ts";
import { Loaded, State, StateShape } from "../parts/states.tsx";
import { hiddenIn, signed, Text } from "../parts/text.tsx";
import { Versus, Writing } from "./conflicts.tsx";
import { Forget } from "./forgetting.tsx";
import { Axis, Life, useChain } from "./memory/history.tsx";
import { Correct, Second } from "./memory/replace.tsx";

const SHOWN = 4000;
const HEADING = 280;

export function Memory({ id }: { id: string }): VNode {
  const query = useQuery(`memory ${id}`, (userId) => read(id, userId));
  return (
    <Loaded of={query} title="Memory">
      {(data) => <Known key={id} data={data} />}
    </Loaded>
  );
}

async function read(id: string, userId: string): Promise<Provenance> {
  const whole = await answered(getProvenance({ path: { node_id: id } }));
  const { node } = whole;
  // An operator may follow a link to a memory of another owner; that owner is shown then.
  if (node.user_id !== userId) go(hrefOf("memory", id, { owner: node.user_id }), "replace");
  return whole;
}

function Known({ data }: { data: Provenance }): VNode {
  const { node } = data;
  const chain = useChain(node.id);
  return (
    <article>
      <Crumbs
        of={[<a href={hrefOf("timeline")}>Timeline</a>, <span>Memory</span>]}
        data={data}
        path={`/v1/nodes/${node.id}/provenance`}
      />
      <Claim node={node} />
      <div class="two">
        <div>
          <Versus node={node} />
          <Axis node={node} chain={chain} />
          <Life data={data} chain={chain} />
        </div>
        <aside class="aside" aria-label="Certainty and weight">
          <Certainty node={node} />
          <Uses node={node} />
          <Neighbours node={node} />
        </aside>
      </div>
      <Writing />
      <Doing node={node} />
    </article>
  );
}

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
      {hidden > 0 && (
        <p class="small lost">
          {counted(hidden, "hidden character")} in this text are shown as signs: they cannot be
          seen, or change how others are read.
        </p>
      )}
      <div class="meta">
        <State of={node.lifecycle_state} />
        <span>{node.node_type}</span>
        <span>{node.scope}</span>
        <span>
          true from {span(valid_from, valid_to)}
          {valid_to === null && ", no end"}
        </span>
        {node.event_time !== null && (
          <span>
            {Date.parse(node.event_time) > now() ? "happens" : "happened"}{" "}
            <Moment at={node.event_time} show={date} />
          </span>
        )}
        {node.pinned && <span>pinned</span>}
      </div>
      <Actions node={node} />
    </header>
  );
}

/** The whole text: a short one as the heading, a long one below it. */
function Content({ text }: { text: string }): VNode {
  const isCut = text.length > SHOWN && place.value.query.get("all") === null;
  if (text.length <= HEADING) return <Text as="h1" of={text} />;
  return (
    <>
      <h1 class="vh">Memory</h1>
      <p class="long">
        <Text of={isCut ? text.slice(0, SHOWN) : text} />
        {isCut && "…"}
      </p>
      {isCut && (
        <p>
          <a class="btn" href={withQuery({ all: "1" })}>
            Show all {number(text.length)} characters
          </a>
        </p>
      )}
    </>
  );
}

const ALT = 300;

function Picture({ node }: { node: Node }): VNode | null {
  const seen = seenIn(node.metadata ?? undefined);
  if (seen === undefined) return null;
  const { thumbnail } = seen;
  const alt = signed(node.content.slice(0, ALT));
  return (
    <figure class="seen">
      {thumbnail !== undefined && <Image id={thumbnail} alt={alt} />}
      <figcaption class="small">
        <Text of={seenInWords(seen)} line />
      </figcaption>
    </figure>
  );
}

/** As a data URL: the page may load nothing else. */
function Image({ id, alt }: { id: string; alt: string }): VNode | null {
  const { data } = useQuery(`picture ${id}`, (userId) => readPicture(id, userId));
  return data === undefined ? null : <img src={data} alt={alt} />;
}

async function readPicture(id: string, userId: string): Promise<string> {
  const bytes = await answered(getBlob({ path: { blob_key: id }, query: { user_id: userId } }));
  return await new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(bytes);
  });
}

type Action = KeyAction & { readonly name: string; readonly isLast?: boolean };

function Actions({ node }: { node: Node }): VNode | null {
  const actions = canChange.value ? actionsOf(node) : [];
  useKeys(actions);
  const acts = (isLast: boolean) =>
    actions
      .filter((action) => (action.isLast === true) === isLast)
      .map(({ keys, name, run }) => (
        <Button key={keys} keyName={keys} onClick={run}>
          {name}
        </Button>
      ));
  if (actions.length === 0) return null;
  return (
    <div class="acts">
      {acts(false)}
      <span class="gap" />
      {acts(true)}
    </div>
  );
}

function actionsOf(node: Node): readonly Action[] {
  const { lifecycle_state: state, pinned } = node;
  const act = (keys: string, name: string, text: string, run: () => void): Action => {
    return { keys, name, text, run };
  };
  const dialog = (keys: string, name: string, text: string, wanted: string): Action =>
    act(keys, `${name}…`, text, () => go(withQuery({ do: wanted }), "replace"));
  const forget = { ...dialog("f", "Forget", "forget it permanently", "forget"), isLast: true };
  if (state === "archived" || state === "deprecated") {
    return [act("b", "Restore", "bring back", () => void restore([node])), forget];
  }
  const actions: Action[] = [];
  if (canBeReplaced(node)) {
    actions.push(
      dialog("e", "Correct", "correct", "correct"),
      dialog("u", "Replace with", "replace with another", "replace"),
      dialog("!", "Contradict", "contradict", "contradict"),
    );
  }
  if (state === "tentative") {
    actions.push(act("m", "Make stable", "make stable", () => void promote(node)));
  }
  if (state !== "superseded") {
    actions.push(
      act("+", "Reinforce", "reinforce", () => void reinforce(node)),
      act("p", pinned ? "Release" : "Pin", "pin or release", () => void pin(node)),
    );
  }
  const last = act("x", "Archive", "archive", () => void archive([node]));
  return [...actions, { ...last, isLast: true }, forget];
}

function Certainty({ node }: { node: Node }): VNode {
  const speaker = storedSpeaker(node.metadata ?? undefined);
  return (
    <Section side title="Certainty and weight">
      <Facts
        of={[
          ["confidence", <Weight of={node.confidence} />],
          ["salience", <Weight of={node.salience} />],
          [
            "knowledge",
            <span title={node.epistemic_type}>{words.knowledge[node.epistemic_type]}</span>,
          ],
          ["source", words.source[node.source_type]],
          speaker !== undefined && ["said by", <Text of={speaker} line />],
          ["fading", words.fading[node.decay_profile]],
          ["scope", node.scope],
          ["id", node.id, true],
        ]}
      />
    </Section>
  );
}

const Weight = ({ of }: { of: number }): VNode => (
  <>
    <Measure of={of} class="f-ink" label={`${share(of)} of 1`} />
    {share(of)}
  </>
);

const READ = 100;
const USES_SHOWN = 5;

function Uses({ node: { id } }: { node: Node }): VNode | null {
  const [isWhole, setWhole] = useState(false);
  const { data } = useQuery(`uses ${id}`, () =>
    answered(getNodeRetrievals({ path: { node_id: id }, query: { limit: READ } })),
  );
  if (data === undefined) return null;
  const { retrievals, has_more } = data;
  const shown = isWhole ? retrievals : retrievals.slice(0, USES_SHOWN);
  return (
    <section class="sect">
      <h2 class="side-h">
        {retrievals.length === 0
          ? "Not used in any kept answer"
          : `Used in ${has_more ? "more than " : ""}${counted(retrievals.length, "answer")}`}
        {shown.length < retrievals.length && (
          <Button kind="link" onClick={() => setWhole(true)}>
            all
          </Button>
        )}
      </h2>
      <ol class="used">
        {shown.map((one) => (
          <AskedItem
            key={one.request_id}
            of={one}
            figure={ordinal(one.rank)}
            more={one.cited && " · cited"}
          />
        ))}
      </ol>
    </section>
  );
}

const NEIGHBOURS = 30;

type Neighbour = { readonly edge: Edge; readonly node: Node };

function Neighbours({ node: { id } }: { node: Node }): VNode {
  const { data } = useQuery(`neighbours ${id}`, (userId) => readNeighbours(id, userId));
  return (
    <Section side title="Neighbours">
      {data !== undefined && data.length === 0 && (
        <p class="small">No memory or thing is connected with it.</p>
      )}
      <ul class="neighbours">
        {data?.map(({ edge, node }) => (
          <li key={edge.id}>
            <StateShape of={node.lifecycle_state} size={12} />
            <span class="small">{edgeWords(edge.edge_type)}</span>
            <TextLink href={hrefOf("memory", node.id)} text={node.content} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

async function readNeighbours(id: string, userId: string): Promise<readonly Neighbour[]> {
  const query = { limit: NEIGHBOURS };
  const { edges } = await answered(getNodeEdges({ path: { node_id: id }, query }));
  const nodes = await readNodes(
    edges.map((edge) => farEnd(edge, id)),
    userId,
  );
  return edges.flatMap((edge) => {
    const node = nodes.find((one) => one.id === farEnd(edge, id));
    return node === undefined ? [] : [{ edge, node }];
  });
}
