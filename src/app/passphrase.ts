import { ZxcvbnFactory } from "@zxcvbn-ts/core";
import * as common from "@zxcvbn-ts/language-common";
import { parseKey } from "../adapters/crypt/keys.ts";

/** A passphrase with fewer characters is called short. */
const SHORT = 12;
/** Below this power of ten of guesses a passphrase is called easy: a graphics card makes about 10^4 a second here. */
const EASY_LOG10 = 11;

/**
 * What makes a key text easy to guess, as one sentence that contains no part of it; undefined for a random key and for a good passphrase.
 * The estimate is zxcvbn's, with its lists of common passwords.
 * @throws SvcError invalid_config for a malformed text
 */
export function weaknessOf(keyText: string): string | undefined {
  const key = parseKey(keyText);
  if (key.kind === "raw") return undefined;
  const estimator = new ZxcvbnFactory({
    dictionary: common.dictionary,
    graphs: common.adjacencyGraphs,
  });
  const { guessesLog10 } = estimator.check(key.text);
  const advice = "Five or more random words are hard to guess and easy to keep";
  if (guessesLog10 < EASY_LOG10) {
    const power = Math.floor(guessesLog10);
    return `This passphrase is weak: about 10^${power} guesses find it. ${advice}.`;
  }
  if ([...key.text].length < SHORT) {
    return `This passphrase is short: it has fewer than ${SHORT} characters. ${advice}.`;
  }
  return undefined;
}
