import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import * as api from "../client/sdk.gen.ts";
import type {
  ErasureCounts,
  ForgetAnswer,
  Forgetting as Forgotten,
  Node,
} from "../client/types.gen.ts";
import { endOf, pin, useSending } from "../data/changes.ts";
import { answered, asFailure, isLost, key } from "../data/http.ts";
import { readNodes } from "../data/nodes.ts";
import { go, hrefOf } from "../data/place.ts";
import { canChange, forgetAnswers, owner, useQuery } from "../data/server.ts";
import {
  Button,
  Command,
  CopyButton,
  Crumbs,
  Facts,
  FormDialog,
  Moment,
  Section,
  TextLink,
  Title,
} from "../parts/controls.tsx";
import {
  counted,
  date,
  dayOf,
  later,
  memoryCount,
  now,
  startOfDay,
  words,
} from "../parts/format.ts";
import { useKeys, useRowSteps } from "../parts/keys.ts";
import { Loaded, Skeleton, Warning } from "../parts/states.tsx";
import { signed, Text } from "../parts/text.tsx";

const SOON_DAYS = 30;
const READ = 500;
const SHOWN = 100;

export function Forgetting({ id }: { id: string }): VNode {
  return id === "" ? <Lists /> : <Gone key={id} id={id} />;
}

function Lists(): VNode {
  const until = startOfDay(dayOf(new Date(now()).toISOString()), SOON_DAYS + 1).toISOString();
  const query = useQuery(`forgetting ${until}`, (userId) => read(until, userId));
  const [chosen, setChosen] = useState<Node | undefined>(undefined);
  const { soon = [], archived = [] } = query.data ?? {};
  const { data: faded = [] } = useQuery("faded", readFaded);
  useRowSteps();
  useRowKeys([...soon, ...faded], archived, setChosen);
  const path = `/v1/forget?user_id=${encodeURIComponent(owner.value ?? "")}`;
  return (
    <>
      <Title data={query.data?.forgotten} path={path}>
        Forgetting
      </Title>
      <Loaded of={query}>
        {({ forgotten }) => (
          <>
            <List
              of={soon}
              title="Ending within 30 days"
              note="archived when their retention ends, unless you keep them"
              none="No retention ends within 30 days."
            >
              {(node) => <Row key={node.id} of={node} canKeep onForget={setChosen} />}
            </List>
            {faded.length > 0 && (
              <List
                of={faded}
                title="Faded"
                note="archived when the organizer runs next, unless they are used or pinned before"
              >
                {(node) => <Row key={node.id} of={node} canKeep onForget={setChosen} />}
              </List>
            )}
            <List
              of={archived}
              title="Archived"
              note="no longer found; their texts are kept; newest first"
              none="Nothing is archived."
              end={
                <a href={hrefOf("timeline", "", { state: "archived" })}>
                  all of them in the timeline
                </a>
              }
            >
              {(node) => <Row key={node.id} of={node} onForget={setChosen} />}
            </List>
            <List
              of={forgotten}
              title="Forgotten"
              note="their texts are erased; their places in the log stay"
              none="Nothing was forgotten."
            >
              {(one) => <GoneRow key={one.forget_id} of={one} />}
            </List>
          </>
        )}
      </Loaded>
      {chosen !== undefined && canChange.value && (
        <Forget node={chosen} onClose={() => setChosen(undefined)} />
      )}
    </>
  );
}

async function read(until: string, user_id: string) {
  const [soon, archived, forgotten] = await Promise.all([
    answered(api.browseNodes({ query: { user_id, expires_before: until, limit: READ } })),
    answered(api.browseNodes({ query: { user_id, state: ["archived"], limit: SHOWN } })),
    answered(api.listForgettings({ query: { user_id } })),
  ]);
  const byEnd = soon.nodes.toSorted((a, b) => ((endOf(a) ?? "") < (endOf(b) ?? "") ? -1 : 1));
  return { soon: byEnd, archived: archived.nodes, forgotten };
}

/** What the organizer would archive now as unused, under the current settings. */
async function readFaded(user_id: string): Promise<readonly Node[]> {
  if (!canChange.peek()) return [];
  const body = { user_id, jobs: ["decay_sweep"], dry_run: true };
  const { would_change } = await answered(api.organize({ body }));
  const node_ids = (would_change?.changes ?? [])
    .filter(({ to }) => to === "archived")
    .map(({ target_id }) => target_id);
  return await readNodes(node_ids, user_id);
}

function useRowKeys(
  soon: readonly Node[],
  archived: readonly Node[],
  forget: (node: Node) => void,
): void {
  const among = (nodes: readonly Node[], run: (node: Node) => unknown) => (): void => {
    const id = document.activeElement?.closest<HTMLElement>("[data-node]")?.dataset["node"];
    const node = nodes.find((one) => one.id === id);
    if (node !== undefined && canChange.peek()) run(node);
  };
  const told = canChange.value;
  useKeys([
    { keys: "p", text: told ? "keep the memory of the row" : undefined, run: among(soon, pin) },
    {
      keys: "f",
      text: told ? "forget it permanently" : undefined,
      run: among([...soon, ...archived], forget),
    },
  ]);
}

