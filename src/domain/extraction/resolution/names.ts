import type { Uuid } from "../../../lib/uuid.ts";
import type { ReplacementSource } from "../result.ts";
import type { EarlierTurn } from "../turn.ts";
import { namesIn, wordsIn } from "./tokens.ts";

/** A text that may supply names. */
type Supply = {
  readonly source: ReplacementSource["source"];
  readonly eventId: Uuid;
  readonly words: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
};

/** What may supply names: the speaker, the turn, then earlier turns. */
export type Supplies = readonly Supply[];

/**
 * @param turn the turn itself
 * @param window earlier turns, oldest first
 */
export function suppliesOf(turn: EarlierTurn, window: readonly EarlierTurn[]): Supplies {
  const { eventId, content, speaker } = turn;
  const spoken = wordsIn(speaker ?? "");
  return [
    { source: "speaker", eventId, words: spoken, names: spoken },
    { source: "source_turn", eventId, words: wordsIn(content), names: namesIn(content) },
    ...window.toReversed().map((earlier) => {
      const who = wordsIn(earlier.speaker ?? "");
      return {
        source: "window" as const,
        eventId: earlier.eventId,
        words: wordsIn(earlier.content).union(who),
        names: namesIn(earlier.content).union(who),
      };
    }),
  ];
}

const FIRST = words("i me my mine myself");
const SECOND = words("you your yours yourself yourselves");
const OTHERS = words(
  "we us our ours ourselves he him his himself she her hers herself they them their theirs themselves",
);
const PRONOUNS = FIRST.union(SECOND).union(OTHERS);
const CONTRACTION = /^(?<pronoun>i|we|you|he|she|they)'(?<verb>m|re|ve|d|ll|s)$/;
const VERBS = words("is am are was were has have had would will");
const LINKS = words("and the a an of s");
/** What a contraction may be written out as. */
const WRITTEN_OUT: Readonly<Record<string, ReadonlySet<string>>> = {
  m: words("is am"),
  re: words("is are"),
  ve: words("has have"),
  d: words("would had"),
  ll: words("will"),
  s: words("is has"),
};

/** Whether a word stands for a person. */
export function isPronoun(word: string): boolean {
  return PRONOUNS.has(word) || CONTRACTION.test(word);
}

/**
 * Where the name comes from that stands in place of pronouns, or of a subject that was left out.
 * @param replaced words of the text; none for a subject that was left out
 * @param added words in their place
 * @returns undefined if the name may not stand there
 */
export function nameSources(
  replaced: readonly string[],
  added: readonly string[],
  supplies: Supplies,
): readonly ReplacementSource[] | undefined {
  if (added.length === 0 || added.some(isPronoun) || !replaced.every(isPronoun)) return undefined;
  if (!writesVerbsOut(replaced, added)) return undefined;
  const contents = added.filter((word) => !VERBS.has(word) && !LINKS.has(word));
  const persons = replaced.map((word) => CONTRACTION.exec(word)?.groups?.["pronoun"] ?? word);
  const [speaker] = supplies;
  const isSpeaker = (word: string) => speaker?.words.has(word) === true;
  if (persons.some((word) => FIRST.has(word)) && !contents.every(isSpeaker)) return undefined;
  if (persons.some((word) => SECOND.has(word)) && contents.some(isSpeaker)) return undefined;
  const found = contents.map((word) => supplies.find((supply) => supply.words.has(word)));
  const isName = contents.some((word) => supplies.some(({ names }) => names.has(word)));
  if (!isName || found.includes(undefined)) return undefined;
  return unique(found.flatMap((supply) => (supply === undefined ? [] : [supply])));
}

/** A pronoun brings no verb; a contraction exactly its own. */
function writesVerbsOut(replaced: readonly string[], added: readonly string[]): boolean {
  if (replaced.length === 0) return true;
  const allowed = replaced.flatMap((word) => {
    const verb = CONTRACTION.exec(word)?.groups?.["verb"];
    return verb === undefined ? [] : [WRITTEN_OUT[verb] ?? new Set<string>()];
  });
  const verbs = added.filter((word) => VERBS.has(word));
  return verbs.length === allowed.length && verbs.every((verb, at) => allowed[at]?.has(verb));
}

function unique(supplies: readonly Supply[]): readonly ReplacementSource[] {
  return [...new Set(supplies)].map(({ source, eventId }) => ({
    source,
    eventId,
    referenceTime: undefined,
  }));
}

const AGREEMENT: ReadonlyMap<string, string> = new Map([
  ["am", "is"],
  ["are", "is"],
  ["were", "was"],
  ["have", "has"],
  ["do", "does"],
  ["don't", "doesn't"],
  ["haven't", "hasn't"],
  ["aren't", "isn't"],
  ["weren't", "wasn't"],
]);

/** Whether a verb was made to agree with a name: `likes` for `like`. */
export function agrees(verb: string, made: string): boolean {
  if (AGREEMENT.has(verb)) return AGREEMENT.get(verb) === made;
  if (!/^\p{L}{2,}$/u.test(verb) || isPronoun(verb)) return false;
  return made === `${verb}s` || made === `${verb}es` || made === verb.replace(/y$/, "ies");
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
