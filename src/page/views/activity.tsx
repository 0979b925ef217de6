import type { VNode } from "preact";
import { LIFECYCLE_STATES } from "../../domain/enums.ts";
import { parseUuid } from "../../lib/uuid.ts";
import { browseNodes, listOperations, listRetrievals } from "../client/sdk.gen.ts";
import type { Node, OperationRecord, RetrievalPage } from "../client/types.gen.ts";
import { answered } from "../data/http.ts";
import { readNodes } from "../data/nodes.ts";
import { hrefOf, place, withQuery } from "../data/place.ts";
import { useQuery } from "../data/server.ts";
import { Moment, Pages, Section, TextLink, Title } from "../parts/controls.tsx";
import { counted, date, dayOf, doneWord, longDate, number, time } from "../parts/format.ts";
import { useRowSteps } from "../parts/keys.ts";
import { Box, Loaded, State } from "../parts/states.tsx";
import { Text } from "../parts/text.tsx";
import { type Joined, joined } from "./joined.ts";
import { nameOf } from "./search/answer.ts";

export function Activity(): VNode {
  const of = wanted();
  const query = useQuery(`activity ${JSON.stringify(of)}`, (userId) => readHappened(of, userId));
  useRowSteps();
  return (
    <>
      <Title data={query.data} path={pathOf(of)}>
        {query.data === undefined ? "Activity" : titleOf(query.data)}
      </Title>
      <div class="two">
        <div>
          <Loaded of={query}>
            {({ entries, next }) => (
              <>
                {entries.length === 0 ? <Nothing of={of} /> : <Days entries={entries} />}
                <Pages
                  class="run"
                  of={[
                    of.until !== undefined && ["Newest", { until: undefined }],
                    next !== undefined && ["Older", { until: next }],
                  ]}
                />
              </>
            )}
          </Loaded>
        </div>
        <aside class="aside" aria-label="What">
          <Choices of={of} entries={query.data?.entries ?? []} />
        </aside>
      </div>
    </>
  );
}

const LIST = new Intl.ListFormat("en");

function titleOf({ entries, next }: Happened): string {
  const some = (kind: "question" | "stored" | "change", one: string, many?: string) => {
    const count = entries.filter((entry) => kind in entry).length;
    return count === 0 ? [] : [counted(count, one, many)];
  };
  const first = entries.at(-1);
  const counts = LIST.format([
    ...some("question", "question"),
    ...some("stored", "new memory", "new memories"),
    ...some("change", "change"),
  ]);
  if (counts === "") return "Activity";
  return next === undefined || first === undefined ? counts : `${counts} since ${date(first.at)}`;
}

function Nothing({ of: { kind, who } }: { of: Wanted }): VNode {
  const isFiltered = kind !== "all" || who !== undefined;
  return (
    <Box title={isFiltered ? "Nothing fits these filters" : "Nothing happened"}>
      <p>
        Questions of assistants, new memories and changes appear here, questions as long as their
        receipts are kept. The page's own questions leave no trace.
      </p>
    </Box>
  );
}

function pathOf({ kind, until }: Wanted): string {
  const route = kind === "changes" ? "operations" : "retrievals";
  const params = new URLSearchParams(until === undefined ? {} : { time_to: until });
  return `/v1/${route}?${params}`;
}

type Props = { readonly of: Wanted; readonly entries: readonly Entry[] };

function Choices({ of, entries }: Props): VNode {
  const all = { query: { who: undefined }, text: "everybody", isChosen: of.who === undefined };
  const groups = {
    What: KINDS.map((kind) => {
      const query = { show: kind === "all" ? undefined : kind };
      return { query, text: kind, isChosen: kind === of.kind, count: undefined };
    }),
    Who: [
      { ...all, count: undefined },
      ...countsOf(of, entries).map(([text, count]) => {
        return { query: { who: text }, text, isChosen: text === of.who, count };
      }),
    ],
  };
  return (
    <>
      {Object.entries(groups).map(([title, links]) => (
        <nav key={title} class="sect" aria-label={title}>
          <h2 class="side-h">{title}</h2>
          <ul class="pick">
            {links.map(({ query, text, isChosen, count }, index) => (
              <li key={index}>
                <a
                  href={withQuery({ ...query, until: undefined })}
                  aria-current={isChosen || undefined}
                >
                  <Text of={text} line />
                </a>
                {count !== undefined && <span class="n">{number(count)}</span>}
              </li>
            ))}
          </ul>
        </nav>
      ))}
    </>
  );
}

