import type { CueLanguage } from "./language.ts";

/** First person singular, by language. */
const FIRST_PERSON = {
  en: words("i me my mine myself"),
  de: words("ich mich mir mein meine meinem meinen meiner meines"),
  es: words("yo me mí mi mis mío mía míos mías conmigo"),
} as const;
/** Those of them that say who acts, and that need not have something that belongs to the speaker after them. */
const OWN_SELF = new Set(words("i me myself mine ich mich mir yo me mí conmigo"));

const OTHER_PERSONS = words(
  `we us ourselves our ours you yourself yourselves your yours he him himself his she her herself hers they them themselves their
  theirs it itself wir uns unser unsere unserem unseren unserer du dich dir dein deine deinem deinen deiner er ihn ihm sein seine
  sie ihr ihre ihrem ihren ihrer ihnen es nosotros nosotras nos nuestro nuestra nuestros nuestras tú ti tu tus usted ustedes él ella
  ellos ellas su sus`,
);

/** A name may be written as one of these: Mía. */
const NAMES = new Set(words("mía mío míos mías"));
const ALL_FIRST = new Set([...FIRST_PERSON.en, ...FIRST_PERSON.de, ...FIRST_PERSON.es]).difference(
  NAMES,
);
const ALL = new Set([...ALL_FIRST, ...OTHER_PERSONS]);

/** Types of names that only look like personal words, such as the technology `It`. */
const OTHER_TYPES = new Set(
  words(
    "country place location technology concept product tool language programming_language chemical element number",
  ),
);

/**
 * Verbs with which a Spanish clause says that its speaker acts: the language leaves the pronoun out. Common ones only.
 */
const SPANISH_VERB = new RegExp(
  String.raw`(?:^\s*|[.,;:!¡¿?(]\s*|\b(?:y|pero|que|porque|aunque|ni|cuando|donde|si)\s+)(?:(?:no|ya|ahora|antes|tal vez|quizás?|probablemente|posiblemente|le|también|tampoco|siempre|nunca|hoy|ayer|actualmente|desde \p{L}+|solo|sólo|apenas|casi)\s+){0,3}(?:${[
    "vivo|trabajo|prefiero|uso|utilizo|tengo|soy|estoy|voy|hago|quiero|querría|quisiera|necesito|estudio|toco|juego|odio|detesto|aborrezco|evito|adoro|amo|llevo",
    "hablo|nací|compré|vendí|cambié|dejé|empecé|terminé|aprendí|aprendo|viajo|viajé|corro|corrí|nado|nadé|como|bebo|tomo|leo",
    "escribo|cocino|conduzco|monto|colecciono|pago|pagué|gané|gano|debo|puedo|podría|creo|pienso|espero|planeo|intento|intenté",
    "decidí|elegí|acepté|rechacé|visité|conocí|terminé|perdí|encontré|reservé|pedí|mandé|envié|recibí|soñé|fui|estuve|tuve|hice",
    "he|había|iré|haré|seré|estaré|viviré|trabajaré|compraré|cambiaré|dejaré|enseño|dirijo|programo|entreno|cultivo|crío|sufro",
    "duermo|desayuno|ceno|fumo|fumaba|vivía|trabajaba|usaba|jugaba|tocaba|adopté|alquilo|alquilé|me",
  ].join("|")})(?![\p{L}\p{M}])`,
  "iu",
);

/** A token that is a word: `i.e.` has no first person. */
const WORD = /[\p{L}\p{M}]+/gu;

/** Whether a value is the first person singular. */
export function isFirstPerson(value: string): boolean {
  return ALL_FIRST.has(value.trim().toLowerCase());
}

/** Whether a value is a personal word, which names somebody only in its turn. @param type what kind of thing it is said to be */
export function isPersonal(value: string, type?: string): boolean {
  if (type !== undefined && OTHER_TYPES.has(type.trim().toLowerCase())) return false;
  return ALL.has(value.trim().toLowerCase());
}

/** Spanish verbs of the first person plural; other words end as they do. */
const SPANISH_WE =
  /(?<![\p{L}\p{M}])(?!(?:kilo|mili)?gramos|(?:pró|má)ximos|mínimos|últimos|mismos|primos|ramos|tramos|\p{L}+ísimos|\p{L}+ogramos)(?:\p{L}{2,}(?:amos|emos|imos)|hemos|vamos|somos)(?![\p{L}\p{M}])/iu;

/** Whether a value is the word for `we` that a Spanish text leaves out, and the text has a verb that says it. */
export function isImpliedWe(value: string, text: string, language: CueLanguage): boolean {
  return (
    language === "es" && /^nosotr[oa]s$/i.test(value.trim()) && SPANISH_WE.test(text.normalize())
  );
}

/** Whether a text has any form of the first person singular. */
export function mentionsFirstPerson(text: string, language: CueLanguage): boolean {
  return hasForm(text, language, () => true) || speaksAsOne(text, language);
}

/** Whether the speaker of a text appears in it otherwise than as the owner of something: in `my sister` only she does. */
export function mentionsOwnSelf(text: string, language: CueLanguage): boolean {
  return hasForm(text, language, (word) => OWN_SELF.has(word)) || speaksAsOne(text, language);
}

function speaksAsOne(text: string, language: CueLanguage): boolean {
  return language === "es" && SPANISH_VERB.test(text);
}

function hasForm(text: string, language: CueLanguage, counts: (word: string) => boolean): boolean {
  const forms = new Set<string>([...FIRST_PERSON.en, ...FIRST_PERSON[language]]);
  for (const { index, 0: found } of text.matchAll(WORD)) {
    const word = found.toLowerCase();
    if (!forms.has(word) || !counts(word)) continue;
    if (word === "i" && /^\.\s?e\b/i.test(text.slice(index + 1, index + 4))) continue;
    return true;
  }
  return false;
}

function words(text: string): string[] {
  return text.split(/\s+/);
}