type ListProps<T> = {
  readonly of: readonly T[];
  readonly title: string;
  readonly note: string;
  readonly none?: string;
  readonly end?: ComponentChildren;
  readonly children: (one: T) => VNode;
};

function List<T>({ of, title, note, none, end, children }: ListProps<T>): VNode {
  return (
    <Section title={title} note={note} end={of.length > 0 ? end : undefined}>
      {of.length === 0 && <p class="dim">{none}</p>}
      <ol class="going">{of.slice(0, SHOWN).map(children)}</ol>
      {of.length > SHOWN && <p class="dim">and {counted(of.length - SHOWN, "other")}</p>}
    </Section>
  );
}

type RowProps = {
  readonly of: Node;
  readonly canKeep?: boolean;
  readonly onForget: (node: Node) => void;
};

function Row({ of: node, canKeep = false, onForget }: RowProps): VNode {
  const name = signed(node.content.slice(0, 80));
  return (
    <li data-node={node.id}>
      <span class="dim">
        <Moment at={endOf(node) ?? node.created_at} show={date} />
      </span>
      <TextLink step href={hrefOf("memory", node.id)} text={node.content} />
      {canChange.value && (
        <span class="do">
          {canKeep && (
            <Button kind="quiet" label={`Keep: ${name}`} onClick={() => void pin(node)}>
              Keep
            </Button>
          )}
          <Button kind="quiet" label={`Forget…: ${name}`} onClick={() => onForget(node)}>
            Forget…
          </Button>
        </span>
      )}
    </li>
  );
}

const GoneRow = ({ of }: { of: Forgotten }): VNode => (
  <li>
    <span class="dim">
      <Moment at={of.forgotten_at} show={date} />
    </span>
    <TextLink
      step
      href={hrefOf("forgetting", of.forget_id)}
      text={memoriesAndMessages(of.memories, of.events)}
    />
    <Text as="span" class="small" of={`by ${of.actor_id}`} line />
  </li>
);

const WHY = {
  evidence: "rests on nothing but what goes",
  may_repeat: "rests on other messages, too, and may repeat what goes",
  summary: "sums up what goes",
};

const WHY_STAYS = {
  other_evidence: "other messages say it, too",
  own_text: "a message with a text of its own",
  replaced: "was replaced by one that goes; it stays retired",
};

type Props = { readonly node: Node; readonly onClose: () => void };

/** Shows everything that a forgetting erases and keeps; typing a word erases exactly that. */
export function Forget({ node, onClose }: Props): VNode {
  const [keep, setKeep] = useState(false);
  const [preview, setPreview] = useState<ForgetAnswer | undefined>(undefined);
  const { isSending, failure, setFailure, send } = useSending();
  const [word, setWord] = useState("");
  const call = (confirm?: string): Promise<ForgetAnswer> => {
    const what = { user_id: node.user_id, ids: [node.id], keep_derived: keep };
    const how = confirm === undefined ? {} : { mode: "erase" as const, confirm };
    return answered(api.forget({ body: { ...what, ...how } }));
  };
  const look = (): void => {
    setPreview(undefined);
    setWord("");
    call().then(setPreview, (error: unknown) => setFailure(asFailure(error)));
  };
  useEffect(look, [node.id, keep]);
  const confirm = preview?.confirm ?? undefined;
  const erase = async (): Promise<void> => {
    let answer: ForgetAnswer | undefined;
    const refused = await send(async () => {
      answer = await call(confirm);
    }, "Forgotten.");
    // What was shown may be out of date.
    if (refused !== undefined && !isLost(refused)) look();
    if (answer?.forget_id == null) return;
    if (answer.receipt !== null) {
      receipts.set(answer.forget_id, `${JSON.stringify(answer.receipt, null, 2)}\n`);
    }
    // A step back must not show what is gone.
    forgetAnswers();
    onClose();
    go(hrefOf("forgetting", answer.forget_id));
  };
  const isMeant = confirm !== undefined && word.trim().toLowerCase() === "forget";
  return (
    <FormDialog
      title="Forget for good"
      onClose={onClose}
      save="Erase it"
      kind="danger"
      isReady={isMeant && !isSending}
      onSave={() => void erase()}
    >
      {failure !== undefined && (
        <Warning title="Nothing was erased." code={`${failure.status} · ${failure.code}`}>
          <Text of={failure.message} /> {preview !== undefined && "Below is what would go now."}
        </Warning>
      )}
      {preview === undefined && failure === undefined && (
        <Skeleton label="Looking for all that rests on it…" />
      )}
      {preview !== undefined && <Preview of={preview} keep={keep} onKeep={() => setKeep(!keep)} />}
      {confirm !== undefined && (
        <label class="type-word">
          <span>
            To erase all of it, which nobody can undo, type <b>forget</b>
          </span>
          <input
            class="inp"
            value={word}
            autocomplete="off"
            onInput={({ currentTarget }) => setWord(currentTarget.value)}
          />
        </label>
      )}
    </FormDialog>
  );
}

