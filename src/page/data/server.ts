import { batch, computed, effect, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { caller as askCaller, stats as askStats, listOwners } from "../client/sdk.gen.ts";
import type { Caller, OwnerSummary, Stats } from "../client/types.gen.ts";
import { later, now } from "../parts/format.ts";
import { answered, asFailure, type CallFailure, isLost, key, keyIsWanted } from "./http.ts";
import { place } from "./place.ts";

const POLL_MS = 5000;

/** Milliseconds for a view's own requests before the rest follows. */
const VIEW_FIRST_MS = 60;

/** The identity of this page for the server; undefined until known. */
export const caller = signal<Caller | undefined>(undefined);
/** For an operator, those with the most memories first. */
export const owners = signal<readonly OwnerSummary[]>([]);
export const stats = signal<Stats | undefined>(undefined);
/** Why the page could not start; for a missing key, one is asked for instead. */
export const beginning = signal<CallFailure | undefined>(undefined);
/** Since when the server has been unreachable, and when it is asked again, in milliseconds since 1970. */
export const lost = signal<{ readonly since: number; readonly nextTry: number } | undefined>(
  undefined,
);
/** Increases whenever the store may have changed; lists are then reloaded. */
const revision = signal(0);

/** The owner whose memory is shown; undefined until known, or if there is none. */
export const owner = computed<string | undefined>(() => {
  const known = caller.value;
  if (known === undefined) return undefined;
  if (known.user_id !== null) return known.user_id;
  const named = place.value.query.get("owner") ?? known.default_user_id;
  return named ?? owners.value[0]?.user_id;
});

/** Whether changes are possible: the server allows them and responds. */
export const canChange = computed(() => caller.value?.read_only === false && !lost.value);

/**
 * Loads the page's identity and the owners. Repeated with every new key, and after an outage, since the server may be a different one.
 * @returns whether it succeeded
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
    // Counts wait until the view has sent its requests: the first memories appear sooner.
    await new Promise<void>((done) => later(VIEW_FIRST_MS, done));
    if (who.is_operator && isOwnerKnown) owners.value = await readOwners();
    return true;
  } catch (error) {
    const failure = asFailure(error);
    if (failure.status === 401) lost.value = undefined;
    // Earlier answers stay.
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
    // Another owner shows different data.
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

/** The server did not respond: what is shown stays, and it is asked again. */
export function loseServer(): void {
  lost.value = { since: lost.peek()?.since ?? now(), nextTry: now() + POLL_MS };
}

let lookNow: () => void = () => {};
export function retryNow(): void {
  lookNow();
}

/** Polls the server every few seconds while the page is visible. */
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

/** Answers that a step back shows at once; the oldest is dropped first. */
const kept = new Map<string, Kept>();
const KEPT = 60;

function keep(key: string, entry: Kept): void {
  kept.delete(key);
  kept.set(key, entry);
  const oldest = kept.keys().next();
  if (kept.size > KEPT && oldest.done !== true) kept.delete(oldest.value);
}

/** Drops all answers: another key may have access to other data. */
export function forgetAnswers(): void {
  kept.clear();
  reading.clear();
}

/** Requests in progress, so that two components share one. */
const reading = new Map<string, { readonly revision: number; readonly data: Promise<unknown> }>();

function readOnce<T>(whole: string, at: number, load: () => Promise<T>): Promise<T> {
  const other = reading.get(whole);
  // SAFETY: each key is used for one kind of request only.
  if (other?.revision === at) return other.data as Promise<T>;
  const data = load().finally(() => {
    if (reading.get(whole)?.data === data) reading.delete(whole);
  });
  reading.set(whole, { revision: at, data });
  return data;
}

/**
 * Loads data for a component and reloads it when the store has changed.
 * @param key identifies the data with everything it depends on, except the owner
 * @param load throws CallFailure
 */
export function useQuery<T>(key: string, load: (userId: string) => Promise<T>): Query<T> {
  const whole = JSON.stringify([owner.peek(), key]);
  const first = kept.get(whole);
  // SAFETY: each key is used for one kind of request only, and its answers are kept under it.
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
      // Another component may have loaded it since this one was rendered.
      // SAFETY: each key is used for one kind of request only.
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
