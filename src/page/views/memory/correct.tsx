import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import { getNode, pinNode, store } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { callIds, tried } from "../../data/changes.ts";
import type { CallFailure } from "../../data/failure.ts";
import { answered } from "../../data/http.ts";
import { go, hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { FormDialog, TextField } from "../../parts/dialog.tsx";
import { Text } from "../../parts/text.tsx";
import { Words } from "../../parts/word-diff.tsx";
import { Refused } from "./refused.tsx";

/** What a correction has run into: the memory as it is now, and what replaced it meanwhile. */
type Met = {
  readonly failure: CallFailure;
  readonly now: Node | undefined;
  readonly by: Node | undefined;
};

/** A new text in the place of an old one: both in one step, and the old one stays in the chain. */
export function Correct({ node, onClose }: { node: Node; onClose: () => void }): VNode {
  const [base, setBase] = useState(node);
  const [text, setText] = useState(node.content);
  const [isSending, setSending] = useState(false);
  const [met, setMet] = useState<Met | undefined>(undefined);
  const nameOf = useMemo(callIds, []);
  const { dialog } = t.memory;
  const isSame = text.trim() === base.content.trim() || text.trim() === "";
  const save = async (): Promise<void> => {
    setSending(true);
    let id: string | undefined;
    const body = bodyOf(base, text);
    const headers = nameOf(body);
    const failure = await tried(async () => {
      id = (await answered(store({ body, headers }))).node_id;
      if (base.pinned) await answered(pinNode({ path: { node_id: id }, body: { pinned: true } }));
    }, t.changes.corrected);
    setSending(false);
    if (failure !== undefined) {
      // What was written stays where it was refused.
      setMet(await meet(base, failure));
      return;
    }
    onClose();
    if (id !== undefined) go(hrefOf("memory", id));
  };
  const take = (other: Node): void => {
    setBase(other);
    setMet(undefined);
  };
  return (
    <FormDialog
      title={dialog.title}
      onClose={onClose}
      save={dialog.save}
      isReady={!isSame && !isSending}
      onSave={save}
    >
      <TextField label={dialog.text} value={text} onInput={setText} />
      {!isSame && <Words before={base.content} after={text} />}
      <p class="small">{isSame ? dialog.same : dialog.what}</p>
      {met !== undefined && <MetWith of={met} onTake={take} />}
    </FormDialog>
  );
}

/** A correction changes the text alone: times, retention and place stay. */
function bodyOf(node: Node, text: string) {
  const { id, user_id, node_type, scope, session_id, event_time, valid_to, ttl_days } = node;
  const content = text.trim();
  // Without a time that somebody named, it is that of its storing, and the correction begins to hold now.
  const isNamed = valid_to !== null || node.valid_from !== node.created_at;
  const times = { event_time, valid_from: isNamed ? node.valid_from : null, valid_to, ttl_days };
  const about = { user_id, node_type, scope, session_id, ...times };
  return { ...about, content, role: "user" as const, supersedes: [id] };
}

async function meet(base: Node, failure: CallFailure): Promise<Met> {
  const read = async (id: string): Promise<Node | undefined> =>
    await answered(getNode({ path: { node_id: id } })).catch(() => undefined);
  const now = await read(base.id);
  const by = now?.superseded_by == null ? undefined : await read(now.superseded_by);
  return { failure, now, by };
}

function MetWith({ of, onTake }: { of: Met; onTake: (other: Node) => void }): VNode {
  const { failure, now, by } = of;
  return (
    <>
      <Refused of={failure} now={now} />
      {by !== undefined && (
        <div class="met">
          <p class="small">{t.memory.refused.replacedBy}</p>
          <p class="clamp">
            <Text of={by.content} line />
          </p>
          <Button onClick={() => onTake(by)}>{t.memory.refused.instead}</Button>
        </div>
      )}
    </>
  );
}
