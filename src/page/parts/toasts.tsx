import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { assign } from "../data/place.ts";
import { Button } from "./controls.tsx";
import { later } from "./format.ts";
import { useKeys } from "./keys.ts";
import { Text } from "./text.tsx";

const SHOWN_MS = 5000;

type Toast = {
  readonly id: number;
  readonly text: string;
  readonly undo?: (() => void) | undefined;
  readonly isFailure?: boolean | undefined;
};

const toasts = signal<readonly Toast[]>([]);
let lastId = 0;

/** Shows a message at the edge of the page. @param more `undo` reverts the change */
export function say(text: string, more: Pick<Toast, "undo" | "isFailure"> & { ms?: number } = {}) {
  lastId += 1;
  const id = lastId;
  const { undo, isFailure, ms = isFailure ? 3 * SHOWN_MS : SHOWN_MS } = more;
  const end = (): void =>
    assign(
      toasts,
      toasts.peek().filter((toast) => toast.id !== id),
    );
  const take = (): void => {
    end();
    undo?.();
  };
  toasts.value = [...toasts.peek(), { id, text, isFailure, undo: undo && take }];
  later(ms, end);
}

export function Toasts(): VNode {
  const undo = toasts.value.findLast((toast) => toast.undo !== undefined)?.undo;
  useKeys(undo === undefined ? [] : [{ keys: "z", text: "undo", run: undo }]);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map(({ id, text, undo: take, isFailure }) => (
        <div key={id} class={isFailure ? "toast failed" : "toast"}>
          <Text as="span" of={text} />
          {take !== undefined && (
            <>
              <Button onClick={take} keyName="z">
                Undo
              </Button>
              <span class="left" aria-hidden="true" />
            </>
          )}
        </div>
      ))}
    </div>
  );
}
