import {
  type CueLanguage,
  cuesOf,
  hasCue,
  hasCueBeside,
  isFirstPerson,
  isMentioned,
  isNamed,
  isPersonal,
  mentionsFirstPerson,
  mentionsOwnSelf,
  placesOf,
} from "./cues.ts";
import { sentencesOf } from "./passages.ts";

type Clause = {
  readonly text: string;
  readonly denies: boolean;
  /** What joins it to the previous clause, such as a comma or `but`. */
  readonly joiner: string;
};

/** What negates a clause: words of negation alone, or also verbs that end something, such as `stopped`. */
type Denial = "negation" | "negation or ending";

/** Words of a clause that may merely continue a list: `I eat no meat or fish`. After just a comma it is more often another clause. */
const LIST_WORDS = 4;
const LIST_WORDS_AFTER_COMMA = 2;

/** The clauses of a passage in order. @param object its own words do not negate */
function clausesOf(
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

/** What follows a negation but is not negated: `no sofa, only two chairs`. */
const ONLY = /^\s*(?:only|just|but|nur|bloß|sondern|solo|sólo|sino)(?![\p{L}])/iu;

function isListItem(text: string, language: CueLanguage, joiner: string): boolean {
  const words = text.trim().split(/\s+/);
  const most = joiner === "," ? LIST_WORDS_AFTER_COMMA : LIST_WORDS;
  const speaks = words.some((word) => isPersonal(word)) || mentionsOwnSelf(text, language);
  return words.length <= most && !ONLY.test(text) && !speaks;
}

/** @param object its own words do not negate, as in `is cancelled` */
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

/** The stance of a passage towards a claim about an object: affirmed, denied, or both. */
type Stance = { readonly affirms: boolean; readonly denies: boolean };

/** The stance of the clauses that mention an object. Both, if no single clause mentions it. */
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

/** What was never true cannot be replaced. */
const NEVER = /(?<![\p{L}])(?:never|nie|niemals|nunca|jamás)(?![\p{L}])/iu;
/** `likes carrots, but not broccoli`: neither replaces the other. */
const CONTRAST = /^(?:but|although|though|however|aber|obwohl|pero|aunque)$/i;

/**
 * Whether a passage ends a value: as replaced, as no longer true, or by a bare denial (`not on Monday`). A clause with its own subject and
 * verb denies something else.
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

/** Whether a clause mentions the object as replaced: `instead of Slack`. */
function isReplaced(object: string, clause: string, language: CueLanguage): boolean {
  const place = clause.toLowerCase().indexOf(object.trim().toLowerCase());
  const before = clause.slice(0, Math.max(0, place));
  // A value after `to` or `with` is the new one.
  const since = before.split(/(?<![\p{L}])(?:to|with|by|auf|zu|durch|por|al?)(?![\p{L}])/iu).at(-1);
  return hasCue(since ?? "", language, "replaced");
}

/** Prompt injections in hostile texts. They are treated as data: nothing in or after them states a fact. */
const ORDERS: readonly RegExp[] = [
  /(?:ignor\w*|disregard|forget|override|bypass)\s+(?:\w+\s+){0,4}(?:previous|above|prior|earlier|preceding|all|any|your|the|system)\s+(?:\w+\s+){0,3}(?:instruction|rule|prompt|message|text|polic|guideline|direction|context)/i,
  /ignor\w*\s+(?:the\s+|everything\s+|all\s+)?above/i,
  /(?:system|developer|admin(?:istrator)?)\s*(?:prompt|message|override|instruction)s?\s*[:>\]]/i,
  /^[^\S\n]*(?:system|assistant|developer)[^\S\n]*:/im,
  /<\/?\s*(?:turn|system|instructions?|conversation|memory|memories|im_start|im_end)\b/i,
  /<\|[^|\n]{1,40}\|>|\[\/?INST\]|###\s*(?:system|instruction|assistant)/i,
  /you\s+are\s+now\s+(?:a|an|in|the|acting)\b|act\s+as\s+(?:a|an|the)\s+\w+\s+(?:without|that|who)/i,
  /(?:note|message|instruction|reminder)s?\s+(?:to|for)\s+(?:the\s+)?(?:ai|assistant|model|llm|extractor|memory(?:\s+system)?|bot)\b/i,
  /(?:store|save|record|remember|memori[sz]e|write|add|insert|extract|output|return|emit)\s+(?:\w+\s+){0,6}(?:into|in|to|as)\s+(?:\w+\s+){0,3}(?:memory|memories|your\s+(?:notes|database|memory)|long-?term|a?\s*facts?\b|the\s+json)/i,
  /(?:extract|output|return|emit|record)\s+(?:only\s+)?(?:the\s+following|this)\s+(?:fact|entit|claim|json|as)/i,
  /\{\s*"(?:facts|entities|relationships|subject|turns)"\s*:/i,
  // Addresses the model about its user, as no user does.
  /(?<![\p{L}])(?:ai|ki|ia|llm|bot|chatbot|model|assistant|assistent\p{L}*|asistente|modelo)(?:[-\s](?:hinweis|notiz|note|nota))?\s*[:,][^.!?]{0,160}(?:the\s+user|(?:der|die|dem|den|des)\s+(?:nutzer|benutzer|user|anwender)\p{L}*|(?:el|la|al|del)\s+usuari[oa])/iu,
  /(?:remember|note|record|save|store|know|assume|learn|write)\s+(?:down\s+)?that\s+(?:the\s+|this\s+)?user/i,
  /(?:trag\p{L}*|merk\p{L}*|notier\p{L}*|speicher\p{L}*|schreib\p{L}*)[^.!?]{0,20},\s*dass\s+(?:der|die|dem|den)\s+(?:nutzer|benutzer|user|anwender)/iu,
  /(?:apunta|anota|recuerda|guarda|registra|escribe)\s+que\s+(?:el|la|al)\s+usuari[oa]/iu,
  /ignorier\w*\s+(?:\p{L}+\s+){0,4}(?:anweisung|vorgabe|regel|nachricht|text|oben)/iu,
  /vergiss\s+(?:\p{L}+\s+){0,3}(?:anweisung|regel|vorgabe)/iu,
  /(?:speicher\w*|merk\w*|trag\w*)\s+(?:\p{L}+\s+){0,6}(?:als\s+fakt|in\s+(?:dein|das)\p{L}*\s+(?:gedächtnis|speicher))/iu,
  /(?:hinweis|anweisung|nachricht)\s+(?:an|für)\s+(?:die\s+|das\s+|den\s+)?(?:ki|assistent\p{L}*|modell)/iu,
  /(?:ignora|olvida|omite)\s+(?:\p{L}+\s+){0,4}(?:instruccion|regla|mensaje|anterior|indicacion)/iu,
  /(?:guarda|almacena|registra|anota)\s+(?:\p{L}+\s+){0,6}(?:en\s+(?:tu|la)\s+memoria|como\s+(?:un\s+)?hecho)/iu,
  /(?:nota|mensaje|instrucci[oó]n)\s+para\s+(?:la\s+|el\s+)?(?:ia|asistente|modelo)/iu,
];

/**
 * Where a text begins to give instructions to a model: everything after that is disregarded, in any paragraph.
 * @returns undefined if it gives none
 */
export function ordersFrom(text: string): number | undefined {
  if (!ORDERS.some((order) => order.test(text))) return undefined;
  const first = sentencesOf(text).find(({ from, to }) =>
    ORDERS.some((order) => order.test(text.slice(from, to))),
  );
  // An instruction across sentences has no start of its own.
  return first?.from ?? 0;
}

const QUOTED = /"[^"\n]{3,400}"|“[^”\n]{3,400}”|„[^“”"\n]{3,400}[“”"]|«[^»\n]{3,400}»/g;
/** Length in words from which a quotation counts as speech. */
const SPEECH_WORDS = 3;

/**
 * Whether a claim attributes to its speaker, or to a named person, what belongs to another: quotes of others, forwarded text, and
 * statements about `my sister`.
 */
export function isOfOther(
  claim: { readonly subject: string; readonly predicate: string; readonly object: string },
  passage: string,
  language: CueLanguage,
): boolean {
  if (!isFirstPerson(claim.subject)) return false;
  if (isQuotedFrom(claim.object, passage, language)) return true;
  return isOfKin(claim, passage, language) || isOfThird(claim.object, passage, language);
}

/** A clause about a third person: `Ben helps me, he works in Rome`. */
const THIRD = /^\s*(?:he|she|they|er|sie|él|ella|ellos|ellas)(?![\p{L}])/iu;
/** A clause with a name as its subject: `Ben works in Rome`; not `Rome in May`. */
const NAMED =
  /^\s*(?:and\s+|und\s+|y\s+)?\p{Lu}[\p{L}’'-]+(?:\s\p{Lu}[\p{L}-]+)?\s(?!(?:in|on|at|of|for|from|with|to|by|near|and|or|is|as|mit|im|am|von|aus|bei|für|und|oder|zu|zum|zur|de|del|en|con|y|para|por)\s)(?=\p{Ll}{2,}\s)/u;
/** A relative clause: `a dwarf who hates boats`. */
const WHO = /^who$/i;
/** Subjects of nested clauses; the last one before an object counts: `I told her she gets it`. */
const SUBJECTS = /(?<![\p{L}])(?:I|he|she|they|we|you)(?![\p{L}])/giu;

function isOfThird(object: string, passage: string, language: CueLanguage): boolean {
  const clauses = clausesOf(passage, language, "negation").filter(({ text }) =>
    isMentioned(object, text),
  );
  return (
    clauses.length > 0 &&
    clauses.every(({ text, joiner }) => {
      const before = text.slice(0, placesOf(object, text).next().value ?? 0);
      const [nearest = ""] = [...before.matchAll(SUBJECTS)].at(-1) ?? [];
      if (language === "en" && /^(?:he|she|they)$/i.test(nearest)) return true;
      if (mentionsFirstPerson(text, language)) return false;
      // A Spanish sentence may begin with its verb as well as with a name.
      const mayBeName = language !== "es" || /^[,;]$/.test(joiner);
      return THIRD.test(text) || WHO.test(joiner) || (mayBeName && NAMED.test(before));
    })
  );
}

function isQuotedFrom(object: string, passage: string, language: CueLanguage): boolean {
  const spoken = [...passage.matchAll(QUOTED)]
    .map(([quotation]) => quotation)
    .filter((quotation) => quotation.trim().split(/\s+/).length >= SPEECH_WORDS);
  const forwarded = passage.split("\n").filter((line) => /^\s*(?:>|\|)/.test(line));
  const others = [...spoken, ...forwarded].filter(
    (text) => isMentioned(object, text) && isNamed("I", text, language),
  );
  if (others.length === 0) return false;
  let rest = passage;
  for (const text of [...spoken, ...forwarded]) rest = rest.replace(text, " ");
  return !isMentioned(object, rest);
}

/** Whether the speaker appears only as someone whose relative, friend or pet the sentence or clause is about. */
function isOfKin(
  claim: { readonly predicate: string; readonly object: string },
  passage: string,
  language: CueLanguage,
): boolean {
  const clauses = clausesOf(passage, language, "negation").map(({ text }) => text);
  return [sentenceParts(passage), clauses].some((parts) => {
    const naming = parts.filter((part) => isMentioned(claim.object, part));
    const about = naming.length > 0 ? naming : [passage];
    return about.every((part) => {
      if (mentionsOwnSelf(part, language)) return false;
      const kin = kinIn(part, language);
      return kin !== undefined && !isAboutKin(claim, kin);
    });
  });
}

/** Approximate sentences: statements about a subject do not extend beyond them. */
function sentenceParts(passage: string): readonly string[] {
  return passage.split(/(?<=[.!?])\s+|\n/);
}

/** The word for the speaker's relative, friend or pet, and what follows it. */
type Kin = { readonly word: string; readonly after: string };

/** The relative, friend or pet that a text assigns to the speaker. */
function kinIn(text: string, language: CueLanguage): Kin | undefined {
  for (const { possessive, kin } of cuesOf(language)) {
    for (const { index, 0: mine } of text.matchAll(possessive)) {
      const next = text.slice(index + mine.length, index + mine.length + 60);
      const found = [...next.matchAll(kin)][0];
      // At most two words between: `my dear old friend`.
      if (found === undefined || next.slice(0, found.index).trim().split(/\s+/).length > 2)
        continue;
      return { word: found[0], after: next.slice(found.index + found[0].length) };
    }
  }
  return undefined;
}

/** Whether a claim is about that person's relation to the speaker: `has_sister`, `knows`, or with `sister` or her name as the object. */
function isAboutKin(
  { predicate, object }: { readonly predicate: string; readonly object: string },
  { word, after }: Kin,
): boolean {
  const isTie =
    /sister|brother|kin|relat|parent|mother|father|married|friend|colleague|know|child|son(?:_|\b)|daughter|pet|dog|cat(?:_|\b)|boss|manager|neighbo|partner|wife|husband/i;
  if (isTie.test(predicate) || isMentioned(word, object)) return true;
  const name = object.trim();
  const named = /^[\s,:]*(?:(?:is|is called|is named|called|named|ist|heißt|es|se llama)\s+)?/iu;
  return /^\p{Lu}/u.test(name) && after.replace(named, "").startsWith(name);
}

/**
 * Whether a passage asks or requests rather than states: the claim's words occur only in a question, in a request, or in the assistant's
 * advice.
 */
export function isOnlyAsked(
  claim: { readonly subject: string; readonly object: string },
  passage: string,
  language: CueLanguage,
): boolean {
  const parts =
    passage.match(/[^.!?\n]+(?:[.!?]+(?=["'”’»)\]]*(?:\s|$))|[.!?](?=\S)[^.!?\n]*)*/gu) ?? [];
  const naming = parts.filter((part) => isMentioned(claim.object, part));
  return naming.length > 0 && naming.every((part) => asks(claim, part, language));
}

function asks(
  claim: { readonly subject: string; readonly object: string },
  sentence: string,
  language: CueLanguage,
): boolean {
  const stated = rememberedIn(sentence);
  if (stated !== undefined) return stated === "" || PLEA.test(stated);
  const isQuestion = /\?["'”’»)\]]*\s*$/.test(sentence);
  if (!isQuestion) return PLEA.test(sentence);
  if (cuesOf(language).some(({ question }) => question.test(sentence))) return true;
  // "I live in Denver, where can I swim?": the part before the last comma is stated.
  const first = sentence.slice(0, Math.max(0, sentence.search(/,[^,]*$/)));
  return !(isNamed(claim.subject, first, language) && isMentioned(claim.object, first));
}

const ASKED = String.raw`^[\s¿¡]*(?:(?:(?:can|could|would|will) you|kannst du|können sie|könntest du|puedes|podrías)\s+)?(?:(?:dir|sich)\s+)?(?:(?:please|kindly|bitte|por favor)[,\s]+)?`;
const KEPT = String.raw`(?:[,\s]+(?:please|bitte|por favor),?)?(?:\s+(?:this|the following|down|for me|folgendes|esto|lo siguiente))*`;
/** Requests to remember; what follows them is stated. */
const REMEMBER: readonly RegExp[] = [
  `(?:remember|note|notice|keep in mind|bear in mind|be aware|(?:do not|don['’]t) forget|make a note|take note)${KEPT}(?:\\s*:|,?\\s+that(?![\\p{L}])|\\s+(?!(?:to|me|us|about|when|how|what|where|who\\p{L}*|why|which|all|everything)(?![\\p{L}])))`,
  `(?:save|store|memori[sz]e|record|(?:write|jot) (?:this )?down)${KEPT}(?:\\s*:|\\s+that(?![\\p{L}]))`,
  `(?:merk(?:e|en)?(?: (?:dir|sie sich))?|(?:notier|beacht|speicher|behalt)(?:e|en sie)?|schreib(?:e|en sie)?(?: dir)? auf|denk(?:e|en sie)? daran|(?:vergiss|vergessen sie) nicht)${KEPT}(?:\\s*:|,?\\s+dass(?![\\p{L}]))`,
  `(?:recuerd[ae]|recordar|ten(?:ga)? (?:en cuenta|presente)|apunt[ae]|anot[ae]|guard[ae]|memoriz[ae]|toma nota|no olvid(?:es|e)|lembr[ae](?:-\\p{L}+)?)${KEPT}(?:\\s*:|,?\\s+(?:de )?que(?![\\p{L}]))`,
].map((form) => new RegExp(ASKED + form.replaceAll(" ", "\\s+"), "iu"));
/** What to remember is open: `remember whether`. */
const OPEN = /^\s*(?:whether|if|ob|si)(?![\p{L}])/iu;

/** What a sentence asks to remember; empty if that is a question; undefined if it makes no such request. */
function rememberedIn(sentence: string): string | undefined {
  for (const form of REMEMBER) {
    const found = form.exec(sentence);
    if (found === null) continue;
    const rest = sentence.slice(found[0].length);
    return OPEN.test(rest) ? "" : rest;
  }
  return undefined;
}

/** Beginnings of sentences that request, suppose or give an example without a question mark. */
const PLEA =
  /^[\s¿¡]*(?:please|(?:can|could|would|will) (?:you|we)|tell me|show me|give me|recommend|suggest|explain|imagine|suppose|let['’]s say|pretend|assume|for (?:example|instance)|e\.g\.|bitte|(?:kannst|könntest|würdest) du|(?:können|könnten|würden) Sie|zeig mir|sag mir|nenn mir|erklär|empfiehl|stell dir vor|angenommen|nehmen wir an|zum beispiel|z\.\s?b\.|por favor|(?:puedes|podrías|podría|puede)(?![\p{L}])|dime|muéstrame|dame|explícame|recomiéndame|imagina|supón|supongamos|por ejemplo)(?![\p{L}])/iu;

/** Whether an assistant's turn only advises or explains. Its commitments, actions, and statements about the user count. */
export function isOnlyAdvice(
  claim: { readonly subject: string; readonly predicate: string },
  passage: string,
  language: CueLanguage,
): boolean {
  const isSelf = isFirstPerson(claim.subject);
  if (!isSelf && !isPersonal(claim.subject) && !addresses(passage)) return true;
  return hasCue(passage, language, "advice") && !(isSelf && COMMITS.test(passage));
}

/** An assistant reports or announces its own action. */
const COMMITS = /['’](?:ll|ve)(?![\p{L}])|(?<![\p{L}])(?:will|have|werde|habe|he)(?![\p{L}])/iu;

/** Whether a text addresses the user about the user. */
function addresses(text: string): boolean {
  return /(?<![\p{L}])(?:[Yy]ou|[Yy]ours?|du|dein\p{L}*|dir|dich|Sie|Ihr\p{L}*|Ihnen|tú|tu|tus|te|usted|su|sus)(?![\p{L}])/u.test(
    text,
  );
}
