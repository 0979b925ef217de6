import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { forget } from "../../client/sdk.gen.ts";
import type { ForgetAnswer, Node } from "../../client/types.gen.ts";
import { tried } from "../../data/changes.ts";
import { asFailure, type CallFailure, isLost } from "../../data/failure.ts";
import { answered } from "../../data/http.ts";
import { go, hrefOf } from "../../data/place.ts";
import { forgetAnswers } from "../../data/query.ts";
import { t } from "../../language/texts.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { Skeleton, Warning } from "../../parts/states.tsx";
import { Text } from "../../parts/text.tsx";
import { keepReceipt } from "./receipts.ts";

type Props = { readonly node: Node; readonly onClose: () => void };

/** Shows all that a forgetting erases and all that stays; a typed word erases exactly that. */
export function Forget({ node, onClose }: Props): VNode {
  const words = t.forgetting.dialog;
  const [keep, setKeep] = useState(false);
  const [preview, setPreview] = useState<ForgetAnswer | undefined>(undefined);
  const [failure, setFailure] = useState<CallFailure | undefined>(undefined);
  const [word, setWord] = useState("");
  const [isSending, setSending] = useState(false);
  const call = (confirm?: string): Promise<ForgetAnswer> => {
    const what = { user_id: node.user_id, ids: [node.id], keep_derived: keep };
    const how = confirm === undefined ? {} : { mode: "erase" as const, confirm };
    return answered(forget({ body: { ...what, ...how } }));
  };
  const look = (): void => {
    setPreview(undefined);
    setWord("");
    call().then(setPreview, (error: unknown) => setFailure(asFailure(error)));
  };
  useEffect(look, [node.id, keep]);
  const erase = async (confirm: string): Promise<void> => {
    setSending(true);
    let answer: ForgetAnswer | undefined;
    const refused = await tried(async () => {
      answer = await call(confirm);
    }, words.done);
    setSending(false);
    setFailure(refused);
    // What was shown may be no longer true.
    if (refused !== undefined && !isLost(refused)) look();
    if (answer?.forget_id == null) return;
    if (answer.receipt !== null) keepReceipt(answer.forget_id, answer.receipt);
    // A step back must not show what is gone.
    forgetAnswers();
    onClose();
    go(hrefOf("forgetting", answer.forget_id));
  };
  const confirm = preview?.confirm ?? undefined;
  const isMeant = confirm !== undefined && word.trim().toLowerCase() === words.word;
  return (
    <FormDialog
      title={words.title}
      onClose={onClose}
      save={words.erase}
      kind="danger"
      isReady={isMeant && !isSending}
      onSave={() => {
        if (confirm !== undefined) void erase(confirm);
      }}
    >
      {failure !== undefined && <NotErased of={failure} isShownAgain={preview !== undefined} />}
      {preview === undefined && failure === undefined && <Skeleton label={words.looking} />}
      {preview !== undefined && <Preview of={preview} keep={keep} onKeep={() => setKeep(!keep)} />}
      {confirm !== undefined && (
        <label class="type-word">
          <span>
            {words.type} <b>{words.word}</b>
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

type NotErasedProps = { readonly of: CallFailure; readonly isShownAgain: boolean };

function NotErased({ of, isShownAgain }: NotErasedProps): VNode {
  const { refused, again } = t.forgetting.dialog;
  return (
    <Warning title={refused} code={t.states.code(of.status, of.code)}>
      <Text of={of.message} /> {isShownAgain && again}
    </Warning>
  );
}

type PreviewProps = {
  readonly of: ForgetAnswer;
  readonly keep: boolean;
  readonly onKeep: () => void;
};

function Preview({ of, keep, onKeep }: PreviewProps): VNode {
  const words = t.forgetting.dialog;
  const { memories, events, stays, counts, not_reached } = of;
  if (of.confirm === null) return <p role="status">{words.nothing}</p>;
  return (
    <>
      <Listed title={words.goes(memories.length, events.length)}>
        {memories.map(({ id, node_type, why, excerpt }) => (
          <Item key={id} text={excerpt} note={`${t.words.type[node_type]}: ${words.why[why]}`} />
        ))}
        {events.map(({ id, role, excerpt }) => (
          <Item key={id} text={excerpt} note={t.memory.life.said[role]} />
        ))}
      </Listed>
      <p class="small">{words.withThem(words.besides(counts))}</p>
      {stays.length === 0 ? (
        <p class="small">{words.staysNothing}</p>
      ) : (
        <Listed title={words.stays(stays.length)}>
          {stays.map(({ id, why, excerpt }) => (
            <Item key={id} text={excerpt} note={words.whyStays[why]} />
          ))}
        </Listed>
      )}
      {(keep || memories.some(({ why }) => why === "may_repeat")) && (
        <label class="check">
          <input type="checkbox" checked={keep} onChange={onKeep} />
          {words.keepDerived}
        </label>
      )}
      {not_reached.length > 0 && <p class="small">{words.notReached(not_reached.join("; "))}</p>}
    </>
  );
}

function Listed({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <div>
      <b>{title}</b>
      <ul class="preview goes" tabIndex={0} aria-label={title}>
        {children}
      </ul>
    </div>
  );
}

function Item({ text, note }: { text: string; note: string }): VNode {
  return (
    <li>
      <Text of={text} line />
      <span class="small">{note}</span>
    </li>
  );
}
