import type { CueLanguage } from "./language.ts";

/**
 * Words by which a text says that it means less than a plain statement, by language. English counts in every text, with the
 * negation of French, which is like no English phrase; another language in its own texts. Tables only: what follows from a cue stands beside its use.
 */
export type Cues = {
  /** A condition follows. */
  readonly condition: RegExp;
  /** Questions inside sentences, which look like conditions; removed before. */
  readonly indirectQuestion: RegExp;
  readonly uncertain: RegExp;
  /** Requests and politeness, which look like uncertainty; removed before. */
  readonly notUncertain: RegExp;
  /** Somebody chose. */
  readonly choice: RegExp;
  /** What is said does not hold. */
  readonly negation: RegExp;
  /** What was so holds no more. */
  readonly ending: RegExp;
  /** Phrases with a word of negation that deny nothing; removed before. */
  readonly notNegation: RegExp;
  /** What held once. */
  readonly past: RegExp;
  /** A value follows that another one has replaced. */
  readonly replaced: RegExp;
  /** It was so, and is so no more. */
  readonly noMore: RegExp;
  /** Something has changed. */
  readonly change: RegExp;
  /** Where a clause ends. */
  readonly clauseEnd: RegExp;
  /** A list goes on. */
  readonly listGoesOn: RegExp;
  /** The beginning of a question. */
  readonly question: RegExp;
  /** People and animals that a speaker calls hers. */
  readonly kin: RegExp;
  /** The speaker as an owner. */
  readonly possessive: RegExp;
  /** Advice. */
  readonly advice: RegExp;
};

const OPEN = String.raw`(?<![\p{L}\p{M}\p{N}_])`;
const CLOSE = String.raw`(?![\p{L}\p{M}\p{N}_])`;

/** Any of these, as whole words, in any case; blanks stand for any white space. */
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

/** Whether a text has a cue. */
export function hasCue(text: string, language: CueLanguage, cue: keyof Cues): boolean {
  return cuesOf(language).some((cues) => text.search(cues[cue]) !== -1);
}

/** Whether a text has a cue outside of phrases that only look like it. */
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
