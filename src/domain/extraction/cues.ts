import { likeliest } from "../language.ts";

/**
 * Words that weaken a plain statement, by language. English applies to every text, as does French negation, which resembles no English
 * phrase; other languages apply to their own texts. Tables only; the code that uses a cue decides what follows from it.
 */
export type Cues = {
  /** A condition follows. */
  readonly condition: RegExp;
  /** Questions inside sentences, which look like conditions; removed before. */
  readonly indirectQuestion: RegExp;
  readonly uncertain: RegExp;
  /** Requests and polite phrases, which look like uncertainty; removed before. */
  readonly notUncertain: RegExp;
  /** Somebody chose. */
  readonly choice: RegExp;
  /** The statement is not true. */
  readonly negation: RegExp;
  /** What was so has ended. */
  readonly ending: RegExp;
  /** Phrases with a negation word that negate nothing; removed before. */
  readonly notNegation: RegExp;
  /** What held once. */
  readonly past: RegExp;
  /** A value follows that has been replaced. */
  readonly replaced: RegExp;
  readonly noMore: RegExp;
  readonly change: RegExp;
  readonly clauseEnd: RegExp;
  readonly listGoesOn: RegExp;
  readonly question: RegExp;
  /** People and animals that a speaker calls their own. */
  readonly kin: RegExp;
  /** The speaker as an owner. */
  readonly possessive: RegExp;
  readonly advice: RegExp;
};

const OPEN = String.raw`(?<![\p{L}\p{M}\p{N}_])`;
const CLOSE = String.raw`(?![\p{L}\p{M}\p{N}_])`;

/** Any of these, as whole words, in any case; blanks match any white space. */
function any(phrases: string): RegExp {
  const body = phrases
    .trim()
    .split(/\s*\|\s*/)
    .join("|")
    .replace(/ +/g, String.raw`\s+`);
  return new RegExp(`${OPEN}(?:${body})${CLOSE}`, "giu");
}

