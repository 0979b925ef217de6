/** A turn that waits to be extracted, as far as its place in a request depends on it. */
export type Waiting = {
  /** Tokens of its text alone. */
  readonly tokens: number;
  readonly sessionId: string | undefined;
  /** Whether its extraction is saved already. */
  readonly isRecorded: boolean;
};

/** Waiting turns that are looked at for one request. */
const LOOKED_AT_MAX = 1000;

/**
 * The turns that go into one request: the head, and later ones of its session while their texts stay within the target. The first that
 * does not fit ends it. Turns of other sessions in between do not.
 * @param later turns of the same owner and scope after the head, in the order of the queue
 * @param target tokens; 0 sends every turn alone
 */
export function batchOf<T extends Waiting>(
  head: T,
  later: readonly T[],
  target: number,
): readonly [T, ...T[]] {
  const batch: [T, ...T[]] = [head];
  if (head.sessionId === undefined || head.tokens > target) return batch;
  let sum = head.tokens;
  const session = later.filter(({ sessionId }) => sessionId === head.sessionId);
  for (const turn of session.slice(0, LOOKED_AT_MAX)) {
    if (turn.isRecorded) continue;
    sum += turn.tokens;
    if (sum > target) break;
    batch.push(turn);
  }
  return batch;
}

/** The two halves as which turns are asked again. The first is the smaller one. */
export function halvesOf<T>(turns: readonly T[]): readonly [readonly T[], readonly T[]] {
  const middle = Math.floor(turns.length / 2);
  return [turns.slice(0, middle), turns.slice(middle)];
}
