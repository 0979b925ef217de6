import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

const PLACE = "svc.keys";

export type KeyAction = {
  /** As pressed: `e`, `?`, `Escape`, `ctrl k`, or two in a row: `g t`. */
  readonly keys: string;
  /** What it does, for the list of keys; absent: not listed. */
  readonly text?: string | undefined;
  readonly run: () => unknown;
};

/** Whether single keys are active; users of speech input can turn them off (WCAG 2.1.4). */
export const keysAreOn = signal(localStorage.getItem(PLACE) !== "off");

export function turnKeys(on: boolean): void {
  if (on) localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, "off");
  keysAreOn.value = on;
}

/** The active groups of keys, the latest last, which is asked first. */
const groups = signal<readonly { readonly actions: () => readonly KeyAction[] }[]>([]);

export function activeKeys(): readonly KeyAction[] {
  const seen = new Set<string>();
  return [...groups.value].reverse().flatMap(({ actions }) =>
    actions().filter(({ keys, text }) => {
      if (text === undefined || seen.has(keys)) return false;
      seen.add(keys);
      return true;
    }),
  );
}

export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions);
  latest.current = actions;
  // As soon as it is rendered: a visible button's key must work.
  useLayoutEffect(() => {
    const group = { actions: () => latest.current };
    groups.value = [...groups.peek(), group];
    return () => {
      groups.value = groups.peek().filter((other) => other !== group);
    };
  }, []);
}

let first: { readonly key: string; readonly at: number } | undefined;
const SECOND_WITHIN = 1200;

export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    const pressed = nameOf(event);
    if (event.defaultPrevented || event.isComposing || !isMeant(pressed, event.target)) return;
    const found = takeAction(pressed, event.timeStamp);
    if (found === undefined) return;
    event.preventDefault();
    found.run();
  });
}

function isMeant(pressed: string, target: EventTarget | null): boolean {
  if (pressed.startsWith("ctrl ")) return true;
  if (document.querySelector("dialog[open]") !== null) return false;
  return pressed === "Escape" || (keysAreOn.value && !isTyping(target));
}

/** The action of a key, or of it and the previous one; a key that begins others is remembered. */
function takeAction(pressed: string, at: number): KeyAction | undefined {
  const both = first !== undefined && at - first.at < SECOND_WITHIN && `${first.key} ${pressed}`;
  first = undefined;
  const found = actionFor((keys) => keys === both) ?? actionFor((keys) => keys === pressed);
  const isPrefix = actionFor((keys) => keys.startsWith(`${pressed} `)) !== undefined;
  if (found === undefined && isPrefix) first = { key: pressed, at };
  return found;
}

function actionFor(isIt: (keys: string) => boolean): KeyAction | undefined {
  const all = groups
    .peek()
    .toReversed()
    .flatMap(({ actions }) => actions());
  return all.find(({ keys }) => isIt(keys));
}

function nameOf({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): string {
  return ctrlKey || metaKey ? `ctrl ${key.toLowerCase()}` : altKey ? `alt ${key}` : key;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !(target instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(target.type))
  );
}

const STEPS: readonly KeyAction[] = [
  { keys: "j", text: "next row", run: () => move((at) => at + 1) },
  { keys: "k", text: "previous row", run: () => move((at) => at - 1) },
];

/** `j` and `k` move along the rows of a fully rendered list: elements with `data-step`. */
export function useRowSteps(): void {
  useKeys(STEPS);
}

export function useRowFocus(): void {
  useKeys([
    ...STEPS,
    { keys: "ArrowDown", run: () => move((at) => at + 1) },
    { keys: "ArrowUp", run: () => move((at) => at - 1) },
    { keys: "Home", text: "first row", run: () => move(() => 0) },
    { keys: "End", text: "last row", run: () => move((_, last) => last) },
  ]);
}

function move(place: (at: number, last: number) => number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("[data-step]")];
  const focused = document.activeElement;
  const at = focused instanceof HTMLElement ? rows.indexOf(focused) : -1;
  const last = rows.length - 1;
  rows[Math.max(0, Math.min(last, place(at, last)))]?.focus();
}
