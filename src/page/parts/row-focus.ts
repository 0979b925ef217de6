import { t } from "../language/texts.ts";
import { type KeyAction, useKeys } from "./keys.ts";

/** `j` and `k` go along the rows of a list that is in the document as a whole: elements with `data-step`. */
export function useRowSteps(): void {
  useKeys(steps());
}

/** As `useRowSteps`, and the arrows, Home and End too. */
export function useRowFocus(): void {
  useKeys([
    ...steps(),
    { keys: "ArrowDown", run: () => move((at) => at + 1) },
    { keys: "ArrowUp", run: () => move((at) => at - 1) },
    { keys: "Home", text: t.keys.first, run: () => move(() => 0) },
    { keys: "End", text: t.keys.last, run: () => move((_, last) => last) },
  ]);
}

function steps(): readonly KeyAction[] {
  return [
    { keys: "j", text: t.keys.next, run: () => move((at) => at + 1) },
    { keys: "k", text: t.keys.before, run: () => move((at) => at - 1) },
  ];
}

function move(place: (at: number, last: number) => number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-step]")];
  const focused = document.activeElement;
  const at = focused instanceof HTMLElement ? rows.indexOf(focused) : -1;
  const last = rows.length - 1;
  rows[Math.max(0, Math.min(last, place(at, last)))]?.focus();
}