type PreviewProps = {
  readonly of: ForgetAnswer;
  readonly keep: boolean;
  readonly onKeep: () => void;
};

function Preview({ of, keep, onKeep }: PreviewProps): VNode {
  const { memories: goes, events, stays, counts, not_reached } = of;
  if (of.confirm === null) return <p role="status">There is nothing left to forget.</p>;
  return (
    <>
      <Listed
        title={`What goes: ${memoriesAndMessages(goes, events)}`}
        of={[
          ...goes.map((one) => ({ ...one, note: `${one.node_type}: ${WHY[one.why]}` })),
          ...events.map((one) => ({ ...one, note: words.said[one.role] })),
        ]}
      />
      <p class="small">With them go {besides(counts)}.</p>
      {stays.length === 0 ? (
        <p class="small">Nothing that is related to it stays.</p>
      ) : (
        <Listed
          title={`What stays: ${counted(stays.length, "text")}`}
          of={stays.map((one) => ({ ...one, note: WHY_STAYS[one.why] }))}
        />
      )}
      {(keep || goes.some(({ why }) => why === "may_repeat")) && (
        <label class="check">
          <input type="checkbox" checked={keep} onChange={onKeep} />
          Keep memories that rest on other messages, too
        </label>
      )}
      {not_reached.length > 0 && <p class="small">Not reached: {not_reached.join("; ")}.</p>}
    </>
  );
}

type Excerpt = { readonly id: string; readonly excerpt: string; readonly note: string };

export const Listed = ({ title, of }: { title: string; of: readonly Excerpt[] }): VNode => (
  <div>
    <b>{title}</b>
    <ul class="preview goes" tabIndex={0} aria-label={title}>
      {of.map(({ id, excerpt, note }) => (
        <li key={id}>
          <Text of={excerpt} line />
          <span class="small">{note}</span>
        </li>
      ))}
    </ul>
  </div>
);

const STAGES = {
  logical:
    "no longer found; the bytes go as soon as no other program reads there, or when it is opened next",
  physical: "gone, with their bytes",
};

function Gone({ id }: { id: string }): VNode {
  const query = useQuery(`forgotten ${id}`, () =>
    answered(api.getForgetting({ path: { forget_id: id } })),
  );
  return (
    <>
      <Crumbs of={[<a href={hrefOf("forgetting")}>Forgetting</a>]} />
      <Title data={query.data} path={`/v1/forget/${id}`}>
        Forgotten for good
      </Title>
      <Loaded of={query}>
        {(data) => (
          <>
            <Erased of={data} />
            <Receipt id={id} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Erased({ of }: { of: Forgotten }): VNode {
  const { receipt_sha256: hash } = of;
  return (
    <section class="sect">
      <Facts
        of={[
          ["when", <Moment at={of.forgotten_at} />],
          ["by", <Text of={of.actor_id} line />],
          ["what went", memoriesAndMessages(of.memories, of.events)],
          ["besides", besides(of.counts)],
          ["stage", STAGES[of.stage]],
          ["id", of.forget_id, true],
          ["receipt", hash === null ? "none was made yet" : `SHA-256 ${hash}`, true],
        ]}
      />
    </section>
  );
}

function memoriesAndMessages(nodes: readonly unknown[], events: readonly unknown[]): string {
  return `${memoryCount(nodes.length)}, ${counted(events.length, "message")}`;
}

function besides({ edges, operations, receipts: answers, blobs }: ErasureCounts): string {
  const texts = `the texts of ${counted(operations, "log entry", "log entries")}`;
  const pictures = blobs > 0 ? `, ${counted(blobs, "picture")}` : "";
  return `${counted(edges, "connection")}, ${texts}, ${counted(answers, "receipt")} of answers${pictures}`;
}

function Receipt({ id }: { id: string }): VNode {
  const receipt = receipts.get(id);
  const file = `forget-${id}.json`;
  return (
    <Section title="Receipt">
      <p class="dim">
        {receipt === undefined
          ? "It was given once, to the one who erased it. Its hash is kept."
          : "It proves what was erased. It is given once, and only its hash is kept: save it now. This tab has it until it is closed or loaded again."}
      </p>
      {receipt !== undefined && (
        <p class="run">
          <Button kind="main" onClick={() => save(file, receipt)}>
            Save it as a file
          </Button>
          <CopyButton text={receipt} />
        </p>
      )}
      <p class="small apart">To check a receipt:</p>
      <Command>{`svc forget verify memory.pack ${file}`}</Command>
    </Section>
  );
}

/** Receipts given to this tab, as JSON by the id of their forgetting. They are not given again. */
const receipts = new Map<string, string>();
// Another key may belong to another person.
key.subscribe(() => receipts.clear());

const BEGUN_MS = 60_000;

/** Lets the browser save a receipt, through a blob address, so that no download list contains the text. */
function save(file: string, receipt: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([receipt], { type: "application/json" }));
  link.download = file;
  link.click();
  later(BEGUN_MS, () => URL.revokeObjectURL(link.href));
}
