import type { Uuid } from "../lib/uuid.ts";
import { analyse, stem } from "./lexical-analysis.ts";
import type { MemoryNode } from "./node.ts";

/**
 * Whether one memory states the current fact about a subject, so that another one is outdated. Three things decide together: the cosine of
 * the vectors, the share of common words, and words of change that only the newer one has. None suffices alone: `Anna's birthday is on 3
 * March` and `Hanna's birthday is on 3 May` are nearer to each other than most changes of mind. `scripts/quality/updates.ts` measures the
 * rule; docs/retrieval.md has its figures.
 */

/** The parts of a text that are compared, read once per text: `readStatement`. */
export type Statement = {
  readonly text: string;
  /** All its words in order, folded. */
  readonly words: readonly string[];
  /** Stems of the words that say what it is about. */
  readonly stems: ReadonlySet<string>;
  /** The first of them, usually the subject. */
  readonly subject: string;
  /** Its words of change. */
  readonly changes: ReadonlySet<string>;
  readonly negates: boolean;
  /** Stems of what it says has ended. */
  readonly ended: ReadonlySet<string>;
  /** Whether it reports a move, or a home. */
  readonly home: "moves" | "lives" | undefined;
};

/** A longer text states more than one thing. */
const STATEMENT_MAX_CHARS = 400;
/** The weight of the share of common words, added to the cosine. */
const WORDS_SHARE = 0.35;
/** Subtracted if each begins with something that the other does not mention. */
const OTHER_SUBJECT = 0.15;
/** Subtracted if only the subject is shared: there is more than one fact about a person. */
const SUBJECT_ALONE = 0.06;
/** The minimum sum of the three. */
const REPLACES_FROM = 0.85;
/** The same for turns of a conversation, where "now" and "since" usually refer to something else. */
const REPLACES_SAID_FROM = 1.05;
/** The minimum share of common words for turns of a conversation. */
const SAID_SHARE = 0.5;
/** The minimum share of common words if a negation is the only word of change. */
const NEGATION_SHARE = 0.5;
/** The minimum cosine of texts that differ only in one number. */
const NUMBER_COSINE = 0.85;

const ENGLISH = {
  change: `now|nowadays|these days|lately|of late|at present|presently|henceforth|in favour of|in favor of|currently|no longer|not any more|not anymore|any more|anymore|instead|rather than|from now on|from this|from next|on from|as of|
    since|actually|after all|in fact|turned out|turns out|correction|corrected|wrong|mistaken|misread|misheard|mixed up|changed|switched|
    moved|migrated|replaced|renamed|upgraded|downgraded|updated|revised|adjusted|raised|lowered|increased|decreased|reduced|extended|
    shortened|postponed|rescheduled|delayed|pushed back|brought forward|slipped|cancelled|canceled|called off|is off|dropped|stopped|quit|
    gave up|given up|ended|withdrew|withdrawn|pulled out|took over|taken over|retired|elected|became|has become|new|left|sold|closed|
    come to|would rather|d rather|discontinued|abandoned|scrapped|relocated|transferred|swapped|converted|traded|exchanged|got rid of|gave away|given away|
    promoted|divorced|broke up`,
  negation: "not never none cannot neither",
  empty: `a an the is are was were be been being am have has had do does did will would could should can may might must i me my
    mine we us our ours you your he him his she her hers it its they them their this that these those there here and or but if so for
    to of in on at by with from as into about up out off over than then when what which who where how all any some very too also just
    s t re ve ll d m`,
} as const;

