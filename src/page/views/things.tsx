import { signal } from "@preact/signals";
import type { FunctionComponent, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as api from "../client/sdk.gen.ts";
import type { Edge, EntityPage, Node } from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { farEnd, readNodes } from "../data/nodes.ts";
import { assign, go, hrefOf, place, withQuery } from "../data/place.ts";
import { useQuery } from "../data/server.ts";
import {
  Button,
  Command,
  Crumbs,
  FilterField,
  filterKey,
  Measure,
  Pages,
  Section,
  TextLink,
  Title,
} from "../parts/controls.tsx";
import {
  counted,
  edgeWords,
  memoryCount,
  now,
  number,
  share,
  span,
  words,
} from "../parts/format.ts";
import { useKeys, useRowFocus } from "../parts/keys.ts";
import { Box, Loaded, NodeShape, State, StateShape } from "../parts/states.tsx";
import { hiddenIn, Text } from "../parts/text.tsx";
import { Exclusions, showClaimsAbout } from "./claims.tsx";
import { Entries, useProfile } from "./overview.tsx";
import type { Around, GraphProps } from "./things/graph.tsx";

const PAGE = 50;

/** Part of the names; it is not in the address. */
const named = signal("");

export function Things({ id }: { id: string }): VNode {
  return id === "" ? <AllThings /> : <Thing key={id} id={id} />;
}

function AllThings(): VNode {
  const cursor = place.value.query.get("cursor");
  const query = {
    limit: PAGE,
    ...(cursor === null ? {} : { cursor }),
    ...(named.value === "" ? {} : { contains: named.value }),
  };
  const found = useQuery(`things ${JSON.stringify(query)}`, (user_id) =>
    answered(api.listEntities({ query: { ...query, user_id } })),
  );
  useRowFocus();
  useKeys([filterKey()]);
  return (
    <>
      <Title data={found.data} path="/v1/entities">
        People and things
      </Title>
      <FilterField
        class="find things-find"
        label="Named"
        hint="a part of the name"
        value={named.value}
        onChange={setName}
      />
      <Loaded of={found}>{(data) => <List data={data} />}</Loaded>
    </>
  );
}

function setName(name: string): void {
  named.value = name;
  go(withQuery({ cursor: undefined }), "replace");
}

function List({ data }: { data: EntityPage }): VNode {
  const { entities, next_cursor } = data;
  const isFirst = place.value.query.get("cursor") === null;
  if (entities.length === 0 && isFirst) return <NoThings />;
  const most = Math.max(1, ...entities.map(({ memories }) => memories));
  return (
    <>
      <ol class="things" aria-label="People and things, those with the most memories first">
        {entities.map(({ node, memories, contested }) => (
          <li key={node.id}>
            <a class="thing" href={hrefOf("things", node.id)} data-step>
              <StateShape of={node.lifecycle_state} />
              <Text as="span" class="name" of={node.content} line />
              <Text as="span" class="dim kind" of={kindOf(node)} line />
              {contested > 0 && <span class="lost">{number(contested)} contested</span>}
              <span class="many">
                <Measure of={memories / most} class="f-graph" />
                <b title={memoryCount(memories)}>{number(memories)}</b>
                <span class="vh">{memoryCount(memories)}</span>
              </span>
            </a>
          </li>
        ))}
      </ol>
      <Pages
        class="acts"
        of={[
          !isFirst && ["First page", { cursor: undefined }],
          next_cursor !== null && ["Next page", { cursor: next_cursor }],
        ]}
      />
    </>
  );
}

function NoThings(): VNode {
  if (named.value !== "") {
    return (
      <Box title="No name contains this">
        <p>
          <Button onClick={() => setName("")}>Show all</Button>
        </p>
      </Box>
    );
  }
  return <NamedThings />;
}

/** The names that texts have, where no fact was extracted. */
function NamedThings(): VNode {
  const found = useProfile();
  const entries = found.data?.entries.filter(({ part }) => part === "people") ?? [];
  if (entries.length > 0) {
    return (
      <>
        <p class="dim">Found by their names in memories; with the memory that says who they are.</p>
        <Entries of={entries} />
      </>
    );
  }
  return (
    <Box title="No person or thing is known yet">
      <p>
        They are noted when facts are extracted from messages, for which a language model is needed.
        This says whether it is on:
      </p>
      <Command>svc info ./memory.pack</Command>
    </Box>
  );
}

const NAME = 280;

function Thing({ id }: { id: string }): VNode {
  const query = useQuery(`thing ${id}`, (userId) => readThing(id, userId));
  useRowFocus();
  return (
    <Loaded of={query} title="People and things">
      {(data) => <About data={data} />}
    </Loaded>
  );
}

/** The kind of thing that a memory names, as extracted; else the word for its type. */
function kindOf({ metadata, node_type }: Node): string {
  const kind = metadata?.["entity_type"];
  return typeof kind === "string" && kind.trim() !== "" ? kind : node_type;
}

function About({ data }: { data: Known }): VNode {
  const { node, beside, isCut } = data;
  const { contested, present, past } = sorted(beside);
  return (
    <article>
      <Crumbs
        of={[
          <a href={hrefOf("things")}>People and things</a>,
          <a href={hrefOf("memory", node.id)}>Memory</a>,
        ]}
        data={data}
        path={`/v1/nodes/${node.id}/edges`}
      />
      <header class="claim">
        <Text as="h1" of={node.content.slice(0, NAME)} />
        <div class="meta">
          <State of={node.lifecycle_state} />
          <Text as="span" of={kindOf(node)} line />
          <span>{node.scope}</span>
          <span>{memoryCount(contested.length + present.length + past.length)} about it</span>
        </div>
        {isCut && <p class="small">Only the first {number(MOST_EDGES)} connections are shown.</p>}
        <div class="acts">
          <Button onClick={() => showClaimsAbout(node.content)}>Claims about it</Button>
        </div>
      </header>
      <div class="two thing-view">
        <div>
          {contested.length + present.length + past.length === 0 && (
            <p>No memory is connected with it.</p>
          )}
          <Facts title="What is contested" of={contested} />
          <Facts title="What is known now" of={present} />
          <Facts title="What was before" of={past} />
          <Changes beside={beside} />
        </div>
        <aside class="aside" aria-label="Neighbourhood">
          <Neighbourhood of={data} />
        </aside>
      </div>
    </article>
  );
}

/** Memories by current validity, latest first. Other things are in the neighbourhood. */
function sorted(beside: readonly Beside[]) {
  const moment = new Date(now()).toISOString();
  const facts = beside
    .filter(({ node }) => node.node_type !== "entity")
    .toSorted((a, b) => (a.node.valid_from < b.node.valid_from ? 1 : -1));
  const {
    contested = [],
    present = [],
    past = [],
  } = Object.groupBy(facts, ({ node }) => standing(node, moment));
  return { contested, present, past };
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
    <Section title={title} note={memoryCount(of.length)}>
      <ul class="hits">
        {of.map(({ node }) => (
          <Fact key={node.id} node={node} />
        ))}
      </ul>
    </Section>
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
        <span>{node.node_type}</span>
        <span>{span(valid_from, valid_to, "from ")}</span>
        <span title={node.epistemic_type}>{words.knowledge[node.epistemic_type]}</span>
        <span>{share(node.confidence)}</span>
        {hidden > 0 && <span class="lost">{counted(hidden, "hidden character")}</span>}
      </span>
    </li>
  );
}

