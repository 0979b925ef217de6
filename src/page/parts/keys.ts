import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

const PLACE = "svc.keys";

/** A key of the page and what it does. */
export type KeyAction = {
  /** As it is pressed: `e`, `?`, `Escape`, `ctrl k`, or two in a row: `g t`. */
  readonly keys: string;
  /** What it does, for the list of keys; absent: not listed. */
  readonly text?: string | undefined;
  readonly run: () => void;
};

/** Whether single keys do something; whoever speaks to the computer can turn them off (WCAG 2.1.4). */
export const keysAreOn = signal(localStorage.getItem(PLACE) !== "off");

export function turnKeys(on: boolean): void {
  if (on) localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, "off");
  keysAreOn.value = on;
}

/** The groups of keys that are active, the latest last, which is asked first. */
const groups = signal<readonly { readonly actions: () => readonly KeyAction[] }[]>([]);

/** Every key that does something now. */
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

/** Keys that work while the component is shown. */
export function useKeys(actions: readonly KeyAction[]): void {
  const latest = useRef(actions);
  latest.current = actions;
  // As soon as it is drawn: whoever sees a button may press its key.
  useLayoutEffect(() => {
    const group = { actions: () => latest.current };
    groups.value = [...groups.peek(), group];
    return () => {
      groups.value = groups.peek().filter((other) => other !== group);
    };
  }, []);
}

let first: { readonly key: string; readonly at: number } | undefined;
/** Milliseconds within which the second of two keys follows. */
const SECOND_WITHIN = 1200;

/** Hears every key of the page. */
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

/** Not while typing, and in a dialog only what opens another. */
function isMeant(pressed: string, target: EventTarget | null): boolean {
  if (pressed.startsWith("ctrl ")) return true;
  if (document.querySelector("dialog[open]") !== null) return false;
  return pressed === "Escape" || (keysAreOn.value && !isTyping(target));
}

/** The action of a key, or of it and the one before; a key that begins others is remembered. */
function takeAction(pressed: string, at: number): KeyAction | undefined {
  const before = first !== undefined && at - first.at < SECOND_WITHIN ? `${first.key} ` : undefined;
  first = undefined;
  const found =
    (before === undefined ? undefined : actionFor(before + pressed)) ?? actionFor(pressed);
  if (found === undefined && isPrefix(pressed)) first = { key: pressed, at };
  return found;
}

function actionFor(keys: string): KeyAction | undefined {
  for (const { actions } of [...groups.peek()].reverse()) {
    const found = actions().find((action) => action.keys === keys);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isPrefix(key: string): boolean {
  return groups
    .peek()
    .some(({ actions }) => actions().some(({ keys }) => keys.startsWith(`${key} `)));
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