const GERMAN = {
  change: `jetzt|nun|nunmehr|inzwischen|mittlerweile|neuerdings|derzeit|zurzeit|gegenwärtig|heutzutage|fortan|seitdem|seither|aufgelöst|seit|ab sofort|ab diesem|ab dieser|ab nächstem|ab nächster|künftig|nicht mehr|statt|stattdessen|anstatt|doch|erst|sondern|
    eigentlich|tatsächlich|vertan|geirrt|irrtum|korrektur|stimmt nicht|zahlendreher|falsch|verlegt|verschoben|verlängert|verkürzt|
    geändert|gewechselt|wechselt|umgezogen|abgesagt|storniert|abgemeldet|gekündigt|fällt aus|aufgehört|aufgegeben|abgegeben|hochgestellt|gezogen|umgestiegen|umgestellt|ersetzt|getauscht|eingetauscht|verkauft|verlassen|befördert|getrennt|
    erhöht|gesenkt|teurer|billiger|gestiegen|gesunken|neu|neue|neuen|neuer|neues|lieber|zuständig|fällt|entfällt`,
  negation: "nicht kein keine keinen keinem keiner nie niemals gar",
  empty: `der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird werden wurde im in am an
    auf bei zu zum zur von vom mit für aus nach über um bis als wie ich mich mir wir uns unser unsere du dich sie ihn ihm ihr ihre er es
    sich man mein meine meinem meinen meiner dein deine sein seine hat habe haben auch noch gern gerne dass`,
} as const;

const SPANISH = {
  change: `ahora|últimamente|recientemente|en adelante|hoy por hoy|ya no|desde|a partir de|en vez|en lugar|en realidad|al final|sino|actualmente|hoy en día|cambiaron|cambió|cambié|cambiado|mudado|
    mudamos|mudé|subió|bajó|aplazó|aplazado|anulé|anuló|anulamos|anulado|cancelamos|cancelé|canceló|cancelado|suspendido|descartado|dejado|dejó|dejé|
    eligieron|nuevo|nueva|saqué|equivoqué|equivocado|corrección|mal|gusta más|prefiero|prefiere|después de|mudó|mudaron|trasladó|trasladado|reemplazó|reemplazado|sustituyó|sustituido|vendió|vendí|vendimos|vendido|abandonó|abandonado|renunció`,
  negation: "no nunca ni sin tampoco",
  empty: `el la los las lo un una unos unas de del y e o u es son era está están fue al a en que se su sus mi mis me nos tu te con
    por para como le les si ha he han hay muy más`,
} as const;

/** Words of change are not read yet: stop words only. */
const FRENCH_EMPTY = `le la les l un une des du de d et ou mais est sont était suis es été être a ai as avons avez ont avoir je j me m moi mon ma mes tu te t ton ta tes il elle on nous notre nos vous
  votre vos ils elles se s son sa ses leur leurs ce c ça cette ces cet que qu qui quoi quel quelle quels quelles quand où comment combien à au aux en dans sur chez avec pour par sans y ne n pas plus si`;

const LANGUAGES = [ENGLISH, GERMAN, SPANISH];

/** Phrases of change by their first word. */
const CHANGES = new Map<string, string[][]>();
for (const phrase of LANGUAGES.flatMap(({ change }) => change.split("|"))) {
  const words = analyse(phrase);
  const [first = ""] = words;
  CHANGES.set(first, [...(CHANGES.get(first) ?? []), words]);
}
const NEGATIONS = new Set(LANGUAGES.flatMap(({ negation }) => analyse(negation)));
/** Words that carry no topic. */
const EMPTY = new Set([
  ...[...LANGUAGES.map(({ empty }) => empty), FRENCH_EMPTY].flatMap(analyse),
  ...NEGATIONS,
  ...[...CHANGES.values()].flat().flatMap((words) => (words.length === 1 ? words : [])),
]);

const OF_CHANGE = new Set([...CHANGES.values()].flat(2));

/** Whether a word is one of change, or part of such words. */
export function isOfChange(word: string): boolean {
  return OF_CHANGE.has(word);
}

/** Whether a word, as the analyser gives it, carries no topic. */
export function isEmptyWord(word: string): boolean {
  return EMPTY.has(word);
}

const LIVES = new Set(
  analyse(
    "live lives lived living reside resides wohne wohnt wohnen wohnte vivo vive viven vivimos",
  ),
);
const MOVES = new Set(
  analyse("moved relocated gezogen umgezogen mudo mude mudado mudaron mudamos trasladado"),
);

