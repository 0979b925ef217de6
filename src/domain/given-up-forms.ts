import { analyse } from "./lexical-analysis.ts";
import { isEmptyWord } from "./replacement.ts";

/**
 * Sentences that say what was given up and what took its place, besides those of `supersedence-signals.ts`, in the languages of the
 * words of change. Not among them: what may be a journey (`went from Bonn to Rome`) or a trade (`sold cookies and lemonade`).
 */

/** A longer sentence is not read. */
const SENTENCE_MAX_CHARS = 300;

const FORMS: readonly RegExp[] = [
  "no longer (?<name>.+?),? but",
  "nicht mehr (?<name>.+?),? sondern",
  "ya no (?<name>.+?),? sino",
  "(?:traded|swapped|exchanged) (?<name>.+?) (?:in )?for (?:an?|the|his|her|their|my|our)",
  "changed from (?<name>.+?) to",
  "(?:abandoned|dropped|ditched|gave up) (?<name>.+?) in favou?r of",
  "(?:stopped|quit|gave up) (?<name>\\p{L}+ing .+?) and",
  "got rid of (?<name>.+?) and",
  "(?:hat|habe|haben) (?<name>.+?) (?:gekündigt|aufgegeben|aufgelöst|abbestellt|verlassen) und",
  "(?:hat|habe|haben) (?<name>.+?) gegen .+ (?:getauscht|eingetauscht)",
  "(?:dejó|dejé|dejado|abandonó|abandonado) (?<name>.+?) y ahora",
  "von (?<name>.+?) (?:nach|zu|zum|zur|auf|in) .+ (?:gezogen|umgezogen|gewechselt|umgestiegen|umgestellt|migriert)",
  "(?:zog|wechselte) von (?<name>.+?) (?:nach|zu|zum|zur|auf|in)",
  "(?:hat|habe|haben) (?<name>.+?) durch .+ ersetzt",
  "(?:mudó|mudé|mudamos|mudaron|mudado|trasladó|trasladado|cambió|cambié|cambiado|pasó|pasé|pasado|migró|migrado) de (?<name>.+?) a",
  "(?:reemplazó|reemplacé|reemplazado|sustituyó|sustituí|sustituido|cambió|cambié|cambiado) (?<name>(?!de ).+?) por",
].map(
  (form) => new RegExp(String.raw`^(?<actor>.*?)(?<![\p{L}\p{M}])${form}(?![\p{L}\p{M}])`, "iu"),
);

/** What a sentence says was given up, all of whose words name it, and the words before it. */
export type GivenUpInAll = { readonly actor: readonly string[]; readonly words: readonly string[] };

/** What the sentences of a text say was given up. */
export function givenUpInAll(text: string): readonly GivenUpInAll[] {
  return text
    .split(/(?<=[.!?;])\s+|\n/)
    .filter(({ length }) => length <= SENTENCE_MAX_CHARS)
    .flatMap((sentence) =>
      FORMS.flatMap((form) => {
        const { actor = "", name = "" } = form.exec(sentence)?.groups ?? {};
        const words = analyse(name).filter((word) => !isEmptyWord(word));
        return words.length === 0 ? [] : [{ actor: actor.split(/\s+/), words }];
      }),
    );
}
