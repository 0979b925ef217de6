import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { later } from "../data/clock.ts";
import { t } from "../language/texts.ts";
import { Button } from "./controls.tsx";
import { useKeys } from "./keys.ts";
import { Text } from "./text.tsx";

/** How long a message stays. */
const SHOWN_MS = 5000;

type Toast = {
  readonly id: number;
  readonly text: string;
  /** Takes back what is told; it is then still possible. */
  readonly undo?: (() => void) | undefined;
  readonly isFailure?: boolean | undefined;
};

export const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Says something at the edge of the page. @returns takes it away */
export function say(
  text: string,
  more: { undo?: () => void; isFailure?: boolean; ms?: number } = {},
): () => void {
  lastId += 1;
  const id = lastId;
  const { undo, isFailure, ms = isFailure ? 3 * SHOWN_MS : SHOWN_MS } = more;
  const end = (): void => {
    toasts.value = toasts.peek().filter((toast) => toast.id !== id);
  };
  const undone =
    undo === undefined
      ? undefined
      : () => {
          end();
          undo();
        };
  toasts.value = [...toasts.peek(), { id, text, isFailure, undo: undone }];
  later(ms, end);
  return end;
}

/** The messages, heard as well as seen. */
export function Toasts(): VNode {
  const undo = toasts.value.findLast((toast) => toast.undo !== undefined)?.undo;
  useKeys(undo === undefined ? [] : [{ keys: "z", text: t.keys.undo, run: undo }]);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, undo: take, isFailure }) => (
        <div key={id} class={isFailure ? "toast failed" : "toast"}>
          <span>
            <Text of={text} />
          </span>
          {take !== undefined && (
            <Button onClick={take} keyName="z">
              {t.parts.undo}
            </Button>
          )}
          {take !== undefined && <span class="left" aria-hidden="true" />}
        </div>
      ))}
    </div>
  );
}
