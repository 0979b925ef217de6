import { type Cues, hasCue } from "../extraction/cues.ts";
import { languageOf } from "../extraction/language.ts";
import { sentencesOf } from "../extraction/passages.ts";
import { analyse } from "../lexical-analysis.ts";

/** Words that deny, as `analyse` gives them. A sentence that leaves one out says the opposite. */
const DENIALS: ReadonlySet<string> = new Set(
  `not no never none nobody nothing neither nor cannot without t nicht kein keine keinen keinem keiner keines nie niemals niemand nichts
  weder ohne ne pas jamais aucun aucune personne rien sans ni nunca jamas ningun ninguna ninguno nadie nada sin tampoco non mai nessun
  nessuno nessuna niente senza nao nenhum nenhuma ninguem sem nem niet geen nooit niemand niets zonder не нет ни никогда никто ничего
  без ない ませ せん`.split(/\s+/),
);

/** What limits a statement. A sentence that leaves it out says more than its source. */
const LIMITS = [
  "condition",
  "uncertain",
  "negation",
  "ending",
  "past",
  "noMore",
  "advice",
] as const satisfies (keyof Cues)[];

/**
 * Whether a sentence says nothing that its source does not say: it is a sentence of the source from which words were left out, at most,
 * and none of those denies or limits what remains. Pure.
 */
export function isGrounded(sentence: string, source: string): boolean {
  const words = analyse(sentence);
  if (words.length === 0) return false;
  return sentencesOf(source).some(({ from, to }) =>
    isShortened(sentence, words, source.slice(from, to)),
  );
}

function isShortened(sentence: string, words: readonly string[], whole: string): boolean {
  let next = 0;
  for (const word of analyse(whole)) {
    if (word === words[next]) next += 1;
    else if (DENIALS.has(word)) return false;
  }
  if (next < words.length) return false;
  const language = languageOf(whole);
  return LIMITS.every((cue) => !hasCue(whole, language, cue) || hasCue(sentence, language, cue));
}