const EN: Cues = {
  condition: any(
    "if|unless|provided that|as long as|only if|(?<=^\\s*|[.!?]\\s+)should(?= [^.!?]{2,80}, )",
  ),
  indirectQuestion: any(
    "(?:ask(?:ed|ing)?|check(?:ed|ing)?|curious|determin(?:e|ed|ing)|find(?:ing)? out|know|see|wonder(?:ed|ing)?) if|what if|as if|if (?:only|you don't mind|i'm not mistaken|possible)",
  ),
  uncertain: any(
    "might|could|possibly|perhaps|maybe|probably|ideally|hopefully|(?:dream(?:ing|ed|t|s)? that|in (?:my|a) dream)|not sure|unsure|i guess|i suppose|supposedly|allegedly|rumou?r(?:s|ed)? (?:has|have|says?|is|that)|likely to|seems? to|i think about|thinking about|thinking of|considering|wonder(?:ed|ing)? (?:if|whether)|not know (?:if|whether)|n['’]t know (?:if|whether)|no idea (?:if|whether)",
  ),
  notUncertain: any(
    "could you|never could|could (?:not|n't)|couldn't|might as well|you could (?:please )?(?:also )?(?:help|suggest|recommend|explain|show|tell|give|provide|brainstorm)",
  ),
  choice: any(
    "decid\\p{L}*|chose|chosen|select(?:ed|s)?|opt(?:ed|s)?|agree[ds]?|commit(?:ted|s)?|reject(?:ed|s)?|going with|went with|settled on",
  ),
  negation: any(
    "not|never|no|none|nobody|nothing|neither|nor|cannot|without|hardly|barely|scarcely|(?<=^[\\s\"“]*|[.!?]\\s+)as if (?:i|we|he|she|they)|(?:do|does|did|is|are|was|were|have|has|had|ca|could|wo|would|should|must|need)n['’]t|no longer|false that|untrue|(?:n['’]|ne )(?:[\\p{L}’'-]+ ){1,4}?(?:pas|plus|jamais|rien|personne|aucune?)",
  ),
  ending: any(
    "stop(?:ped|ping)?|quit|gave up|given up|refus\\p{L}+|declined|rejected|turned (?:(?:it|them|him|her) )?down|cancel\\p{L}*|got rid of|unsubscribed|broke up",
  ),
  notNegation: any(
    "nothing (?:except|other than)|not (?:only|just|to mention)|no (?:doubt|problem|wonder|worries|matter|later than|more than|less than)|no[,.]|(?:ca|could|do)n['’]t (?:wait|help|forget)|couldn['’]t be (?:happier|better)|why not|or not|nothing but|never mind|not bad|without (?:a )?(?:doubt|problem|exception)|non-?stop|(?:bus|train|tram|metro) stop|stop (?:by|at)|stopped (?:by|at)",
  ),
  past: any(
    "(?<!(?:get|got|be|am|is|are|was|were|getting|being)\\s)used to|formerly|previously|before that|back then|in the old days",
  ),
  replaced: any(
    "instead of|rather than|in place of|(?:switched|moved|migrated|changed|converted|went|rose|fell|grew|dropped) (?:(?:the|our|my|it|over|up|down)(?: \\p{L}+){0,3} )?from|replaced|no longer at|(?<!(?:nothing|nobody|none) )(?:except(?: for)?|apart from|other than)",
  ),
  noMore: any("no longer|any ?more|stop(?:ped|ping)?|quit|gave up|used to|cancel\\p{L}*|formerly"),
  change: any(
    "now|nowadays|no longer|not any ?more|any ?more|instead|from now on|as of|since|actually|changed|switch(?:ed|ing)?|mov(?:ed|ing)|migrat(?:ed|ing)|replac(?:ed|es|ing)|renamed|upgraded|updated|revised|postponed|rescheduled|cancel(?:led|ed)|stopped|quit|gave up|left|sold|became|new|rather than|correction|wrong|mistaken|turned out|turns out|used to|went from|converted|traded|swapped|dropped|retired|promoted|ended|closed|broke up|divorced|married|went back|returned to|don['’]t|doesn['’]t|isn['’]t|not|never|without|got rid of|gave away|lost|raised|lowered|increased|decreased|extended|shortened|pushed back|brought forward",
  ),
  clauseEnd:
    /[;—–()]|[,:](?!\d)|\s-\s|(?<![\p{L}])(?:but|although|though|however|because|whereas|while|so|since|and|or|which|who|until)(?![\p{L}])/giu,
  listGoesOn: /^(?:and|or|nor)$/i,
  question:
    /^\s*(?:please|can|could|would|will|do|does|did|is|are|was|were|have|has|had|should|shall|may|what|which|who|whom|whose|when|where|why|how|tell me|show me|give me|recommend|suggest|explain|imagine|suppose|let's say|pretend|assume|for example|e\.g\.)(?![\p{L}])/iu,
  kin: any(
    "(?:grand)?(?:mother|father|mom|mum|dad|son|daughter|parents?|ma|pa)|sister|brother|wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|aunt|uncle|cousin|niece|nephew|friend|colleague|coworker|co-worker|boss|manager|neighbou?r|roommate|flatmate|teacher|doctor|dentist|landlord|client|business partner|co-?founder|coach|trainer|therapist|lawyer|accountant|assistant|intern|tenant|student|nurse|team ?mate|dog|cat|kid|child|baby|twin|mother-in-law|father-in-law|sister-in-law|brother-in-law|team|company",
  ),
  possessive: any("my"),
  advice: any(
    "should|recommend|suggest|consider|try|you can|you could|you might|you may|would be|i'd|how about|why not|tip",
  ),
};

const DE: Cues = {
  condition: any(
    "wenn|falls|sofern|solange|nur wenn|es sei denn|vorausgesetzt|(?<=^\\s*|[.!?]\\s+)sollten?(?= [^.!?]{2,80}, )",
  ),
  indirectQuestion: any("als wenn|wenn auch|selbst wenn|immer wenn|jedes mal wenn"),
  uncertain: any(
    "vielleicht|idealerweise|hoffentlich|(?:träum\\p{L}*|geträumt),? (?:davon, )?dass|im traum|möglicherweise|eventuell|wahrscheinlich|vermutlich|wohl|könnte[nst]*|dürfte[nst]*|angeblich|scheinbar|anscheinend|nicht sicher|(?:weiß|wissen|wusste|wussten) (?:(?:ich|wir) )?(?:noch )?nicht|keine ahnung|frage mich|überlege[nst]*|unsicher",
  ),
  notUncertain: any("könnte[nst]* (?:du|sie|ihr)|könnten sie bitte|fühle mich wohl|sehr wohl"),
  choice: any(
    "entschied\\p{L}*|entschlossen|gewählt|wählte|ausgewählt|beschlossen|geeinigt|abgelehnt|zugesagt|festgelegt",
  ),
  negation: any(
    "nicht|kein\\p{L}{0,2}|nie|niemals|niemand\\p{L}{0,2}|kaum|nichts|weder|ohne|nirgends",
  ),
  ending: any(
    "aufgehört|aufgegeben|abgelehnt|ausgeschlagen|gekündigt|abbestellt|abgesagt|verzichte\\p{L}*|abgeschafft",
  ),
  notNegation: any(
    "nicht nur|nicht zuletzt|kein problem|keine sorge|ohne zweifel|nicht wahr|warum nicht|nicht schlecht|nichts als|stattdessen",
  ),
  past: any(
    "(?:vorher|zuvor)(?= (?:war|hatte|habe|bin|\\p{L}+te)[nst]?(?![\\p{L}]))|früher|damals|ehemals|einst",
  ),
  replaced: any(
    "statt|anstatt|anstelle von|außer|ausgenommen|gewechselt von|umgestiegen von|(?:bin|sind|ist|wurde|wurden) von(?=[^.!?]{0,60}(?:gewechselt|umgestiegen|umgezogen|verschoben|verlegt))|ersetzt",
  ),
  noMore: any(
    "nicht mehr|kein\\p{L}{0,2}(?: \\p{L}+){0,3} mehr|aufgehört|gekündigt|früher|abgesagt|abbestellt",
  ),
  change: any(
    "jetzt|nun|inzwischen|mittlerweile|seit|ab sofort|nicht mehr|kein\\p{L}{0,2} mehr|statt|stattdessen|anstatt|doch|sondern|eigentlich|gewechselt|wechsel\\p{L}*|umgezogen|umgestiegen|ersetzt|geändert|verschoben|abgesagt|gekündigt|aufgehört|neu\\p{L}{0,2}|lieber|verkauft|verlassen|korrektur|falsch|nicht|kein\\p{L}{0,2}|früher|geworden|erhöht|gesenkt",
  ),
  clauseEnd:
    /[;—–()]|[,:](?!\d)|\s-\s|(?<![\p{L}])(?:aber|sondern|obwohl|jedoch|weil|während|und|oder|denn|dass|bis)(?![\p{L}])/giu,
  listGoesOn: /^(?:und|oder|noch)$/i,
  question:
    /^\s*(?:bitte|kannst|können|könntest|könnten|würdest|würden|hast|haben|hat|ist|sind|bist|war|was|welche[rsnm]?|wer|wen|wem|wann|wo|wohin|woher|warum|wieso|wie|soll|sollte|muss|darf|zeig|sag|nenn|erklär|empfiehl|stell dir vor|angenommen|nehmen wir an|zum beispiel|z\.\s?b\.)(?![\p{L}])/iu,
  kin: any(
    "(?:groß|schwieger)?(?:mutter|vater|eltern|sohn|tochter)|mama|papa|oma|opa|schwester|bruder|frau|mann|partner|partnerin|freundin|freund|verlobter?|tante|onkel|cousine?|nichte|neffe|kollegin|kollege|chefin|chef|nachbarin|nachbar|mitbewohnerin|mitbewohner|lehrerin|lehrer|ärztin|arzt|zahnarzt|vermieterin|vermieter|kundin|kunde|geschäftspartner(?:in)?|trainer(?:in)?|therapeut(?:in)?|anwalt|anwältin|steuerberater(?:in)?|praktikant(?:in)?|schüler(?:in)?|mieter(?:in)?|hund|katze|kater|kind|baby|schwager|schwägerin|team|firma",
  ),
  possessive: any("mein(?:e|em|en|er|es)?"),
  advice: any(
    "sollte\\p{L}*|empfehle|rate|versuch\\p{L}*|probier\\p{L}*|du kannst|sie können|wie wäre|tipp|am besten",
  ),
};

const ES: Cues = {
  condition: any("si|a menos que|siempre que|siempre y cuando|sólo si|solo si|en caso de que"),
  indirectQuestion: any(
    "(?:saber|pregunt\\p{L}+|ver|averiguar|comprobar|sé|dudo) si|como si|incluso si|aun si",
  ),
  uncertain: any(
    "quizás?|tal vez|ojalá|idealmente|soñ(?:é|aba|ando|ado) que|en (?:mi|un) sueño|posiblemente|probablemente|a lo mejor|puede que|podrían?|podríamos|supongo|al parecer|supuestamente|no estoy segur[oa]|dudo|parece que|estoy pensando en",
  ),
  notUncertain: any("podrías?|podría usted"),
  choice: any(
    "decid\\p{L}*|elegí|eligi\\p{L}*|elegid\\p{L}*|escog\\p{L}*|opt(?:é|ó|amos|aron)|acord\\p{L}*|rechac\\p{L}*|rechaz\\p{L}*|quedamos en",
  ),
  negation: any("no|nunca|jamás|nadie|nada|ningún|ninguna|ninguno|tampoco|ni|sin"),
  ending: any(
    "dej\\p{L}{1,6} de|dej(?:é|ó|amos|aron|ado) (?:el|la|los|las)|rech(?:acé|azó|azamos|azaron|azado)|cancel\\p{L}*|renunci\\p{L}*",
  ),
  notNegation: any(
    "no (?:sólo|solo|solamente)|sin (?:duda|problemas?|falta)|no hay duda|por qué no|no está mal|nada más que|cómo no|no[,.]",
  ),
  past: any(
    "antes(?! del?(?![\\p{L}]))|anteriormente|solía|solíamos|antiguamente|en aquella época",
  ),
  replaced: any(
    "en vez de|en lugar de|cambi(?:é|ó|amos) de|(?:cambi|pas|aplaz|traslad)ado (?:el|la|los|las|mi|nuestro|nuestra)(?: \\p{L}+){1,3} del?|excepto|salvo|a excepción de|reemplac\\p{L}*|reemplaz\\p{L}*|sustitu\\p{L}*",
  ),
  noMore: any(
    "ya no|dej\\p{L}{1,6} de|dej(?:é|ó|amos|aron|ado) (?:el|la|los|las)|antes(?! del?(?![\\p{L}]))|solía|cancel\\p{L}*",
  ),
  change: any(
    "ahora|ya no|desde|a partir de|en vez|en lugar|en realidad|sino|actualmente|cambi\\p{L}*|mud\\p{L}*|nuev[oa]s?|dej(?:é|ó|ado|aron)|vendí|compré|reemplac\\p{L}*|reemplaz\\p{L}*|sustitu\\p{L}*|cancel\\p{L}*|aplaz\\p{L}*|corrección|equivoc\\p{L}*|no|nunca|tampoco|solía|antes|renunci\\p{L}*|pas(?:é|ó|amos) a|subió|bajó",
  ),
  clauseEnd:
    /[;—–()]|[,:](?!\d)|\s-\s|(?<![\p{L}])(?:pero|aunque|porque|sino|mientras|y|e|o|u|que|hasta)(?![\p{L}])/giu,
  listGoesOn: /^(?:y|e|o|u|ni)$/i,
  question:
    /^[\s¿¡]*(?:por favor|puedes|podrías|podría|puede|me (?:puedes|podrías|recomiendas)|qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|adónde|por qué|cómo|cuánt[oa]s?|dime|muéstrame|dame|explícame|recomiéndame|imagina|supón|supongamos|por ejemplo)(?![\p{L}])/iu,
  kin: any(
    "madre|padre|mamá|papá|padres|hij[oa]s?|abuel[oa]s?|herman[oa]s?|espos[oa]|marido|mujer|pareja|novi[oa]|prometid[oa]|tí[oa]|prim[oa]|sobrin[oa]|amig[oa]|colega|compañer[oa]|jef[ea]|vecin[oa]|profesora?|médic[oa]|dentista|caser[oa]|cliente|soci[oa]|entrenadora?|terapeuta|abogad[oa]|asesora?|becari[oa]|alumn[oa]|inquilin[oa]|perr[oa]|gat[oa]|bebé|suegr[oa]|cuñad[oa]|equipo|empresa",
  ),
  possessive: any("mi|mis"),
  advice: any(
    "deberías?|recomiendo|sugiero|considera|prueba|intenta|puedes|podrías|qué tal|consejo",
  ),
};

const TABLES: Readonly<Record<CueLanguage, readonly Cues[]>> = {
  en: [EN],
  de: [EN, DE],
  es: [EN, ES],
};

/** The cues that count in a text. */
export function cuesOf(language: CueLanguage): readonly Cues[] {
  return TABLES[language];
}

export function hasCue(text: string, language: CueLanguage, cue: keyof Cues): boolean {
  return cuesOf(language).some((cues) => text.search(cues[cue]) !== -1);
}

/** Whether a text has a cue outside of phrases that merely look like one. */
export function hasCueBeside(
  text: string,
  language: CueLanguage,
  cue: keyof Cues,
  lookalike: keyof Cues,
): boolean {
  let rest = text;
  for (const cues of cuesOf(language)) rest = rest.replace(cues[lookalike], " \u0000 ");
  return hasCue(rest, language, cue);
}

const LANGUAGES = ["en", "de", "es"] as const;

export type CueLanguage = (typeof LANGUAGES)[number];

/** The language of a text. @param around that of the conversation, used if the text is undecided */
export function languageOf(text: string, around: CueLanguage = "en"): CueLanguage {
  return likeliest(text, LANGUAGES, around);
}

const FIRST_PERSON = {
  en: words("i me my mine myself"),
  de: words("ich mich mir mein meine meinem meinen meiner meines"),
  es: words("yo me mí mi mis mío mía míos mías conmigo"),
} as const;
/** Pronouns for the actor, which need not be followed by something the speaker owns. */
const OWN_SELF = new Set(words("i me myself mine ich mich mir yo me mí conmigo"));

const OTHER_PERSONS = words(
  `we us ourselves our ours you yourself yourselves your yours he him himself his she her herself hers they them themselves their
  theirs it itself wir uns unser unsere unserem unseren unserer du dich dir dein deine deinem deinen deiner er ihn ihm sein seine
  sie ihr ihre ihrem ihren ihrer ihnen es nosotros nosotras nos nuestro nuestra nuestros nuestras tú ti tu tus usted ustedes él ella
  ellos ellas su sus`,
);

/** A name can look like one of these: Mía. */
const NAMES = new Set(words("mía mío míos mías"));
const ALL_FIRST = new Set([...FIRST_PERSON.en, ...FIRST_PERSON.de, ...FIRST_PERSON.es]).difference(
  NAMES,
);
const ALL = new Set([...ALL_FIRST, ...OTHER_PERSONS]);

/** Types of names that merely look like personal words, such as the technology `It`. */
const OTHER_TYPES = new Set(
  words(
    "country place location technology concept product tool language programming_language chemical element number",
  ),
);

/** Verbs with which a Spanish clause has its speaker as subject, since the pronoun is usually dropped. Common ones only. */
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

/** A token that is a word: `i.e.` contains no first person. */
const WORD = /[\p{L}\p{M}]+/gu;

export function isFirstPerson(value: string): boolean {
  return ALL_FIRST.has(value.trim().toLowerCase());
}

/** Whether a value is a personal word, which identifies a person only within its turn. @param type of the entity, as stated */
export function isPersonal(value: string, type?: string): boolean {
  if (type !== undefined && OTHER_TYPES.has(type.trim().toLowerCase())) return false;
  return ALL.has(value.trim().toLowerCase());
}

/** First person plural verbs in Spanish; other words have the same endings. */
const SPANISH_WE =
  /(?<![\p{L}\p{M}])(?!(?:kilo|mili)?gramos|(?:pró|má)ximos|mínimos|últimos|mismos|primos|ramos|tramos|\p{L}+ísimos|\p{L}+ogramos)(?:\p{L}{2,}(?:amos|emos|imos)|hemos|vamos|somos)(?![\p{L}\p{M}])/iu;

/** Whether a value is a `we` that a Spanish text drops, and the text has a verb that implies it. */
function isImpliedWe(value: string, text: string, language: CueLanguage): boolean {
  return (
    language === "es" && /^nosotr[oa]s$/i.test(value.trim()) && SPANISH_WE.test(text.normalize())
  );
}

/** Whether a text has any form of the first person singular. */
export function mentionsFirstPerson(text: string, language: CueLanguage): boolean {
  return hasForm(text, language, () => true) || speaksAsOne(text, language);
}

/** Whether the speaker of a text appears in it other than as an owner: `my sister` mentions only her. */
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

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}_]/u;
/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const MAX_LOOKS = 1000;

