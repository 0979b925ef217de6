import { analyse } from "./lexical-analysis.ts";
import { isEmptyWord } from "./replacement.ts";
import { type GivenUp, givenUp } from "./supersedence-signals.ts";

/**
 * Which memories a new one makes untrue by what it says was given up. Two things decide: the older one names what was given up, in
 * whole words, and both are about the same people. A memory about somebody else, who may still have it, stays.
 */

/** Words beside a name that do not say who somebody is. */
const ADVERBS = wordSet("finally recently just already officially eventually gradually also then");
/** People whom the word for them tells apart from the one who speaks of them. */
const OTHERS = wordSet(
  `mother father mom mum dad parents son daughter sister brother wife husband partner girlfriend boyfriend fiance fiancee aunt
  uncle cousin niece nephew grandmother grandfather grandma grandpa granny friend friends colleague colleagues coworker boss manager
  neighbour neighbor neighbours neighbors roommate flatmate teacher doctor dentist landlord client clients customer customers
  he she they his her their him them kids children child baby dog cat
  mutter vater eltern sohn tochter schwester bruder frau mann partnerin freundin freund tante onkel nichte neffe oma opa kollegin
  kollege chefin chef nachbarin nachbar kinder kind hund katze
  madre padre padres hijo hija hermana hermano esposa esposo mujer marido novia novio tia tio prima primo sobrina sobrino abuela
  abuelo amiga amigo vecina vecino jefa jefe perro gato`,
);
/** Words that join somebody else to the one a sentence is about. */
const JOINING = wordSet("and with und mit y e con");

type Word = { readonly folded: string; readonly isName: boolean };

/** Whether an older text says what a new one gives up. Undefined: the new one gives up nothing. */
export function retirementBy(text: string): ((older: string) => boolean) | undefined {
  const all = givenUp(text);
  if (all.length === 0) return undefined;
  const said = new Set(analyse(text));
  return (older) => {
    const lower = older.toLowerCase();
    return all.some((one) =>
      one.terms.some((term) => {
        const at = wholeWordAt(lower, term);
        return at !== -1 && isAboutTheSame(one, said, older, at);
      }),
    );
  };
}

/** Where a term stands in a text as whole words; -1: nowhere. */
function wholeWordAt(text: string, term: string): number {
  for (let at = text.indexOf(term); at !== -1; at = text.indexOf(term, at + 1)) {
    const end = at + term.length;
    if (!joins(text[at - 1], text[at]) && !joins(text[end - 1], text[end])) return at;
  }
  return -1;
}

const LETTER = /[\p{L}\p{N}\p{M}_]/u;

function joins(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && LETTER.test(one) && LETTER.test(other);
}

/** Whether an older text is about those who gave something up, and about nobody else. @param at where it names that */
function isAboutTheSame(
  { actor, terms }: GivenUp,
  said: ReadonlySet<string>,
  older: string,
  at: number,
): boolean {
  const words = wordsOf(older);
  const known = new Set(words.map(({ folded }) => folded));
  if (words.some(({ folded }) => OTHERS.has(folded) && !said.has(folded))) return false;
  const who = whoOf(wordsOf(actor.join(" ")));
  if (!who.every((word) => known.has(word))) return false;
  const names = new Set(terms.flatMap((term) => analyse(term)));
  const isOther = ({ folded, isName }: Word) => isName && !said.has(folded) && !names.has(folded);
  const isJoined = (index: number) =>
    [index - 1, index + 1].some((beside) => JOINING.has(words[beside]?.folded ?? ""));
  if (words.some((word, index) => isOther(word) && isJoined(index))) return false;
  return !wordsOf(older.slice(0, at)).some(isOther);
}

/** The names among words, else all words that say something. */
function whoOf(words: readonly Word[]): readonly string[] {
  const telling = words.filter(({ folded }) => !isEmptyWord(folded) && !ADVERBS.has(folded));
  const names = telling.filter(({ isName }) => isName);
  return (names.length > 0 ? names : telling).map(({ folded }) => folded);
}

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const CAPITAL = /^\p{Lu}/u;

function wordsOf(text: string): readonly Word[] {
  return Array.from(text.matchAll(WORD), ([word]) => {
    const folded = analyse(word).join(" ");
    return { folded, isName: CAPITAL.test(word) && !isEmptyWord(folded) };
  });
}

function wordSet(words: string): ReadonlySet<string> {
  return new Set(words.split(/\s+/));
}
