import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asFailure, type CallFailure, isLost } from "./failure.ts";
import { loseServer, owner, revision } from "./server.ts";

/** What is known of an answer. `data` stays while it is read again. */
export type Query<T> = {
  readonly data: T | undefined;
  readonly failure: CallFailure | undefined;
  readonly reload: () => void;
};

type Kept = { readonly revision: number; readonly data: unknown };

/** Answers that a step back shows at once; the oldest goes first. */
const kept = new Map<string, Kept>();
const KEPT = 60;

function keep(key: string, entry: Kept): void {
  kept.delete(key);
  kept.set(key, entry);
  const oldest = kept.keys().next();
  if (kept.size > KEPT && oldest.done !== true) kept.delete(oldest.value);
}

/** Forgets all answers: another key may see other things. */
export function forgetAnswers(): void {
  kept.clear();
  reading.clear();
}

/** What is being read, so that two components with one question ask it once. */
const reading = new Map<string, { readonly revision: number; readonly data: Promise<unknown> }>();

function readOnce<T>(whole: string, at: number, load: () => Promise<T>): Promise<T> {
  const other = reading.get(whole);
  // SAFETY: one key is used for one kind of question only.
  if (other?.revision === at) return other.data as Promise<T>;
  const data = load().finally(() => {
    if (reading.get(whole)?.data === data) reading.delete(whole);
  });
  reading.set(whole, { revision: at, data });
  return data;
}

function keyOf(key: string): string {
  return JSON.stringify([owner.peek(), key]);
}

/**
 * Reads something for a component and reads it again when the store has changed.
 * @param key what is read, with everything that it depends on but the owner
 * @param load throws CallFailure
 */
export function useQuery<T>(key: string, load: (userId: string) => Promise<T>): Query<T> {
  const whole = keyOf(key);
  const first = kept.get(whole);
  // SAFETY: one key is used for one kind of question only, and its answers are kept under it.
  const state = useSignal<Query<T>>(stateOf(first?.data as T | undefined));
  const shown = useSignal(whole);
  if (shown.peek() !== whole) {
    shown.value = whole;
    // SAFETY: as above.
    state.value = stateOf(first?.data as T | undefined);
  }
  const attempt = useSignal(0);
  const reload = (): void => {
    attempt.value += 1;
  };
  const read = (isStillWanted: () => boolean): void => {
    const userId = owner.peek();
    if (userId === undefined) return;
    const at = revision.peek();
    const known = kept.get(whole);
    if (known?.revision === at && attempt.peek() === 0) {
      // Another component may have read it since this one was drawn.
      // SAFETY: one key is used for one kind of question only.
      if (state.peek().data !== known.data) state.value = stateOf(known.data as T);
      return;
    }
    readOnce(whole, at, () => load(userId)).then(
      (data) => {
        keep(whole, { revision: at, data });
        if (isStillWanted()) state.value = stateOf(data);
      },
      (error: unknown) => {
        const failure = asFailure(error);
        if (isLost(failure)) loseServer();
        if (isStillWanted()) state.value = { ...state.peek(), failure };
      },
    );
  };
  useEffect(() => {
    let isWanted = true;
    read(() => isWanted);
    return () => {
      isWanted = false;
    };
  }, [whole, owner.value, revision.value, attempt.value]);
  return { ...state.value, reload };
}

function stateOf<T>(data: T | undefined): Query<T> {
  return { data, failure: undefined, reload: () => {} };
}