/** Whether a text has a value as whole words, in any case: `Zoë` is not in `Zoës`, `$500` is in `$500 for`. */
export function isMentioned(value: string, text: string): boolean {
  return placesOf(value, text).next().done === false;
}

/** Where a text, in lower case, has a value as whole words. */
export function* placesOf(value: string, text: string): Generator<number> {
  const sought = value.trim().toLowerCase();
  const where = text.toLowerCase();
  if (sought === "") return;
  let at = where.indexOf(sought);
  for (let looks = 0; at !== -1 && looks < MAX_LOOKS; looks += 1) {
    const end = at + sought.length;
    const isWhole =
      !isJoined(lastPoint(where.slice(Math.max(0, at - 2), at)), firstPoint(sought)) &&
      !isJoined(lastPoint(sought.slice(-2)), firstPoint(where.slice(end, end + 2)));
    if (isWhole) yield at;
    at = where.indexOf(sought, at + 1);
  }
}

/** Whether a text mentions a subject or object: as whole words, or, for the first person, in any of its forms. */
export function isNamed(value: string, text: string, language: CueLanguage): boolean {
  if (isFirstPerson(value)) return mentionsFirstPerson(text, language);
  return isMentioned(value, text) || isImpliedWe(value, text, language);
}

/** Whether two neighbouring characters belong to one word. */
function isJoined(before: string, after: string): boolean {
  if (!WORD_CHARACTER.test(before) || !WORD_CHARACTER.test(after)) return false;
  return !UNSPACED.test(before) && !UNSPACED.test(after);
}

function firstPoint(text: string): string {
  return [...text][0] ?? "";
}

function lastPoint(text: string): string {
  return [...text].at(-1) ?? "";
}
