import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { browseNodes, listForgettings } from "../client/sdk.gen.ts";
import type { Forgetting as Known, Node } from "../client/types.gen.ts";
import { pin } from "../data/changes.ts";
import { now } from "../data/clock.ts";
import { answered } from "../data/http.ts";
import { hrefOf } from "../data/place.ts";
import { useQuery } from "../data/query.ts";
import { endOf } from "../data/retention.ts";
import { canChange, owner } from "../data/server.ts";
import { t } from "../language/texts.ts";
import { Button, Head, Moment } from "../parts/controls.tsx";
import { date, dayOf, startOfDay } from "../parts/format.ts";
import { JsonButton } from "../parts/json-button.tsx";
import { useKeys } from "../parts/keys.ts";
import { useRowSteps } from "../parts/row-focus.ts";
import { Answer } from "../parts/states.tsx";
import { signed, Text } from "../parts/text.tsx";
import { Forget } from "./forgetting/dialog.tsx";
import { Gone } from "./forgetting/gone.tsx";

/** Whose end is shown, in days from now. */
const SOON_DAYS = 30;
/** Records that are read, and rows of each list. */
const READ = 500;
const SHOWN = 100;

type Going = {
  /** Those that end first are first. */
  readonly soon: readonly Node[];
  readonly archived: readonly Node[];
  readonly forgotten: readonly Known[];
};

/** What goes when, and what is gone? */
export function Forgetting({ id }: { id: string }): VNode {
  return id === "" ? <Lists /> : <Gone key={id} id={id} />;
}

function Lists(): VNode {
  const until = startOfDay(dayOf(new Date(now()).toISOString()), SOON_DAYS + 1).toISOString();
  const query = useQuery(`forgetting ${until}`, (userId) => read(until, userId));
  const [chosen, setChosen] = useState<Node | undefined>(undefined);
  const { soon = [], archived = [] } = query.data ?? {};
  useRowSteps();
  useRowKeys(soon, archived, setChosen);
  const path = `/v1/forget?user_id=${encodeURIComponent(owner.value ?? "")}`;
  return (
    <>
      <div class="title">
        <h1 class="ttl">{t.frame.view.forgetting}</h1>
        {query.data !== undefined && <JsonButton data={query.data.forgotten} path={path} />}
      </div>
      <Answer of={query}>
        {({ forgotten }) => (
          <>
            <List of={soon} words={t.forgetting.soon}>
              {(node) => <Row key={node.id} of={node} canKeep onForget={setChosen} />}
            </List>
            <List
              of={archived}
              words={t.forgetting.archived}
              end={<a href={hrefOf("", "", { state: "archived" })}>{t.forgetting.archived.all}</a>}
            >
              {(node) => <Row key={node.id} of={node} onForget={setChosen} />}
            </List>
            <List of={forgotten} words={t.forgetting.forgotten}>
              {(one) => <GoneRow key={one.forget_id} of={one} />}
            </List>
          </>
        )}
      </Answer>
      {chosen !== undefined && canChange.value && (
        <Forget node={chosen} onClose={() => setChosen(undefined)} />
      )}
    </>
  );
}

async function read(until: string, user_id: string): Promise<Going> {
  const [soon, archived, forgotten] = await Promise.all([
    answered(browseNodes({ query: { user_id, expires_before: until, limit: READ } })),
    answered(browseNodes({ query: { user_id, state: ["archived"], limit: SHOWN } })),
    answered(listForgettings({ query: { user_id } })),
  ]);
  const byEnd = soon.nodes.toSorted((a, b) => ((endOf(a) ?? "") < (endOf(b) ?? "") ? -1 : 1));
  return { soon: byEnd, archived: archived.nodes, forgotten };
}

/** Keys for the memory of the row with the focus. */
function useRowKeys(
  soon: readonly Node[],
  archived: readonly Node[],
  forget: (node: Node) => void,
): void {
  const { keys } = t.forgetting;
  const among = (nodes: readonly Node[], run: (node: Node) => unknown) => (): void => {
    const id = document.activeElement?.closest<HTMLElement>("[data-node]")?.dataset["node"];
    const node = nodes.find((one) => one.id === id);
    if (node !== undefined && canChange.peek()) run(node);
  };
  const told = canChange.value;
  useKeys([
    { keys: "p", text: told ? keys.keep : undefined, run: among(soon, pin) },
    { keys: "f", text: told ? keys.forget : undefined, run: among([...soon, ...archived], forget) },
  ]);
}

type ListProps<T> = {
  readonly of: readonly T[];
  readonly words: { readonly title: string; readonly note: string; readonly none: string };
  readonly end?: ComponentChildren;
  readonly children: (one: T) => VNode;
};

function List<T>({ of, words, end, children }: ListProps<T>): VNode {
  return (
    <section class="sect">
      <Head title={words.title} note={words.note} end={of.length > 0 ? end : undefined} />
      {of.length === 0 && <p class="dim">{words.none}</p>}
      <ol class="going">{of.slice(0, SHOWN).map(children)}</ol>
      {of.length > SHOWN && <p class="dim">{t.forgetting.more(of.length - SHOWN)}</p>}
    </section>
  );
}

type RowProps = {
  readonly of: Node;
  readonly canKeep?: boolean;
  readonly onForget: (node: Node) => void;
};

/** A memory, when it ends or was stored, and what can be done with it. */
function Row({ of: node, canKeep = false, onForget }: RowProps): VNode {
  const { keep, forget } = t.forgetting;
  const name = signed(node.content.slice(0, 80));
  return (
    <li data-node={node.id}>
      <span class="dim">
        <Moment at={endOf(node) ?? node.created_at} show={date} />
      </span>
      <a data-step href={hrefOf("memory", node.id)}>
        <Text of={node.content} line />
      </a>
      {canChange.value && (
        <span class="do">
          {canKeep && (
            <Button kind="quiet" label={`${keep}: ${name}`} onClick={() => void pin(node)}>
              {keep}
            </Button>
          )}
          <Button kind="quiet" label={`${forget}…: ${name}`} onClick={() => onForget(node)}>
            {forget}…
          </Button>
        </span>
      )}
    </li>
  );
}

function GoneRow({ of }: { of: Known }): VNode {
  return (
    <li>
      <span class="dim">
        <Moment at={of.forgotten_at} show={date} />
      </span>
      <a data-step href={hrefOf("forgetting", of.forget_id)}>
        {t.forgetting.forgotten.what(of.memories.length, of.events.length)}
      </a>
      <span class="small">
        <Text of={t.memory.life.by(of.actor_id)} line />
      </span>
    </li>
  );
}
