import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { store } from "../../client/sdk.gen.ts";
import type { Node } from "../../client/types.gen.ts";
import { change } from "../../data/changes.ts";
import { answered } from "../../data/http.ts";
import { go, hrefOf } from "../../data/place.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Words } from "../../parts/word-diff.tsx";

/** A new text in the place of an old one: both in one step, and the old one stays in the chain. */
export function Correct({ node, onClose }: { node: Node; onClose: () => void }): VNode {
  const [text, setText] = useState(node.content);
  const [isSending, setSending] = useState(false);
  const { dialog } = t.memory;
  const isSame = text.trim() === node.content.trim() || text.trim() === "";
  const save = async (): Promise<void> => {
    setSending(true);
    let id: string | undefined;
    const isDone = await change(async () => {
      const body = {
        content: text.trim(),
        user_id: node.user_id,
        role: "user" as const,
        node_type: node.node_type,
        scope: node.scope,
        session_id: node.session_id,
        supersedes: [node.id],
      };
      id = (await answered(store({ body }))).node_id;
    }, t.changes.corrected);
    setSending(false);
    // What was written stays where it was refused.
    if (!isDone || id === undefined) return;
    onClose();
    go(hrefOf("memory", id));
  };
  return (
    <Dialog title={dialog.title} onClose={onClose} class="wide">
      <form
        class="correct"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isSame) void save();
        }}
      >
        <label>
          <span class="small">{dialog.text}</span>
          <textarea
            rows={4}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        {!isSame && <Words before={node.content} after={text} />}
        <p class="small">{isSame ? dialog.same : dialog.what}</p>
        <div class="acts">
          <Button kind="main" submits disabled={isSame || isSending}>
            {dialog.save}
          </Button>
          <Button onClick={onClose}>{t.parts.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
