import { cuesOf, hasCue, hasCueBeside } from "./cues.ts";
import type { CueLanguage } from "./language.ts";
import { isMentioned, placesOf } from "./mentions.ts";
import { isPersonal, mentionsOwnSelf } from "./personal.ts";

/** A clause of a passage, and whether it denies what it says. */
export type Clause = {
  readonly text: string;
  readonly denies: boolean;
  /** What joins it to the one before, such as a comma or `but`. */
  readonly joiner: string;
};

/** What denies a clause: words of negation alone, or also verbs that end something, such as `stopped`. */
export type Denial = "negation" | "negation or ending";

/** Words of a clause that may only continue a list: `I eat no meat or fish`. After a mere comma there is more often another clause. */
const LIST_WORDS = 4;
const LIST_WORDS_AFTER_COMMA = 2;

/** The clauses of a passage in order. @param object whose own words deny nothing */
export function clausesOf(
  passage: string,
  language: CueLanguage,
  denial: Denial,
  object?: string,
): readonly Clause[] {
  const clauses: Clause[] = [];
  let from = 0;
  let joiner = "";
  const push = (to: number, next: string): void => {
    const text = passage.slice(from, to);
    if (text.trim() === "") return;
    const before = clauses.at(-1);
    const continues =
      before?.denies === true &&
      goesOn(joiner, language) &&
      isListItem(text, language, joiner) &&
      !CONTRAST.test(next);
    clauses.push({ text, denies: continues || denies(text, language, denial, object), joiner });
  };
  for (const { index, 0: found } of breaksOf(passage, language)) {
    push(index, found.trim());
    joiner = found.trim();
    from = index + found.length;
  }
  push(passage.length, "");
  return clauses;
}

function breaksOf(passage: string, language: CueLanguage): readonly RegExpExecArray[] {
  const breaks = cuesOf(language).flatMap(({ clauseEnd }) => [...passage.matchAll(clauseEnd)]);
  const ends = [...passage.matchAll(/[.!?]+(?=\s|$)|\n/g)];
  return [...breaks, ...ends]
    .sort((a, b) => a.index - b.index)
    .filter(({ index }, at, all) => at === 0 || index >= endOf(all[at - 1]));
}

function endOf(found: RegExpExecArray | undefined): number {
  return found === undefined ? 0 : found.index + found[0].length;
}

function goesOn(joiner: string, language: CueLanguage): boolean {
  return joiner === "," || cuesOf(language).some(({ listGoesOn }) => listGoesOn.test(joiner));
}

/** What follows a denial and is not denied: `no sofa, only two chairs`. */
const ONLY = /^\s*(?:only|just|but|nur|bloß|sondern|solo|sólo|sino)(?![\p{L}])/iu;

function isListItem(text: string, language: CueLanguage, joiner: string): boolean {
  const words = text.trim().split(/\s+/);
  const most = joiner === "," ? LIST_WORDS_AFTER_COMMA : LIST_WORDS;
  const speaks = words.some((word) => isPersonal(word)) || mentionsOwnSelf(text, language);
  return words.length <= most && !ONLY.test(text) && !speaks;
}

/** @param object whose own words deny nothing, as in `is cancelled` */
function denies(
  text: string,
  language: CueLanguage,
  denial: Denial,
  object: string | undefined,
): boolean {
  const isOwn = object !== undefined && denies(object, language, denial, undefined);
  const clause = isOwn ? without(object, text) : text;
  if (hasCueBeside(clause, language, "negation", "notNegation")) return true;
  return denial !== "negation" && hasCueBeside(clause, language, "ending", "notNegation");
}

function without(object: string, text: string): string {
  const [at] = placesOf(object, text);
  const length = object.trim().length;
  return at === undefined ? text : `${text.slice(0, at)} \u0000 ${text.slice(at + length)}`;
}

/** How a passage stands to a claim about an object: it says it, denies it, or does both. */
export type Stance = { readonly affirms: boolean; readonly denies: boolean };

/** The stance of the clauses that name an object. Both for an object that no single clause names. */
export function stanceOn(
  object: string,
  passage: string,
  language: CueLanguage,
  denial: Denial,
): Stance {
  const clauses = clausesOf(passage, language, denial, object).filter(({ text }) =>
    isMentioned(object, text),
  );
  if (clauses.length === 0) {
    return { affirms: true, denies: denies(passage, language, denial, object) };
  }
  const isOff = ({ text, denies: denied }: Clause): boolean =>
    denied || isReplaced(object, text, language);
  return {
    affirms: clauses.some((clause) => !isOff(clause)),
    denies: clauses.some(isOff),
  };
}

/** What never was, nothing replaces. */
const NEVER = /(?<![\p{L}])(?:never|nie|niemals|nunca|jamás)(?![\p{L}])/iu;
/** `likes carrots, but not broccoli`: neither replaces the other. */
const CONTRAST = /^(?:but|although|though|however|aber|obwohl|pero|aunque)$/i;

/**
 * Whether a passage gives a value up: as what something else replaces, as what is so no more, or by a bare denial (`not on Monday`).
 * A clause with a subject and verb of its own denies something else.
 */
export function endsValue(value: string, passage: string, language: CueLanguage): boolean {
  return clausesOf(passage, language, "negation or ending").some(
    ({ text, denies: denied, joiner }) => {
      if (!isMentioned(value, text)) return false;
      if (isReplaced(value, text, language)) return true;
      const isBare = isListItem(text, language, "") && !CONTRAST.test(joiner) && !NEVER.test(text);
      return denied && (isBare || hasCue(text, language, "noMore"));
    },
  );
}

/** Whether a clause names the object as what something else has replaced: `instead of Slack`. */
function isReplaced(object: string, clause: string, language: CueLanguage): boolean {
  const place = clause.toLowerCase().indexOf(object.trim().toLowerCase());
  const before = clause.slice(0, Math.max(0, place));
  // A value after `to` or `with` is the new one.
  const since = before.split(/(?<![\p{L}])(?:to|with|by|auf|zu|durch|por|al?)(?![\p{L}])/iu).at(-1);
  return hasCue(since ?? "", language, "replaced");
}
