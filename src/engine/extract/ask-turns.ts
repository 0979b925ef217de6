import { halvesOf } from "../../domain/extraction/batch.ts";
import { endsSplit, failureCode, isWorthSplitting } from "../../domain/extraction/failure.ts";
import { type BatchAnswer, emptyTurn } from "../../domain/extraction/read-answer.ts";
import type { ReadTurn } from "../../domain/extraction/read-result.ts";

/** Asks a model about some turns, of which there is at least one. @throws what `failureCode` names */
export type AskModel<T> = (turns: readonly T[]) => Promise<BatchAnswer>;

/** What one answer gave: to be saved at once, together or not at all. */
export type AnsweredBatch<T> = {
  /** All turns of the request, in its order. */
  readonly turns: readonly T[];
  /** What the turns state; those that are asked again are missing. */
  readonly results: ReadonlyMap<T, ReadTurn>;
  readonly answer: BatchAnswer;
  /** Ascending places of turns in the request, from 1, that the answer left out. */
  readonly turnsAskedAgain: readonly number[];
  /** Turns that were asked twice and of which nothing came: they count as stating nothing. */
  readonly silent: readonly T[];
};

/** Why turns have no result. */
export type FailedTurns<T> = { readonly turns: readonly T[]; readonly code: string };

/** Where the parts of a request go, each as soon as it is there. */
export type Saving<T> = { readonly save: (batch: AnsweredBatch<T>) => Promise<void> };

/**
 * Asks about turns in one request, and in halves if it fails in a way that a smaller one may not: an answer that cannot be read, a
 * timeout, a refusal. Turns that an answer leaves out are asked about once more. What was answered is saved even if the rest fails.
 * @returns the turns that have no result, by why
 */
export async function askTurns<T>(
  turns: readonly T[],
  ask: AskModel<T>,
  saving: Saving<T>,
): Promise<readonly FailedTurns<T>[]> {
  const failed: FailedTurns<T>[] = [];
  await askPart({ ask, saving, failed }, turns, false);
  return failed;
}

type Asking<T> = {
  readonly ask: AskModel<T>;
  readonly saving: Saving<T>;
  readonly failed: FailedTurns<T>[];
};

/** @returns whether to go on with what else there is to ask */
async function askPart<T>(
  asking: Asking<T>,
  turns: readonly T[],
  isAgain: boolean,
): Promise<boolean> {
  const [answer, code] = await outcomeOf(asking.ask(turns));
  if (answer !== undefined) return await keep(asking, turns, answer, isAgain);
  if (turns.length === 1 || !isWorthSplitting(code)) {
    asking.failed.push({ turns, code });
    return turns.length === 1 && !endsSplit(code) && isWorthSplitting(code);
  }
  const [first, second] = halvesOf(turns);
  if (await askPart(asking, first, isAgain)) return await askPart(asking, second, isAgain);
  asking.failed.push({ turns: second, code: asking.failed.at(-1)?.code ?? code });
  return false;
}

async function keep<T>(
  asking: Asking<T>,
  turns: readonly T[],
  answer: BatchAnswer,
  isAgain: boolean,
): Promise<boolean> {
  const asksAgain = !isAgain && answer.leftOut.length > 0;
  const results = new Map<T, ReadTurn>();
  const left: T[] = [];
  const silent: T[] = [];
  for (const [index, turn] of turns.entries()) {
    const found = answer.turns.get(index + 1);
    if (found !== undefined) results.set(turn, found);
    else if (asksAgain) left.push(turn);
    else {
      results.set(turn, emptyTurn());
      if (isAgain) silent.push(turn);
    }
  }
  await asking.saving.save({
    turns,
    results,
    answer,
    turnsAskedAgain: asksAgain ? answer.leftOut : [],
    silent,
  });
  return left.length === 0 || (await askPart(asking, left, true));
}

async function outcomeOf(
  asked: Promise<BatchAnswer>,
): Promise<readonly [BatchAnswer, ""] | readonly [undefined, string]> {
  try {
    return [await asked, ""];
  } catch (error) {
    return [undefined, failureCode(error)];
  }
}