/** A function whose result is kept for each argument, for as long as the argument lives. */
export function keptFor<K extends object, V>(read: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    const found = known.get(of) ?? { value: read(of) };
    known.set(of, found);
    return found.value;
  };
}

/** Statements kept, by memory. */
const STATEMENTS_KEPT = 1000;
const statements = new Map<
  Uuid,
  { readonly content: string; readonly read: Statement | undefined }
>();

/** The statement of a memory, read once while it is among the latest that were asked for. */
export function statementOf({ id, content }: Pick<MemoryNode, "id" | "content">) {
  const known = statements.get(id);
  const found = known?.content === content ? known : { content, read: readStatement(content) };
  statements.delete(id);
  statements.set(id, found);
  const [oldest] = statements.size > STATEMENTS_KEPT ? statements.keys() : [];
  if (oldest !== undefined) statements.delete(oldest);
  return found.read;
}

/** Drops the texts that are kept. */
export function forgetStatements(): void {
  statements.clear();
}

/** Reads a text; undefined if it is blank, or too long to be a single statement. */
export function readStatement(text: string): Statement | undefined {
  if (text.length > STATEMENT_MAX_CHARS) return undefined;
  const words = analyse(text);
  const stems = new Set<string>();
  for (const word of words) {
    if (!EMPTY.has(word) && !isNumber(word)) stems.add(stem(word));
  }
  const [subject] = stems;
  if (subject === undefined) return undefined;
  const negates = words.some((word, index) => NEGATIONS.has(word) || isShortNot(words, index));
  const ended = new Set([...endedWords(words)].map(stem)).intersection(stems);
  return {
    text,
    words,
    stems,
    subject,
    changes: changesIn(words),
    negates,
    ended,
    home: homeIn(words),
  };
}

function homeIn(words: readonly string[]): Statement["home"] {
  if (words.some((word) => MOVES.has(word))) return "moves";
  return words.some((word) => LIVES.has(word)) ? "lives" : undefined;
}

const WORD = /[\p{L}\p{M}][\p{L}\p{N}\p{M}]*/gu;
const CAPITAL = /^\p{Lu}/u;

/** Whether the subject of a statement is written like a name. */
const isNamed = keptFor(({ text, subject }: Statement) =>
  (text.match(WORD) ?? []).some(
    (word) => CAPITAL.test(word) && stem(analyse(word)[0] ?? "") === subject,
  ),
);

