import type { Instant } from "../../lib/instant.ts";
import type { MemoryEvent } from "../node.ts";
import { FIRST_PERSON_OWNER_KEY, storedSpeaker } from "../speaker.ts";
import { type CueLanguage, languageOf } from "./cues.ts";

/** A part of a text, `to` exclusive. */
export type Span = { readonly from: number; readonly to: number };

/** Apostrophes and quotation marks, which models straighten or curl freely. */
const QUOTATION = /['‘’“”]/g;

/**
 * Where a quote stands in a text: the same characters, blanks and case included; only the forms of quotation marks may differ.
 * @returns the whole text if the quote occurs twice; undefined if it is blank or absent
 */
export function findQuote(text: string, quote: string): Span | undefined {
  if (quote.trim() === "") return undefined;
  return placeOf(text, quote) ?? placeOf(straight(text), straight(quote));
}

function placeOf(text: string, quote: string): Span | undefined {
  const from = text.indexOf(quote);
  if (from === -1) return undefined;
  const isTwice = text.indexOf(quote, from + 1) !== -1;
  return isTwice ? { from: 0, to: text.length } : { from, to: from + quote.length };
}

/** Same length, so that offsets stay valid. */
function straight(text: string): string {
  return text.replace(QUOTATION, '"');
}

const BLANK_LINE = /\n[^\S\n]*\n/g;

/** The passages of a text. It is split once for all claims. */
export class Passages {
  readonly text: string;
  readonly #blankLines: readonly Span[];
  readonly #sentences = new Map<string, readonly Span[]>();

  constructor(text: string) {
    this.text = text;
    this.#blankLines = [...text.matchAll(BLANK_LINE)].map(({ index, 0: line }) => ({
      from: index,
      to: index + line.length,
    }));
  }

  /** The paragraph around a part of the text, between blank lines, trimmed; several paragraphs if the part spans them. */
  paragraphAround({ from, to }: Span): Span {
    const before = this.#blankLines.findLast((line) => line.to <= from);
    const after = this.#blankLines.find((line) => line.from >= to);
    return trimmed(this.text, { from: before?.to ?? 0, to: after?.from ?? this.text.length });
  }

  /** The sentences that a part of the text belongs to, with following ones that qualify them. */
  sentencesAround(quote: Span): Span {
    const paragraph = this.paragraphAround(quote);
    const sentences = this.#sentencesOf(paragraph);
    const first = sentences.findIndex(({ to }) => to > quote.from);
    if (first === -1) return paragraph;
    let last = first;
    while (last + 1 < sentences.length && (sentences[last + 1]?.from ?? 0) < quote.to) last += 1;
    return runOf(sentences, first, withLimits(this.text, sentences, last));
  }

  #sentencesOf(paragraph: Span): readonly Span[] {
    const key = `${paragraph.from}-${paragraph.to}`;
    const sentences = this.#sentences.get(key) ?? sentencesOf(this.text, paragraph);
    this.#sentences.set(key, sentences);
    return sentences;
  }
}

function trimmed(text: string, { from, to }: Span): Span {
  const inner = text.slice(from, to);
  const start = from + inner.length - inner.trimStart().length;
  return { from: start, to: Math.max(start, from + inner.trimEnd().length) };
}

/** The end of a sentence, or a blank line. */
const SENTENCE_END = /[.!?…]+["'”’»)\]]*(?=\s|$)|[。！？]+["'”’」』）]*|\n[^\S\n]*\n/g;

/** The sentences of a text in order; together they cover every character except blanks between them. */
export function sentencesOf(
  text: string,
  within: Span = { from: 0, to: text.length },
): readonly Span[] {
  const spans: Span[] = [];
  let { from } = within;
  const part = text.slice(within.from, within.to);
  for (const { index, 0: end } of part.matchAll(SENTENCE_END)) {
    const to = within.from + index + end.length;
    pushText(spans, text, { from, to });
    from = to;
  }
  pushText(spans, text, { from, to: within.to });
  return spans;
}

function pushText(spans: Span[], text: string, span: Span): void {
  const inner = trimmed(text, span);
  if (inner.to > inner.from) spans.push(inner);
}

/** Beginnings of sentences that qualify the previous one. They are prefixes: "Nevertheless" counts as well. */
const LIMITS_PREVIOUS =
  /^(?:(?:but|aber|pero)\s+)?(?:only if|unless|provided that|as long as|never|except|however|nur wenn|nur falls|es sei denn|sofern|außer|allerdings|jedoch|sólo si|solo si|a menos que|siempre que|salvo|excepto|sin embargo)/iu;

/** The last sentence that qualifies the one at this place; the sentence itself if none does. */
function withLimits(text: string, sentences: readonly Span[], at: number): number {
  let last = at;
  for (let next = sentences[at + 1]; next !== undefined; next = sentences[last + 1]) {
    if (!LIMITS_PREVIOUS.test(text.slice(next.from, next.to))) break;
    last += 1;
  }
  return last;
}

function runOf(sentences: readonly Span[], first: number, last: number): Span {
  return { from: sentences[first]?.from ?? 0, to: sentences[last]?.to ?? 0 };
}

/**
 * The shortest run of whole sentences of a passage that mentions all of these, with qualifying ones. Undefined if there is none.
 * @param names whether a sentence mentions each of them
 */
export function shortestRun(
  passage: string,
  names: readonly ((sentence: string) => boolean)[],
): string | undefined {
  const sentences = sentencesOf(passage);
  const latest = names.map(() => -1);
  let best: { readonly first: number; readonly last: number; readonly length: number } | undefined;
  for (const [last, { from, to }] of sentences.entries()) {
    const sentence = passage.slice(from, to);
    for (const [which, isNamed] of names.entries()) if (isNamed(sentence)) latest[which] = last;
    const first = Math.min(...latest);
    if (first === -1) continue;
    const length = to - (sentences[first]?.from ?? 0);
    if (best === undefined || length < best.length) best = { first, last, length };
  }
  if (best === undefined) return undefined;
  const { from, to } = runOf(sentences, best.first, withLimits(passage, sentences, best.last));
  return passage.slice(from, to);
}

export type EarlierTurn = { readonly content: string; readonly speaker: string | undefined };

/** Context for a turn that is asked alone. It does not support claims. */
type Reading = { readonly window: readonly EarlierTurn[] };

/** A turn that claims are checked against: nothing else supports them. */
export type Turn = {
  readonly content: string;
  /** Trimmed, in lower case. */
  readonly role: string;
  readonly speaker: string | undefined;
  /** Whether the first person of the turn is the owner of the memory. */
  readonly isOwner: boolean;
  readonly at: Instant;
  readonly language: CueLanguage;
  readonly reading?: Reading;
};

export function earlierTurnOf({ content, metadata }: MemoryEvent): EarlierTurn {
  return { content, speaker: storedSpeaker(metadata) };
}

/** The turn of an event. @param around the language of the conversation */
export function turnOf(event: MemoryEvent, around?: CueLanguage): Turn {
  const role = event.role.trim().toLowerCase();
  const isUser = role === "user" || role === "human";
  return {
    content: event.content,
    role: role === "" ? "unknown" : role,
    speaker: storedSpeaker(event.metadata),
    isOwner: isUser && event.metadata?.[FIRST_PERSON_OWNER_KEY] === true,
    at: event.eventTime ?? event.timestamp,
    language: languageOf(event.content, around),
  };
}