const CLAIMS_STATUS = {
  unknown: "nothing holds now",
  single: "one claim holds now",
  consistent: "several claims say the same",
  multiple: "several claims hold now",
  contested: "contested",
};

const SHOWN = 50;

/** The subject of a claim, whose changes are shown together. */
type Topic = {
  readonly subject: string;
  readonly predicate: string;
  readonly scope: Node["scope"];
};

function Changes({ beside }: { beside: readonly Beside[] }): VNode | null {
  const topics = topicsOf(beside);
  if (topics.length === 0) return null;
  return (
    <Section title="How it changed" note="what is claimed about it, and what was before">
      {topics.map((topic) => (
        <Change key={JSON.stringify(topic)} of={topic} />
      ))}
    </Section>
  );
}

function topicsOf(beside: readonly Beside[]): readonly Topic[] {
  const topics = new Map<string, Topic>();
  for (const { node, edges } of beside) {
    const { subject, predicate } = Object(node.metadata);
    if (typeof subject !== "string" || typeof predicate !== "string") continue;
    if (subject.trim() === "" || predicate.trim() === "") continue;
    // If the thing is only mentioned, the claim is about another one.
    if (edges.every(({ edge_type }) => edge_type === "mentions")) continue;
    const topic = { subject, predicate, scope: node.scope };
    topics.set(JSON.stringify(topic), topic);
  }
  return [...topics.values()];
}

function Change({ of }: { of: Topic }): VNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="change" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary data-step>
        <span class="tri" aria-hidden="true">
          ▸
        </span>
        <span>
          <Text of={of.subject} line /> <Text as="b" of={of.predicate} line />
        </span>
        <span class="dim">{of.scope}</span>
      </summary>
      {isOpen && <Claimed of={of} />}
    </details>
  );
}

function Claimed({ of }: { of: Topic }): VNode {
  const query = useQuery(`state ${JSON.stringify(of)}`, (user_id) => {
    const valid_at = new Date(now()).toISOString();
    return answered(
      api.assertionState({ body: { user_id, query: { ...of, valid_at, limit: SHOWN } } }),
    );
  });
  return (
    <Loaded of={query}>
      {({ status, current_values, timeline, matched_records, scanned_nodes, exclusions }) => (
        <div class="claimed">
          <p>
            <b>{CLAIMS_STATUS[status]}</b>{" "}
            {current_values.map(({ object, polarity, candidate_count }) => (
              <span key={`${polarity} ${object}`} class="value">
                <Text of={object} line />{" "}
                <span class="dim">{counted(candidate_count, "claim")}</span>
              </span>
            ))}
          </p>
          <ol>
            {timeline.toReversed().map((entry) => (
              <li key={entry.node_id}>
                <StateShape of={entry.lifecycle_state} />
                <TextLink href={hrefOf("memory", entry.node_id)} text={entry.content} />
                <span class="small">
                  {span(entry.valid_from, entry.valid_to, "from ")}
                  {entry.current_candidate && ", holds now"}
                </span>
              </li>
            ))}
          </ol>
          <p class="small">
            {number(matched_records)} of {number(scanned_nodes)} memories looked at claim this.
          </p>
          <Exclusions of={exclusions} />
        </div>
      )}
    </Loaded>
  );
}

