import { batch, computed, effect, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { caller as askCaller, stats as askStats, listOwners } from "../client/sdk.gen.ts";
import type { Caller, OwnerSummary, Stats } from "../client/types.gen.ts";
import { later, now } from "../parts/format.ts";
import { answered, asFailure, type CallFailure, isLost, key, keyIsWanted } from "./http.ts";
import { place } from "./place.ts";

const POLL_MS = 5000;

/** Milliseconds for a view to ask what it shows before the rest is asked. */
const VIEW_FIRST_MS = 60;

/** Who this page is for the server; undefined until it has said so. */
export const caller = signal<Caller | undefined>(undefined);
/** For an operator, those with the most memories first. */
export const owners = signal<readonly OwnerSummary[]>([]);
export const stats = signal<Stats | undefined>(undefined);
/** Why the page could not begin; a missing key is asked for instead. */
export const beginning = signal<CallFailure | undefined>(undefined);
/** Since when the server does not answer, and when it is asked again, in milliseconds since 1970. */
export const lost = signal<{ readonly since: number; readonly nextTry: number } | undefined>(
  undefined,
);
/** Rises whenever the store may hold something else than before; lists are then read again. */
const revision = signal(0);

/** The owner whose memory is shown; undefined until it is known, and where there is none. */
export const owner = computed<string | undefined>(() => {
  const known = caller.value;
  if (known === undefined) return undefined;
  if (known.user_id !== null) return known.user_id;
  const named = place.value.query.get("owner") ?? known.default_user_id;
  return named ?? owners.value[0]?.user_id;
});

/** Whether a change can be made: the server allows it and answers. */
export const canChange = computed(() => caller.value?.read_only === false && !lost.value);

/**
 * Asks who the page is and whose memories there are. Done again with every new key, and when the server was away, since another
 * may have come back. @returns whether it was answered
 */
async function begin(): Promise<boolean> {
  try {
    const who = await answered(askCaller());
    const isOwnerKnown = !who.is_operator || who.default_user_id !== null;
    const all = isOwnerKnown ? owners.peek() : await readOwners();
    batch(() => {
      beginning.value = undefined;
      keyIsWanted.value = undefined;
      owners.value = who.is_operator ? all : [];
      caller.value = who;
    });
    // What counts everything waits until the view has asked: the first memories are on the screen sooner.
    await new Promise<void>((done) => later(VIEW_FIRST_MS, done));
    if (who.is_operator && isOwnerKnown) owners.value = await readOwners();
    return true;
  } catch (error) {
    const failure = asFailure(error);
    if (failure.status === 401) lost.value = undefined;
    // What was read before stays.
    else if (caller.peek() === undefined) beginning.value = failure;
    if (isLost(failure)) loseServer();
    return false;
  }
}

async function readOwners(): Promise<readonly OwnerSummary[]> {
  return (await answered(listOwners())).owners;
}

export function storeChanged(): void {
  revision.value += 1;
}

let lastSequence: string | undefined;

async function look(): Promise<void> {
  const userId = owner.peek();
  if (caller.peek() === undefined || lost.peek() !== undefined) {
    const isAnswered = await begin();
    // Another owner is another look.
    if (!isAnswered || owner.peek() !== userId) return;
  }
  const query = userId === undefined ? {} : { user_id: userId };
  try {
    const found = await answered(askStats({ query }));
    if (owner.peek() !== userId) return;
    const wasLost = lost.peek() !== undefined;
    const sequence = found.details?.change_sequence;
    const isOther = lastSequence !== undefined && sequence !== lastSequence;
    lastSequence = sequence;
    batch(() => {
      lost.value = undefined;
      stats.value = found;
      if (isOther || wasLost) revision.value += 1;
    });
    if (isOther && caller.peek()?.is_operator) owners.value = await readOwners();
  } catch (error) {
    if (isLost(asFailure(error))) loseServer();
  }
}

/** The server did not answer: what is shown stays, and it is asked again. */
export function loseServer(): void {
  lost.value = { since: lost.peek()?.since ?? now(), nextTry: now() + POLL_MS };
}

let lookNow: () => void = () => {};
export function retryNow(): void {
  lookNow();
}

/** Looks at the server every few seconds while somebody looks at the page. */
export function followServer(): void {
  let cancel = (): void => {};
  const next = async (): Promise<void> => {
    cancel();
    if (document.visibilityState === "visible") await look();
    cancel = later(POLL_MS, next);
  };
  lookNow = next;
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") void next();
  });
  effect(() => {
    // Another key is another caller.
    void key.value;
    caller.value = undefined;
    lastSequence = undefined;
    void next();
  });
  effect(() => {
    void owner.value;
    lastSequence = undefined;
    stats.value = undefined;
    if (caller.peek() === undefined) return;
    cancel();
    cancel = later(VIEW_FIRST_MS, next);
  });
}

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

/**
 * Reads something for a component and reads it again when the store has changed.
 * @param key what is read, with everything that it depends on but the owner
 * @param load throws CallFailure
 */
export function useQuery<T>(key: string, load: (userId: string) => Promise<T>): Query<T> {
  const whole = JSON.stringify([owner.peek(), key]);
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