/** A name after `of`, or before `'s`; what follows `in the`, `with the`. */
const OWNER =
  /(?<![\p{L}\p{M}])(?:of|von|de) (\p{Lu}[\p{L}\p{M}]*)|(?<![\p{L}\p{M}])(?:in the|with the|im|in der|mit der|mit dem|en el|en la|con el|con la) ([\p{L}\p{M}]+)|(?<![\p{L}\p{M}])(\p{Lu}[\p{L}\p{M}]*)['\u2019]s(?![\p{L}\p{M}])/gu;
const VERB =
  /(?<![\p{L}\p{M}])(?:is|are|was|were|has|ist|sind|war|wurde|hat|heißt|es|son|era|fue|se|está|tiene)(?![\p{L}\p{M}])/u;

/** The subject before any statement about it: `The hobby of Ann is`, `Ann's hobby is`. */
const ownersIn = keptFor(({ text }: Statement): ReadonlySet<string> => {
  const at = text.search(VERB);
  const owners = at === -1 ? [] : [...text.slice(0, at).matchAll(OWNER)];
  return new Set(
    owners.flatMap(([, after, within, before]) => analyse(after ?? within ?? before ?? "")),
  );
});

/** Whether a word begins with a digit: such words carry no topic. */
export function isNumber(word: string): boolean {
  const first = word.charCodeAt(0);
  return first >= 48 && first <= 57;
}

/** The `n't` of `isn't`, which the analyser splits. */
function isShortNot(words: readonly string[], index: number): boolean {
  return words[index] === "t" && (words[index - 1]?.endsWith("n") ?? false);
}

/** The words of change in a text. @param words as the analyser gives them */
export function changesIn(words: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  words.forEach((word, index) => {
    const isFound = (phrase: readonly string[]) =>
      phrase.every((part, at) => words[index + at] === part);
    for (const phrase of CHANGES.get(word)?.filter(isFound) ?? []) found.add(phrase.join(" "));
    // "Kaffee trinke ich keinen mehr": the topic is between the two words.
    if (word === "mehr" && words.slice(0, index).some((before) => NEGATIONS.has(before))) {
      found.add("nicht mehr");
    }
  });
  return found;
}

/**
 * Whether the words permit the newer statement to replace the older one. Cheap; needs no vector.
 * @param isSaid both were said in a conversation
 */
export function mayReplace(newer: Statement, older: Statement, isSaid: boolean): boolean {
  if (newer === older) return false;
  if (differInNumber(newer, older)) return true;
  return saysChange(newer, older) && (!isSaid || sharedStems(newer, older) >= SAID_SHARE);
}

/**
 * Whether the newer statement states the current fact about the same thing.
 * @param cosine of the two texts
 * @param isSaid both were said in a conversation
 */
export function replaces(
  newer: Statement,
  older: Statement,
  cosine: number,
  isSaid: boolean,
): boolean {
  if (cosine + WORDS_SHARE < REPLACES_FROM) return false;
  if (saysChange(newer, older)) {
    const other = namesOther(newer, older) ? OTHER_SUBJECT : 0;
    const alone = isSubjectAlone(newer, older) ? SUBJECT_ALONE : 0;
    const near = cosine + WORDS_SHARE * sharedStems(newer, older) - other - alone;
    return near >= (isSaid ? REPLACES_SAID_FROM : REPLACES_FROM) && !isOfOthers(newer, older);
  }
  return cosine >= NUMBER_COSINE && differInNumber(newer, older);
}

/**
 * Whether only the newer one has words of change, and they share other words; or the newer one ends what the older one says, possibly with
 * the same words of change.
 */
export function saysChange(newer: Statement, older: Statement): boolean {
  if (newer.changes.size === 0 && !newer.negates) return false;
  if (newer.stems.isDisjointFrom(older.stems)) return false;
  const { ended } = newer;
  if (ended.size > 0 && !ended.isDisjointFrom(older.stems.difference(older.ended))) return true;
  if (newer.changes.size > 0 && !newer.changes.isSubsetOf(older.changes)) return true;
  return newer.negates && !older.negates && sharedStems(newer, older) >= NEGATION_SHARE;
}

function sharedStems(newer: Statement, older: Statement): number {
  const least = Math.min(newer.stems.size, older.stems.size);
  const shared = newer.stems.intersection(older.stems).size + (changesHome(newer, older) ? 1 : 0);
  return Math.min(1, shared / least);
}

/** Whether the newer one reports a move, and the older one a home. */
function changesHome(newer: Statement, older: Statement): boolean {
  return newer.home === "moves" && older.home === "lives";
}

/** Whether they share only the subject. */
function isSubjectAlone(newer: Statement, older: Statement): boolean {
  return (
    older.stems.has(newer.subject) &&
    newer.stems.intersection(older.stems).size === 1 &&
    !changesHome(newer, older)
  );
}

/** Whether the two are about different people, by their names. */
function isOfOthers(newer: Statement, older: Statement): boolean {
  if (
    namesOther(newer, older) &&
    (isSameBehindSubject(newer, older) || (isNamed(newer) && isNamed(older)))
  )
    return true;
  const ours = ownersIn(newer).difference(new Set(older.words));
  const theirs = ownersIn(older).difference(new Set(newer.words));
  return ours.size > 0 && theirs.size > 0;
}

/** Whether both continue with one word after their subjects: `The orders service`, `The users service`. */
function isSameBehindSubject({ stems: ours }: Statement, { stems: theirs }: Statement): boolean {
  const [, one] = ours;
  const [, other] = theirs;
  return one !== undefined && one === other;
}

/** The share of the smaller set that the other set contains, 0 to 1; 0 if one is empty. */
export function sharedPart(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const least = Math.min(one.size, other.size);
  return least === 0 ? 0 : one.intersection(other).size / least;
}

function namesOther(newer: Statement, older: Statement): boolean {
  return !(older.stems.has(newer.subject) || newer.stems.has(older.subject));
}

/** Whether all words are equal except one number in the second half: `The rent is 1250`, `The rent is 1340`. */
function differInNumber({ words }: Statement, { words: others }: Statement): boolean {
  if (words.length !== others.length || words.length < 4) return false;
  let at = -1;
  for (let index = 0; index < words.length; index += 1) {
    if (words[index] === others[index]) continue;
    if (at !== -1) return false;
    at = index;
  }
  return at >= words.length / 2 && isNumber(words[at] ?? "") && isNumber(others[at] ?? "");
}

/**
 * What a text says has ended: `no longer works for Altova but for Corvex`, `yoga instead of chess`, `nicht mehr bei Altova, sondern`, `en
 * vez de café`. Read from its words alone, in the languages of the words of change.
 */

/** Phrases before what has ended, and the closing word of two-part phrases. */
const ALL: readonly { readonly phrase: readonly string[]; readonly closing?: string }[] = [
  ...phrases(
    `no longer|not anymore|stopped|quit|gave up|given up|instead of|rather than|in place of|switched from|moved from|migrated from|changed from|
    got rid of|gave away|traded|swapped|exchanged|sold|left|
    nicht mehr|statt|anstatt|anstelle von|anstelle|ya no|en vez de|en lugar de|dejo de|dejado de|deje de|dejado|vendio|vendido|abandono|abandonado`,
  ),
  ...phrases("kein|keine|keinen|keinem|keiner").map((one) => ({ ...one, closing: "mehr" })),
];
/** The same by first word. */
const OPENINGS = Map.groupBy(ALL, ({ phrase: [first = ""] }) => first);
/** Words after which a sentence names the replacement. */
const TURNS = new Set(
  analyse(
    `but and or now to since because sondern und oder jetzt nun inzwischen sino y pero ahora porque mehr`,
  ),
);
/** Maximum words of what has ended. */
const ENDED_MAX = 6;

function phrases(list: string): { readonly phrase: readonly string[] }[] {
  return list.split("|").map((phrase) => ({ phrase: analyse(phrase) }));
}

/** The words of a text that name what has ended. @param words as the analyser gives them */
export function endedWords(words: readonly string[]): ReadonlySet<string> {
  const ended = new Set<string>();
  words.forEach((first, at) => {
    for (const { phrase, closing } of OPENINGS.get(first) ?? []) {
      if (!phrase.every((part, index) => words[at + index] === part)) continue;
      for (const word of after(words, at + phrase.length, closing)) ended.add(word);
    }
  });
  return ended;
}

function after(
  words: readonly string[],
  from: number,
  closing: string | undefined,
): readonly string[] {
  const few = words.slice(from, from + ENDED_MAX);
  if (closing !== undefined) {
    const end = few.indexOf(closing);
    return end === -1 ? [] : few.slice(0, end);
  }
  const end = few.findIndex((word) => TURNS.has(word));
  return end === -1 ? few : few.slice(0, end);
}

/** Words for people and pets other than the speaker; folded. */
export const PERSONS: ReadonlySet<string> = new Set(
  `mother father mom mum dad parents son daughter sister brother wife husband partner girlfriend boyfriend fiance fiancee aunt
  uncle cousin niece nephew grandmother grandfather grandma grandpa granny friend friends colleague colleagues coworker boss manager
  neighbour neighbor neighbours neighbors roommate flatmate teacher doctor dentist landlord client clients customer customers
  kids children child baby dog cat
  mutter vater eltern sohn tochter schwester bruder frau mann partnerin freundin freund tante onkel nichte neffe oma opa kollegin
  kollege chefin chef nachbarin nachbar kinder kind hund katze
  madre padre padres hijo hija hermana hermano esposa esposo mujer marido novia novio tia tio prima primo sobrina sobrino abuela
  abuelo amiga amigo vecina vecino jefa jefe perro gato`.split(/\s+/),
);