function Neighbourhood({ of }: { of: Known }): VNode {
  const query = useQuery(`around ${of.node.id}`, () => readAround(of));
  return (
    <section class="sect">
      <h2 class="side-h">
        Neighbourhood
        {query.data !== undefined && <span>the nearest {number(query.data.nodes.length)}</span>}
      </h2>
      <Loaded of={query}>
        {(data) =>
          data.nodes.length === 0 ? (
            <p class="small">Nothing is around it.</p>
          ) : (
            <>
              <Drawn center={of.node} around={data} />
              <AroundList center={of.node} around={data} />
            </>
          )
        }
      </Loaded>
    </section>
  );
}

/** The drawing code, loaded when a neighbourhood is shown. */
const graph = signal<{ readonly Graph?: FunctionComponent<GraphProps> }>({});

function Drawn(props: GraphProps): VNode {
  const { Graph } = graph.value;
  useEffect(() => {
    void import("./things/graph.tsx").then((loaded) => assign(graph, loaded));
  }, []);
  return <div class="graph">{Graph ? <Graph {...props} /> : <p class="small">Drawing…</p>}</div>;
}

const AroundList = ({ center, around }: GraphProps): VNode => (
  <ul
    class="neighbours around"
    aria-label="Memories and things around it, nearest first"
    tabIndex={0}
  >
    {around.nodes.map((node) => (
      <li key={node.id}>
        <NodeShape of={node} />
        <span class="small">
          {around.near.has(node.id)
            ? relations(around.edges, center.id, node.id)
            : "two steps away"}
        </span>
        <TextLink
          href={hrefOf(node.node_type === "entity" ? "things" : "memory", node.id)}
          text={node.content}
        />
      </li>
    ))}
  </ul>
);

function relations(edges: readonly Edge[], one: string, other: string): string {
  const between = edges.filter(
    ({ source_id, target_id }) =>
      (source_id === one && target_id === other) || (source_id === other && target_id === one),
  );
  return [...new Set(between.map(({ edge_type }) => edgeWords(edge_type)))].join(", ");
}

const MOST_EDGES = 1000;
const MOST_AROUND = 150;
/** Neighbours whose own connections are loaded for the graph. */
const MOST_ASKED = 24;
const EDGES_ASKED = 100;

type Beside = { readonly node: Node; readonly edges: readonly Edge[] };

type Known = { readonly node: Node; readonly beside: readonly Beside[]; readonly isCut: boolean };

/** A thing and everything one step away, in any state. @throws CallFailure */
async function readThing(id: string, userId: string): Promise<Known> {
  const [node, { edges, has_more }] = await Promise.all([
    answered(api.getNode({ path: { node_id: id } })),
    answered(api.getNodeEdges({ path: { node_id: id }, query: { limit: MOST_EDGES } })),
  ]);
  // An operator may follow a link to a memory of another owner; that owner is shown then.
  if (node.user_id !== userId) go(hrefOf("things", id, { owner: node.user_id }), "replace");
  const byEnd = Map.groupBy(edges, (edge) => farEnd(edge, id));
  const nodes = await readNodes([...byEnd.keys()], node.user_id);
  const beside = nodes.map((one) => ({ node: one, edges: byEnd.get(one.id) ?? [] }));
  return { node, beside, isCut: has_more };
}

/** At most 150 active memories and things within two steps. @throws CallFailure */
async function readAround({ node: { id }, beside }: Known): Promise<Around> {
  const answer = await answered(
    api.neighborhood({ path: { node_id: id }, query: { max_hops: 2 } }),
  );
  const nodes = answer.nodes.slice(0, MOST_AROUND);
  const isShown = new Set([id, ...nodes.map((node) => node.id)]);
  const near = new Set(beside.map(({ node }) => node.id));
  const asked = nodes.filter((node) => near.has(node.id)).slice(0, MOST_ASKED);
  const pages = await Promise.all(
    asked.map((node) =>
      answered(api.getNodeEdges({ path: { node_id: node.id }, query: { limit: EDGES_ASKED } })),
    ),
  );
  const all = [...beside.flatMap(({ edges }) => edges), ...pages.flatMap(({ edges }) => edges)];
  const byId = new Map(all.map((edge) => [edge.id, edge]));
  const edges = [...byId.values()].filter(
    ({ source_id, target_id }) => isShown.has(source_id) && isShown.has(target_id),
  );
  return { nodes, near, edges };
}
