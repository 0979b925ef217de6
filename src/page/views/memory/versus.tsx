import type { VNode } from "preact";
import { storedSpeaker } from "../../../domain/speaker.ts";
import type { Node, NotedContradiction } from "../../client/types.gen.ts";
import { hrefOf } from "../../data/place.ts";
import { canChange } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Button, Head, Moment } from "../../parts/controls.tsx";
import { date, share } from "../../parts/format.ts";
import { useKeys } from "../../parts/keys.ts";
import { Text } from "../../parts/text.tsx";
import { opponentsOf, useOpenContradictions } from "../conflicts/open.ts";
import { settle } from "../conflicts/settle.ts";
import { writing } from "../conflicts/write.tsx";

/** The memory and what contradicts it, side by side. The page recommends neither. */
export function Versus({ node }: { node: Node }): VNode | null {
  const [found] = opponentsOf(node.id, useOpenContradictions());
  if (found === undefined) return null;
  const { pair, other } = found;
  return (
    <section class="sect">
      <Head title={t.memory.versus.title} note={notedBy(pair)} />
      <Pair left={node} right={other} isHere />
    </section>
  );
}

export function notedBy({ actor, noted_at }: NotedContradiction): string {
  return t.memory.versus.noted(actor ?? t.memory.versus.unknown, date(noted_at));
}

type PairProps = {
  readonly left: Node;
  readonly right: Node;
  /** Whether the left one is the memory of the page. */
  readonly isHere?: boolean;
};

/** Two equal halves with equal buttons, and a key for each. */
export function Pair({ left, right, isHere = false }: PairProps): VNode {
  const { versus } = t.memory;
  const write = (): void => {
    writing.value = [left, right];
  };
  useKeys(
    canChange.value
      ? [
          { keys: "1", text: versus.keepThis, run: () => void settle(left, right) },
          { keys: "2", text: versus.keepOther, run: () => void settle(right, left) },
          { keys: "3", text: t.timeline.keys.write, run: write },
        ]
      : [],
  );
  return (
    <>
      <div class="versus">
        <Side
          node={left}
          tag={isHere ? versus.this : versus.first}
          keyName="1"
          name={versus.keepThis}
          onKeep={() => void settle(left, right)}
          isLink={!isHere}
        />
        <Side
          node={right}
          tag={isHere ? versus.other : versus.second}
          keyName="2"
          name={versus.keepOther}
          onKeep={() => void settle(right, left)}
          isLink
        />
      </div>
      <p>
        {versus.what}
        {canChange.value && (
          <>
            {" "}
            {t.conflicts.writeHint}{" "}
            <button type="button" class="link" onClick={write} aria-keyshortcuts="3">
              {t.conflicts.write}
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
  readonly keyName: string;
  readonly name: string;
  readonly onKeep: () => void;
  readonly isLink: boolean;
};

function Side({ node, tag, keyName, name, onKeep, isLink }: SideProps): VNode {
  const { versus } = t.memory;
  const speaker = storedSpeaker(node.metadata ?? undefined);
  const text = <Text of={node.content.slice(0, 600)} />;
  return (
    <div class="side">
      <p class="tag">
        <span>{tag}</span>
        <kbd aria-hidden="true">{keyName}</kbd>
      </p>
      <p class="text">{isLink ? <a href={hrefOf("memory", node.id)}>{text}</a> : text}</p>
      <dl>
        {speaker !== undefined && (
          <>
            <dt>{t.memory.facts.speaker}</dt>
            <dd>
              <Text of={speaker} line />
            </dd>
          </>
        )}
        <dt>{versus.source}</dt>
        <dd>{t.words.source[node.source_type]}</dd>
        <dt>{versus.when}</dt>
        <dd>
          <Moment at={node.created_at} />
        </dd>
        <dt>{versus.certainty}</dt>
        <dd>
          {t.words.knowledge[node.epistemic_type]}, {share(node.confidence)}
        </dd>
      </dl>
      {canChange.value && (
        <Button kind="main" keyName={keyName} onClick={onKeep}>
          {name}
        </Button>
      )}
    </div>
  );
}
