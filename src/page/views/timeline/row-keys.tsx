import type { VNode } from "preact";
import { useState } from "preact/hooks";
import type { Node } from "../../client/types.gen.ts";
import { archive, pin, promote, reinforce } from "../../data/changes.ts";
import { go, hrefOf } from "../../data/place.ts";
import { canChange } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { filterKey } from "../../parts/filter.tsx";
import { type KeyAction, useKeys } from "../../parts/keys.ts";
import { Text } from "../../parts/text.tsx";
import { canBeReplaced } from "../memory/actions.tsx";
import type { Days } from "./days.ts";
import type { Rows } from "./rows.ts";

type RowKeys = {
  readonly active: number | undefined;
  readonly selected: ReadonlySet<string>;
  readonly activate: (index: number) => void;
  /** Selects the rows from the active one to another; those that have not been read yet are left out. */
  readonly selectTo: (index: number) => void;
  /** What can be done with the selected rows; null without any. */
  readonly bar: VNode | null;
  readonly dialog: VNode | null;
};

/** Keys that go from row to row, and those that change the memory of a row. */
export function useRowKeys(days: Days, rows: Rows, show: (index: number) => void): RowKeys {
  const [active, setActive] = useState<number | undefined>(undefined);
  const [selected, setSelected] = useState<ReadonlyMap<string, Node>>(new Map());
  const [isAsking, setAsking] = useState(false);
  const move = (to: number): void => {
    const index = Math.max(0, Math.min(days.total - 1, to));
    setActive(index);
    show(index);
  };
  const node = active === undefined ? undefined : rows.at(active);
  const toggle = (): void => {
    if (node === undefined) return;
    const next = new Map(selected);
    if (!next.delete(node.id)) next.set(node.id, node);
    setSelected(next);
  };
  const selectTo = (index: number): void => {
    const start = active ?? index;
    const next = new Map(selected);
    for (let at = Math.min(start, index); at <= Math.max(start, index); at += 1) {
      const one = rows.at(at);
      if (one !== undefined) next.set(one.id, one);
    }
    setSelected(next);
    move(index);
  };
  const askOrArchive = (): void => {
    if (selected.size > 0) setAsking(true);
    else if (node !== undefined) archive([node]);
  };
  const { keys } = t.timeline;
  useKeys([
    { keys: "j", text: t.keys.next, run: () => move(active === undefined ? 0 : active + 1) },
    { keys: "k", text: t.keys.before, run: () => move((active ?? 1) - 1) },
    { keys: "ArrowDown", run: () => move(active === undefined ? 0 : active + 1) },
    { keys: "ArrowUp", run: () => move((active ?? 1) - 1) },
    { keys: "Home", text: t.keys.first, run: () => move(0) },
    { keys: "End", text: t.keys.last, run: () => move(days.total - 1) },
    filterKey(),
    ...(canChange.value
      ? [
          { keys: " ", text: keys.select, run: toggle },
          { keys: "J", text: keys.selectNext, run: () => selectTo((active ?? -1) + 1) },
          { keys: "K", text: keys.selectBefore, run: () => selectTo((active ?? 1) - 1) },
          { keys: "x", text: keys.archive, run: askOrArchive },
          ...changesOf(node),
        ]
      : []),
  ]);
  const nodes = [...selected.values()];
  const finish = (isDone: boolean): void => {
    setAsking(false);
    if (!isDone) return;
    archive(nodes);
    setSelected(new Map());
  };
  return {
    active,
    selected: new Set(selected.keys()),
    activate: setActive,
    selectTo,
    bar:
      nodes.length === 0 ? null : (
        <SelectedBar
          count={nodes.length}
          onArchive={askOrArchive}
          onClear={() => setSelected(new Map())}
        />
      ),
    dialog: isAsking ? <ArchiveDialog nodes={nodes} onEnd={finish} /> : null,
  };
}

function changesOf(node: Node | undefined): readonly KeyAction[] {
  const { keys } = t.timeline;
  const withNode = (run: (node: Node) => unknown) => (): void => {
    if (node !== undefined) run(node);
  };
  return [
    {
      keys: "e",
      text: keys.correct,
      run: withNode((one) => {
        if (canBeReplaced(one)) go(hrefOf("memory", one.id, { do: "correct" }));
      }),
    },
    { keys: "m", text: keys.promote, run: withNode(promote) },
    { keys: "+", text: keys.reinforce, run: withNode(reinforce) },
    { keys: "p", text: keys.pin, run: withNode(pin) },
  ];
}

function SelectedBar(props: { count: number; onArchive: () => void; onClear: () => void }): VNode {
  return (
    <p class="selected" role="status">
      <b>{t.timeline.selected(props.count)}</b>
      <Button onClick={props.onArchive} keyName="x">
        {t.timeline.archive}…
      </Button>
      <Button kind="quiet" onClick={props.onClear}>
        {t.parts.cancel}
      </Button>
    </p>
  );
}

/** Every memory that would go, before it does. */
function ArchiveDialog({
  nodes,
  onEnd,
}: {
  nodes: readonly Node[];
  onEnd: (isDone: boolean) => void;
}): VNode {
  return (
    <Dialog title={t.timeline.archiveMany(nodes.length)} onClose={() => onEnd(false)} class="wide">
      <p>{t.timeline.archiveManyText}</p>
      <ol class="preview" tabIndex={0} aria-label={t.timeline.selected(nodes.length)}>
        {nodes.map(({ id, content }) => (
          <li key={id}>
            <Text of={content} line />
          </li>
        ))}
      </ol>
      <div class="acts">
        <Button kind="danger" onClick={() => onEnd(true)}>
          {t.timeline.archive}
        </Button>
        <Button onClick={() => onEnd(false)}>{t.parts.cancel}</Button>
      </div>
    </Dialog>
  );
}
