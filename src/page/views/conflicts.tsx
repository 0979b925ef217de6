import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { storedSpeaker } from "../../domain/speaker.ts";
import * as api from "../client/sdk.gen.ts";
import type { Node, NotedContradiction } from "../client/types.gen.ts";
import { callId, callIds, canBeReplaced, change, tried } from "../data/changes.ts";
import { answered, type CallFailure } from "../data/http.ts";
import { readNodes } from "../data/nodes.ts";
import { assign, hrefOf } from "../data/place.ts";
import { canChange, useQuery } from "../data/server.ts";
import { Button, Facts, FormDialog, Moment, Section, TextField } from "../parts/controls.tsx";
import { date, number, share, words } from "../parts/format.ts";
import { useKeys } from "../parts/keys.ts";
import { Box, Loaded, Refused, Warning } from "../parts/states.tsx";
import { Text, Words } from "../parts/text.tsx";

export function Conflicts(): VNode {
  const query = useContradictions();
  const [at, setAt] = useState(0);
  const count = query.data?.contradictions.length ?? 0;
  const move = (by: number): void => {
    if (count > 0) setAt((now) => (Math.min(now, count - 1) + by + count) % count);
  };
  useKeys([
    { keys: "j", text: "next row", run: () => move(1) },
    { keys: "k", text: "previous row", run: () => move(-1) },
    { keys: "s", text: "Later", run: () => move(1) },
  ]);
  return (
    <>
      <h1 class="ttl">Conflicts</h1>
      <Writing />
      <Loaded of={query}>
        {({ contradictions, has_more }) => {
          const shown = Math.min(at, contradictions.length - 1);
          const pair = contradictions[shown];
          if (pair === undefined) {
            return (
              <Box title="Nothing to decide">
                <p>
                  When an assistant notes that two memories cannot both be true, they are shown here
                  side by side.
                </p>
              </Box>
            );
          }
          return (
            <Section
              key={pair.edge_id}
              title={`${number(shown + 1)} of ${number(contradictions.length)}${has_more ? " and more" : ""}`}
              note={notedBy(pair)}
              end={
                <>
                  <a href={hrefOf("memory", pair.node_a.id)}>Open the memory</a>
                  <Button kind="quiet" keyName="s" onClick={() => move(1)}>
                    Later
                  </Button>
                </>
              }
            >
              <Pair left={pair.node_a} right={pair.node_b} />
            </Section>
          );
        }}
      </Loaded>
    </>
  );
}

const SHOWN = 100;

function useContradictions() {
  return useQuery("contradictions", (user_id) =>
    answered(api.listContradictions({ query: { user_id, status: "open", limit: SHOWN } })),
  );
}

export function useOpenContradictions(): readonly NotedContradiction[] {
  return useContradictions().data?.contradictions ?? [];
}

/** The pairs that a memory is in, with the other memory. */
export function opponentsOf(id: string, pairs: readonly NotedContradiction[]) {
  return pairs.flatMap((pair) => {
    const { node_a: a, node_b: b } = pair;
    return a.id === id ? [{ pair, other: b }] : b.id === id ? [{ pair, other: a }] : [];
  });
}

/** The memory and what contradicts it, side by side. The page recommends neither. */
export function Versus({ node }: { node: Node }): VNode | null {
  const [found] = opponentsOf(node.id, useOpenContradictions());
  if (found === undefined) return null;
  const { pair, other } = found;
  return (
    <Section title="Two memories cannot both be true" note={notedBy(pair)}>
      <Pair left={node} right={other} isHere />
    </Section>
  );
}

function notedBy({ actor, noted_at }: NotedContradiction): string {
  return `noted by ${actor ?? "an unnamed caller"} on ${date(noted_at)}; assistants get both marked “contested”`;
}

/** Two equal halves with equal buttons, and a key for each. @param isHere whether the left one is the page's memory */
function Pair(props: { left: Node; right: Node; isHere?: boolean }): VNode {
  const { left, right, isHere = false } = props;
  const write = (): void => assign(writing, [left, right]);
  const sides = [
    { keys: "1", text: "Keep this one", run: () => void settle(left, right) },
    { keys: "2", text: "Keep that one", run: () => void settle(right, left) },
  ] as const;
  const [first, second] = sides;
  useKeys(canChange.value ? [...sides, { keys: "3", text: "write what is true", run: write }] : []);
  return (
    <>
      <div class="versus">
        <Side node={left} tag={isHere ? "this memory" : "first"} keep={first} isLink={!isHere} />
        <Side node={right} tag={isHere ? "the other" : "second"} keep={second} isLink />
      </div>
      <p>
        The one that is kept becomes stable; the other is deprecated and no longer found. Both stay
        in the log.
        {canChange.value && (
          <>
            {" "}
            Neither right?{" "}
            <button type="button" class="link" onClick={write} aria-keyshortcuts="3">
              Write what is true
            </button>{" "}
            <kbd aria-hidden="true">3</kbd>
          </>
        )}
      </p>
    </>
  );
}

type SideProps = {
  readonly node: Node;
  readonly tag: string;
  readonly keep: { readonly keys: string; readonly text: string; readonly run: () => void };
  readonly isLink: boolean;
};

