import type { Instant } from "../../../lib/instant.ts";
import { isMentioned, isNamed } from "../mentions.ts";
import { type Span, sentencesOf, withLimits } from "../passages.ts";
import type { ReadDates } from "../relative-date.ts";
import type { Replacement, Resolution } from "../result.ts";
import type { Turn } from "../turn.ts";
import { dateInPlaceOf, isTimeWord } from "./dates.ts";
import { agrees, isPronoun, nameSources, type Supplies, suppliesOf } from "./names.ts";
import { type Token, tokensOf } from "./tokens.ts";

/** Words of a change with several replacements; of one replacement. */
const CHANGE_MAX = 12;
/** Words about time that one date may stand for. */
const TIME_MAX = 6;
/** Replacements that are tried for one text, so that no answer keeps the check busy. */
const TRIES_MAX = 5000;
/** Words after a name from which on no verb agrees with it. */
const NO_NAME = 2;
/** Sentences that one text may resolve. */
const SENTENCES_MAX = 8;

/** A claim with the words in which it stands alone. */
type Resolvable = {
  readonly subject: string;
  readonly object: string;
  readonly resolvedText: string | undefined;
};

/**
 * Whether the words in which a claim stands alone are those of its passage, with nothing but names in place of pronouns, verbs that agree
 * with them, and dates in place of words such as `yesterday`. They are whole sentences, with what limits them.
 * @returns undefined if anything else was changed
 */
export function resolve(
  { subject, object, resolvedText = "" }: Resolvable,
  passage: string,
  turn: Turn,
  readDates: ReadDates,
): Resolution | undefined {
  const { reading } = turn;
  if (reading === undefined) return undefined;
  const { eventId, window } = reading;
  const { content, speaker, at, language } = turn;
  const supplies = suppliesOf({ eventId, content, speaker }, window);
  let tries = 0;
  const spend = (): boolean => {
    tries += 1;
    return tries <= TRIES_MAX;
  };
  const resolved = { text: resolvedText, tokens: tokensOf(resolvedText) };
  for (const span of spansOf(passage, speaker)) {
    const original = passage.slice(span.from, span.to);
    const source = { text: original, tokens: tokensOf(original) };
    const compared = new Comparison(source, resolved, { supplies, at, readDates, spend });
    const replacements = compared.replacements();
    if (replacements === undefined || replacements.length === 0) continue;
    const isThere = (value: string) =>
      isNamed(value, original, language) ||
      replacements.some(({ replacement }) => isMentioned(value, replacement));
    if (!isThere(subject) || !isThere(object)) continue;
    return { original, replacements, windowEventIds: window.map((earlier) => earlier.eventId) };
  }
  return undefined;
}

/** The runs of whole sentences of a passage, each with what limits its last one. */
function* spansOf(passage: string, speaker: string | undefined): Generator<Span> {
  const from = speaker === undefined ? 0 : labelLength(passage, speaker);
  const sentences = sentencesOf(passage, { from, to: passage.length });
  for (const [first, start] of sentences.entries()) {
    for (let last = first; last < Math.min(sentences.length, first + SENTENCES_MAX); last += 1) {
      if (withLimits(passage, sentences, last) !== last) continue;
      yield { from: start.from, to: sentences[last]?.to ?? start.to };
    }
  }
}

/** UTF-16 units of `(10:30) Anna:` at the beginning of a text. */
function labelLength(text: string, speaker: string): number {
  const label = /^\s*(?:\([^()\n]{1,80}\)\s*)?([^:\n]{1,200}):\s*/.exec(text);
  return label?.[1]?.trim().toLowerCase() === speaker.toLowerCase() ? label[0].length : 0;
}

type Text = { readonly text: string; readonly tokens: readonly Token[] };
type Grounds = {
  readonly supplies: Supplies;
  readonly at: Instant;
  readonly readDates: ReadDates;
  /** Takes a try; false: there were enough. */
  readonly spend: () => boolean;
};
/** Where two texts are compared, and what was just before. */
type Place = {
  readonly source: number;
  readonly resolved: number;
  /** Words since a name was put in, up to `NO_NAME`. */
  readonly sinceName: number;
  /** Words of the change so far, on the longer side. */
  readonly changed: number;
  /** Replacements of the change so far. */
  readonly parts: number;
};

/** Two texts, word by word. */
class Comparison {
  readonly #source: Text;
  readonly #resolved: Text;
  readonly #grounds: Grounds;
  readonly #failed = new Set<string>();

