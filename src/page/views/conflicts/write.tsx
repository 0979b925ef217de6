import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { getNodes, resolveContradiction, store, supersedeNode } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { callIds, tried } from "../../data/changes.ts";
import type { CallFailure } from "../../data/failure.ts";
import { answered } from "../../data/http.ts";
import { t } from "../../language/texts.ts";
import { FormDialog, TextField } from "../../parts/dialog.tsx";
import { Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { Words } from "../../parts/word-diff.tsx";
import { canBeReplaced } from "../memory/actions.tsx";
import { Refused } from "../memory/refused.tsx";

type Pair = readonly [Node, Node];

/** Two memories of which neither is right, while the truth is being written; it outlives their contradiction. */
export const writing = signal<Pair | undefined>(undefined);

/** The dialog, wherever contradictions are shown. */
export function Writing(): VNode | null {
  const pair = writing.value;
  return pair === undefined ? null : <Write key={pair.map(({ id }) => id).join()} opened={pair} />;
}

/** A text in the place of both. */
function Write({ opened }: { opened: Pair }): VNode {
  const [text, setText] = useState("");
  const [isSending, setSending] = useState(false);
  const change = useWriting(opened);
  const { dialog } = t.conflicts;
  const close = (): void => {
    writing.value = undefined;
  };
  const save = async (): Promise<void> => {
    setSending(true);
    if (await change.save(text.trim())) close();
    setSending(false);
  };
  return (
    <FormDialog
      title={dialog.title}
      onClose={close}
      save={dialog.save}
      isReady={text.trim() !== "" && !isSending}
      onSave={save}
    >
      <TextField label={dialog.text} value={text} onInput={setText} />
      {opened.map(({ id, content }) =>
        text.trim() === "" ? (
          <blockquote key={id} class="src">
            <Text of={content.slice(0, 1200)} />
          </blockquote>
        ) : (
          <Words key={id} before={content} after={text} />
        ),
      )}
      <p class="small">{dialog.what}</p>
      {change.notice}
    </FormDialog>
  );
}

/**
 * Stores the text, settles the contradiction and replaces what is still held, in this order: whatever is refused, the text is not
 * lost, and trying again does not repeat what was done.
 */
function useWriting(opened: Pair): {
  readonly notice: VNode | null;
  readonly save: (text: string) => Promise<boolean>;
} {
  const [seen, setSeen] = useState<Pair>(opened);
  const [isOther, setOther] = useState(false);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  const [stored, setStored] = useState<string | undefined>(undefined);
  const nameOf = useMemo(callIds, []);
  const save = async (text: string): Promise<boolean> => {
    setOther(false);
    const refused = await tried(async () => {
      const now = stored === undefined ? await readPair(opened) : opened;
      // What another has decided meanwhile is shown before anything is written over it.
      if (stored === undefined && statesOf(now) !== statesOf(seen)) {
        setSeen(now);
        setOther(true);
        throw new OtherChange();
      }
      const id = await storeText(text, opened, nameOf);
      setStored(id);
      await settle(opened, nameOf);
      await replaceHeld(opened, id, nameOf);
    }, t.changes.written);
    setFailure(refused);
    return refused === undefined;
  };
  const { dialog } = t.conflicts;
  const notice =
    failure === undefined ? null : isOther ? (
      <Warning title={t.states.refused}>{dialog.settled(statesOf(seen))}</Warning>
    ) : (
      <>
        {stored !== undefined && <p role="status">{dialog.partly}</p>}
        <Refused of={failure} />
      </>
    );
  return { notice, save };
}

/** Somebody else has changed the memories; told by the dialog. */
class OtherChange extends Error {}

type Names = ReturnType<typeof callIds>;

function statesOf(pair: Pair): string {
  return pair.map(({ lifecycle_state: state }) => t.words.state[state]).join(", ");
}

/** Both as they are now. @throws CallFailure */
async function readPair(pair: Pair): Promise<Pair> {
  const [a, b] = pair;
  const body = { node_ids: [a.id, b.id], user_id: a.user_id };
  const { nodes } = await answered(getNodes({ body }));
  const nowOf = (node: Node): Node => nodes.find(({ id }) => id === node.id) ?? node;
  return [nowOf(a), nowOf(b)];
}

/** @returns the id of the new memory */
async function storeText(content: string, [a]: Pair, nameOf: Names): Promise<string> {
  const { user_id, node_type, scope } = a;
  const body = { content, user_id, node_type, scope, role: "user" as const };
  return (await answered(store({ body, headers: nameOf(["store", body]) }))).node_id;
}

/** While both are contested, what was said first is kept, to be replaced. */
async function settle(pair: Pair, nameOf: Names): Promise<void> {
  const [a, b] = await readPair(pair);
  if (a.lifecycle_state !== "contested" || b.lifecycle_state !== "contested") return;
  const body = { winner_id: a.id, loser_id: b.id };
  await answered(resolveContradiction({ body, headers: nameOf(["resolve", body]) }));
}

async function replaceHeld(pair: Pair, id: string, nameOf: Names): Promise<void> {
  for (const node of await readPair(pair)) {
    if (!canBeReplaced(node)) continue;
    const body = { old_node_id: node.id, new_node_id: id };
    await answered(supersedeNode({ body, headers: nameOf(["replace", body]) }));
  }
}