function Side({ node, tag, keep, isLink }: SideProps): VNode {
  const speaker = storedSpeaker(node.metadata ?? undefined);
  const text = <Text of={node.content.slice(0, 600)} />;
  return (
    <div class="side">
      <p class="tag">
        <span>{tag}</span>
        <kbd aria-hidden="true">{keep.keys}</kbd>
      </p>
      <p class="text">{isLink ? <a href={hrefOf("memory", node.id)}>{text}</a> : text}</p>
      <Facts
        class=""
        of={[
          speaker !== undefined && ["said by", <Text of={speaker} line />],
          ["source", words.source[node.source_type]],
          ["when", <Moment at={node.created_at} />],
          ["certainty", `${words.knowledge[node.epistemic_type]}, ${share(node.confidence)}`],
        ]}
      />
      {canChange.value && (
        <Button kind="main" keyName={keep.keys} onClick={keep.run}>
          {keep.text}
        </Button>
      )}
    </div>
  );
}

/** Ends a contradiction: one is kept, the other deprecated. @returns whether it succeeded */
async function settle(winner: Node, loser: Node): Promise<boolean> {
  const headers = callId();
  const body = { winner_id: winner.id, loser_id: loser.id };
  return await change(() => answered(api.resolveContradiction({ body, headers })), "Settled.");
}

type Two = readonly [Node, Node];

/** Two memories that are both wrong, while the correct one is being written; survives their contradiction. */
const writing = signal<Two | undefined>(undefined);

export function Writing(): VNode | null {
  const pair = writing.value;
  return pair === undefined ? null : <Write key={pair.map(({ id }) => id).join()} opened={pair} />;
}

function Write({ opened }: { opened: Two }): VNode {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const change = useWriting(opened);
  const close = (): void => assign(writing, undefined);
  const save = async (): Promise<void> => {
    setSending(true);
    if (await change.save(text.trim())) close();
    setSending(false);
  };
  return (
    <FormDialog
      title="Write what is true"
      onClose={close}
      save="Write it"
      isReady={text.trim() !== "" && !isSending}
      onSave={save}
    >
      <TextField label="What is true" value={text} onInput={setText} />
      {opened.map(({ id, content }) =>
        text.trim() === "" ? (
          <Text as="blockquote" key={id} class="src" of={content.slice(0, 1200)} />
        ) : (
          <Words key={id} before={content} after={text} />
        ),
      )}
      <p class="small">
        Your text is stored first. Then the contradiction is settled: your text replaces what was
        said first, and what was said against it is deprecated. Both are no longer found and stay in
        the log.
      </p>
      {change.notice}
    </FormDialog>
  );
}

/**
 * Stores the text, resolves the contradiction and replaces the remaining memory, in this order: after a rejection the text is not lost, and
 * retrying does not repeat completed steps.
 */
function useWriting(opened: Two) {
  const [seen, setSeen] = useState<Two>(opened);
  const [isOther, setOther] = useState(false);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  const [stored, setStored] = useState<string | undefined>(undefined);
  const nameOf = useMemo(callIds, []);
  const save = async (text: string): Promise<boolean> => {
    setOther(false);
    const refused = await tried(async () => {
      const now = stored === undefined ? await readPair(opened) : opened;
      // Another user's decision is shown before anything is overwritten.
      if (stored === undefined && statesOf(now) !== statesOf(seen)) {
        setSeen(now);
        setOther(true);
        throw new Error("changed meanwhile");
      }
      const id = await storeText(text, opened, nameOf);
      setStored(id);
      await settleOpen(opened, nameOf);
      await replaceHeld(opened, id, nameOf);
    }, "Written, and the contradiction is settled. The old texts stay in the log.");
    setFailure(refused);
    return refused === undefined;
  };
  const notice =
    failure === undefined ? null : isOther ? (
      <Warning title="Not changed.">
        Meanwhile these memories were changed elsewhere: they are {statesOf(seen)} now. Nothing of
        yours was written. Go on, and your text replaces what is still held of them.
      </Warning>
    ) : (
      <>
        {stored !== undefined && (
          <p role="status">
            Your text is stored. What follows was refused; try again to finish it.
          </p>
        )}
        <Refused of={failure} />
      </>
    );
  return { notice, save };
}

type Names = ReturnType<typeof callIds>;

const statesOf = (pair: Two): string => pair.map((node) => node.lifecycle_state).join(", ");

/** Both in their current form. @throws CallFailure */
async function readPair(pair: Two): Promise<Two> {
  const [a, b] = pair;
  const nodes = await readNodes([a.id, b.id], a.user_id);
  const nowOf = (node: Node): Node => nodes.find(({ id }) => id === node.id) ?? node;
  return [nowOf(a), nowOf(b)];
}

/** @returns the id of the new memory */
async function storeText(content: string, [a]: Two, nameOf: Names): Promise<string> {
  const { user_id, node_type, scope } = a;
  const body = { content, user_id, node_type, scope, role: "user" as const };
  return (await answered(api.store({ body, headers: nameOf(["store", body]) }))).node_id;
}

/** While both are contested, the earlier one is kept, to be replaced. */
async function settleOpen(pair: Two, nameOf: Names): Promise<void> {
  const [a, b] = await readPair(pair);
  if (a.lifecycle_state !== "contested" || b.lifecycle_state !== "contested") return;
  const body = { winner_id: a.id, loser_id: b.id };
  await answered(api.resolveContradiction({ body, headers: nameOf(["resolve", body]) }));
}

async function replaceHeld(pair: Two, id: string, nameOf: Names): Promise<void> {
  for (const node of await readPair(pair)) {
    if (!canBeReplaced(node)) continue;
    const body = { old_node_id: node.id, new_node_id: id };
    await answered(api.supersedeNode({ body, headers: nameOf(["replace", body]) }));
  }
}