  constructor(source: Text, resolved: Text, grounds: Grounds) {
    this.#source = source;
    this.#resolved = resolved;
    this.#grounds = grounds;
  }

  /** What makes the second of the first; undefined if something else is needed, too. */
  replacements(): readonly Replacement[] | undefined {
    return this.#from({ source: 0, resolved: 0, sinceName: NO_NAME, changed: 0, parts: 0 });
  }

  #from(place: Place): readonly Replacement[] | undefined {
    const { source, resolved, sinceName } = place;
    const one = this.#source.tokens[source];
    const other = this.#resolved.tokens[resolved];
    if (one === undefined && other === undefined) return [];
    const key = Object.values(place).join();
    if (this.#failed.has(key)) return undefined;
    const next = { source: source + 1, resolved: resolved + 1, changed: 0, parts: 0 };
    const isSame = one !== undefined && one.word === other?.word;
    const kept = isSame
      ? this.#from({ ...next, sinceName: Math.min(NO_NAME, sinceName + 1) })
      : undefined;
    const found = kept ?? this.#changed(place);
    if (found === undefined) this.#failed.add(key);
    return found;
  }

  /** Tries every replacement at a place, the shortest first. */
  #changed(place: Place): readonly Replacement[] | undefined {
    for (const { taken, put } of this.#lengths(place)) {
      const replacement = this.#replacement(place, taken, put);
      if (replacement === undefined) continue;
      const rest = this.#from({
        source: place.source + taken,
        resolved: place.resolved + put,
        sinceName: replacement.kind === "name" ? 0 : NO_NAME,
        changed: place.changed + Math.max(taken, put),
        parts: place.parts + 1,
      });
      if (rest !== undefined) return [replacement, ...rest];
    }
    return undefined;
  }

  /** How many words may be replaced by how many. */
  *#lengths({ source, resolved, changed, parts, sinceName }: Place) {
    const left = parts === 0 ? CHANGE_MAX : CHANGE_MAX - changed;
    const words = this.#source.tokens.slice(source, source + left).map(({ word }) => word);
    const other = words.findIndex((word) => !isPronoun(word));
    const pronouns = other === -1 ? words.length : other;
    const isTimed = words.slice(0, TIME_MAX).some(isTimeWord);
    const takenMax = Math.max(pronouns, isTimed ? TIME_MAX : 0, sinceName < NO_NAME ? 1 : 0);
    const putMax = Math.min(left, this.#resolved.tokens.length - resolved);
    // A subject was left out only where no word of the text can be what was replaced.
    const lengths = Array.from({ length: Math.min(takenMax, words.length) }, (_, at) => at + 1);
    for (const taken of this.#isSentenceStart(source) ? [...lengths, 0] : lengths) {
      for (let put = 1; put <= putMax && this.#grounds.spend(); put += 1) yield { taken, put };
    }
  }

  #replacement(place: Place, taken: number, put: number): Replacement | undefined {
    const replaced = sliceOf(this.#source, place.source, taken);
    const added = sliceOf(this.#resolved, place.resolved, put);
    const texts = { original: replaced.text, replacement: added.text };
    const { supplies, at, readDates } = this.#grounds;
    const sources = nameSources(replaced.words, added.words, supplies);
    if (sources !== undefined) return { kind: "name", ...texts, date: undefined, sources };
    const [verb = "", made = ""] = [replaced.words[0], added.words[0]];
    if (taken === 1 && put === 1 && place.sinceName < NO_NAME && agrees(verb, made)) {
      return { kind: "agreement", ...texts, date: undefined, sources: [] };
    }
    const date = dateInPlaceOf(replaced, added.words, at, readDates);
    const time = { source: "source_time" as const, eventId: undefined, referenceTime: at };
    return date === undefined ? undefined : { kind: "date", ...texts, date, sources: [time] };
  }

  #isSentenceStart(place: number): boolean {
    const before = this.#source.tokens[place - 1]?.word;
    return before === undefined || /^[.!?…]$/u.test(before);
  }
}

function sliceOf({ text, tokens }: Text, from: number, count: number) {
  const part = tokens.slice(from, from + count);
  const [first, last] = [part[0], part.at(-1)];
  return {
    words: part.map(({ word }) => word),
    text: first === undefined || last === undefined ? "" : text.slice(first.from, last.to),
  };
}