/** The shown actors with their counts, busiest first; a selected one is always included. */
function countsOf({ who }: Wanted, entries: readonly Entry[]): readonly [string, number][] {
  const counts = new Map<string, number>(who === undefined ? [] : [[who, 0]]);
  for (const entry of entries) {
    if (entry.who !== null) counts.set(entry.who, (counts.get(entry.who) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

function Days({ entries }: { entries: readonly Entry[] }): VNode {
  const days = [...Map.groupBy(entries, ({ at }) => dayOf(at))];
  return (
    <>
      {days.map(([day, ofDay]) => {
        const failed = ofDay.filter(isFailed).length;
        return (
          <Section
            key={day}
            title={longDate(day)}
            end={failed > 0 && <span class="lost">{number(failed)} failed</span>}
          >
            <ol class="happened">
              {ofDay.map((entry) => (
                <Row key={entry.id} of={entry} />
              ))}
            </ol>
          </Section>
        );
      })}
    </>
  );
}

function isFailed(entry: Entry): boolean {
  return "question" in entry && Object.keys(entry.question.failures).length > 0;
}

const Row = ({ of: entry }: { of: Entry }): VNode => (
  <li>
    <span class="dim">
      <Moment at={entry.at} show={time} />
    </span>
    <b class="who">
      {entry.who !== null && <Text of={entry.who} line />}
      {entry.who === null && "question" in entry && <span class="dim">unnamed</span>}
    </b>
    {"question" in entry && <Asked of={entry.question} />}
    {"change" in entry && <Changed of={entry.change} />}
    {"stored" in entry && <Stored of={entry.stored} />}
  </li>
);

function Asked({ of: question }: { of: Question }): VNode {
  const { request_id, query, context_count, failures } = question;
  return (
    <>
      <span class="dim">asked</span>
      <p>
        <TextLink step href={hrefOf("search", request_id)} text={query} />
        {Object.keys(failures).map((search) => (
          <span key={search} class="lost">
            the search by {nameOf(search)} failed
          </span>
        ))}
      </p>
      <span class="small">{number(context_count)} in the context</span>
    </>
  );
}

const Stored = ({ of: { id, content, node_type } }: { of: Node }): VNode => (
  <>
    <span class="dim">remembered</span>
    <p>
      <TextLink step href={hrefOf("memory", id)} text={content} />
    </p>
    <span class="small">{node_type}</span>
  </>
);

function Changed({ of: { record, node } }: { of: Change }): VNode {
  const { before, after, pinned } = outcomeOf(record);
  const state = LIFECYCLE_STATES.find((one) => one === after);
  const type = record.op_type === "PIN" && pinned === false ? "RELEASE" : record.op_type;
  return (
    <>
      <span class="dim">{doneWord(type)}</span>
      <p>
        {node === undefined ? (
          <span class="dim">a memory that is gone</span>
        ) : (
          <TextLink step href={hrefOf("memory", node.id)} text={node.content} />
        )}
      </p>
      <span class="small">{state !== undefined && after !== before && <State of={state} />}</span>
    </>
  );
}

const PAGE = 200;
const KINDS = ["all", "questions", "memories", "changes", "failures"] as const;

type Wanted = {
  readonly kind: (typeof KINDS)[number];
  readonly who: string | undefined;
  readonly until: string | undefined;
};

type Question = RetrievalPage["retrievals"][number];
type Change = { readonly record: OperationRecord; readonly node: Node | undefined };

type Entry = {
  readonly id: string;
  readonly at: string;
  readonly who: string | null;
} & ({ readonly question: Question } | { readonly change: Change } | { readonly stored: Node });

type Happened = Joined<Entry>;

function wanted(): Wanted {
  const { query } = place.value;
  const kind = KINDS.find((one) => one === query.get("show")) ?? "all";
  return { kind, who: query.get("who") ?? undefined, until: query.get("until") ?? undefined };
}

/** Loads questions, new memories and changes, and merges them as far back as all are loaded. */
async function readHappened(of: Wanted, user_id: string): Promise<Happened> {
  const { kind, who, until } = of;
  const common = { user_id, limit: PAGE, time_to: until };
  const failed = kind === "failures" || undefined;
  const wants = (...kinds: readonly Wanted["kind"][]) => kind === "all" || kinds.includes(kind);
  const [questions, changes, memories] = await Promise.all([
    wants("questions", "failures")
      ? answered(listRetrievals({ query: { ...common, client: who, failed } }))
      : NOTHING,
    wants("changes") ? answered(listOperations({ query: { ...common, actor: who } })) : NOTHING,
    // A memory has no field for who stored it.
    wants("memories") && who === undefined
      ? answered(browseNodes({ query: common }))
      : { nodes: [], next_cursor: null },
  ]);
  const targets = changes.operations.map(({ target_id }) => target_id);
  const ids = targets.filter((id) => parseUuid(id) !== undefined);
  const nodes = new Map((await readNodes(ids, user_id)).map((node) => [node.id, node]));
  const asked = questions.retrievals.map((question): Entry => {
    const { request_id: id, created_at: at, client } = question;
    return { id, at, who: client, question };
  });
  const changed = changes.operations.map((record): Entry => {
    const { id, created_at: at, actor_id, target_id } = record;
    return { id, at, who: actor_id, change: { record, node: nodes.get(target_id) } };
  });
  const stored = memories.nodes.map(
    (node): Entry => ({ id: node.id, at: node.created_at, who: null, stored: node }),
  );
  return joined<Entry>([
    { entries: stored, hasMore: memories.next_cursor !== null },
    { entries: asked, hasMore: questions.has_more },
    { entries: changed, hasMore: changes.has_more },
  ]);
}

const NOTHING = { retrievals: [], operations: [], has_more: false } as const;

/** What a change did to its memory, according to the log. */
function outcomeOf({ payload }: OperationRecord): Record<"before" | "after" | "pinned", unknown> {
  const { before, after } = parsed(payload["record"]);
  const { lifecycleState, pinned } = Object(after);
  return { before: Object(before).lifecycleState, after: lifecycleState, pinned };
}

function parsed(record: unknown): { readonly before?: unknown; readonly after?: unknown } {
  try {
    return Object(typeof record === "string" ? JSON.parse(record) : record);
  } catch {
    return {};
  }
}
