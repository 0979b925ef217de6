import type { VNode } from "preact";
import type { Node } from "../../client/types.gen.ts";
import { archive, pin, promote, reinforce, restore } from "../../data/changes.ts";
import { go, withQuery } from "../../data/place.ts";
import { canChange } from "../../data/server.ts";
import { t } from "../../language/texts.ts";
import { Button } from "../../parts/controls.tsx";
import { type KeyAction, useKeys } from "../../parts/keys.ts";

type Action = KeyAction & { readonly name: string; readonly isLast?: boolean };

/** What can be done with a memory in its state, each with its key. */
export function Actions({ node }: { node: Node }): VNode | null {
  const actions = canChange.value ? actionsOf(node) : [];
  useKeys(actions);
  if (actions.length === 0) return null;
  return (
    <div class="acts">
      {actions
        .filter(({ isLast }) => isLast !== true)
        .map((action) => (
          <Act key={action.keys} of={action} />
        ))}
      <span class="gap" />
      {actions
        .filter(({ isLast }) => isLast)
        .map((action) => (
          <Act key={action.keys} of={action} />
        ))}
    </div>
  );
}

function Act({ of: { name, keys, run } }: { of: Action }): VNode {
  return (
    <Button keyName={keys} onClick={run}>
      {name}
    </Button>
  );
}

/** A contradiction is settled first, and what was replaced stays as it was. */
export function canBeReplaced({ lifecycle_state: state }: Node): boolean {
  return state === "tentative" || state === "stable";
}

function actionsOf(node: Node): readonly Action[] {
  const { lifecycle_state: state, pinned } = node;
  const { keys } = t.timeline;
  const forget = {
    keys: "f",
    name: `${t.forgetting.forget}…`,
    text: t.forgetting.keys.forget,
    run: () => go(withQuery({ do: "forget" }), "replace"),
    isLast: true,
  };
  if (state === "archived" || state === "deprecated") {
    const { restore: name } = t.memory;
    return [{ keys: "b", name, text: keys.restore, run: () => void restore(node) }, forget];
  }
  return [
    ...(canBeReplaced(node)
      ? [
          {
            keys: "e",
            name: `${t.memory.correct}…`,
            text: keys.correct,
            run: () => go(withQuery({ do: "correct" }), "replace"),
          },
          {
            keys: "u",
            name: `${t.memory.replace}…`,
            text: keys.replace,
            run: () => go(withQuery({ do: "replace" }), "replace"),
          },
          {
            keys: "!",
            name: `${t.memory.contradict}…`,
            text: keys.contradict,
            run: () => go(withQuery({ do: "contradict" }), "replace"),
          },
        ]
      : []),
    ...(state === "tentative"
      ? [{ keys: "m", name: t.memory.promote, text: keys.promote, run: () => void promote(node) }]
      : []),
    ...(state === "superseded"
      ? []
      : [
          {
            keys: "+",
            name: t.memory.reinforce,
            text: keys.reinforce,
            run: () => void reinforce(node),
          },
          {
            keys: "p",
            name: pinned ? t.memory.unpin : t.memory.pin,
            text: keys.pin,
            run: () => void pin(node),
          },
        ]),
    {
      keys: "x",
      name: t.memory.archive,
      text: keys.archive,
      run: () => archive([node]),
      isLast: true,
    },
    forget,
  ];
}
