import { compareUnits, foldCase } from "../lib/text.ts";
import type { Uuid } from "../lib/uuid.ts";
import type { NodeType } from "./enums.ts";
import { languagesOfText } from "./language.ts";
import { analyse } from "./lexical-analysis.ts";
import type { MemoryNode } from "./node.ts";
import { PERSONS } from "./replacement.ts";
import { isOfConversation } from "./search/turns.ts";

/**
 * What an overview of a person says, without a model: which part of it a memory belongs to, and which names its texts mention. A declared
 * type decides; a note is read by its words, in English, German, Spanish, French, Italian, Portuguese and Dutch. `scripts/quality/overview.ts`
 * measures the words on lives that they were not written for.
 */

/** The parts of an overview, in order. */
export const OVERVIEW_PARTS = [
  "instructions",
  "preferences",
  "facts",
  "people",
  "decisions",
  "tasks",
] as const;
export type OverviewPart = (typeof OVERVIEW_PARTS)[number];

const PART_OF_TYPE: Partial<Record<NodeType, OverviewPart>> = {
  instruction: "instructions",
  preference: "preferences",
  fact: "facts",
  decision: "decisions",
  task: "tasks",
};

const NO_LETTER = "(?![\\p{L}\\p{N}])";
const NO_LETTER_BEFORE = "(?<![\\p{L}\\p{N}])";
/** Alternatives anywhere in a text, as whole words; `|` and line breaks separate them. */
function anywhere(list: string): string {
  return `${NO_LETTER_BEFORE}(?:${alternatives(list)})${NO_LETTER}`;
}
/** Alternatives at the beginning of a sentence. */
function first(list: string): string {
  return `(?:^|[.!?:;,\\n]\\s+)(?:${alternatives(list)})${NO_LETTER}`;
}
const alternatives = (list: string): string =>
  list
    .trim()
    .split(/\s*\n\s*/)
    .join("|");
const cue = (...sources: readonly string[]): RegExp => new RegExp(sources.join("|"), "iu");

/** What is said to the assistant, for every time. */
const INSTRUCTS = cue(
  first(`(?:please )?(?:always|never|answer|reply|respond|call me|address me|speak|talk to|write (?:to me|me|in|all|every|code|tests|emails?)|use|keep|avoid|don['’]t|do not|make sure|remind me|ask me|give me|show me|tell me|format|sign|translate|include|leave out|skip|send me|book|schedule|list|summari[sz]e|explain|treat|assume|mention|stop)
    (?:whenever|when|each time|every time|if) (?:you|i ask|i say)|you (?:should|must|may|can) (?:always|never|not)|from now on
    duz(?:e|t) mich|siez(?:e|t) mich|antworte|schreib|schreibe|formuliere|lass|verwende|benutze|nutze|nenne? mich|sprich|erinnere mich|frag(?:e)? mich|gib mir|zeige? mir|achte|vermeide|halte dich|sag mir|mach|trag|stell|plane|schick|sende|vergiss|denk|sortiere|buche|nimm|immer wenn du|wenn du|niemals
    (?:por favor )?(?:responde|respóndeme|contesta|contéstame|háblame|escríbeme|escribe|usa|utiliza|evita|recuérdame|llámame|trátame|tutéame|(?:pon|di|da|haz|avísa|mánda|envía|enséña|explíca|búsca|cuénta|resúme)(?:me|melo|nos)|pon|apunta|anota|nunca me|siempre que|cuando me|cada vez que (?:me|tú))|no (?:me |le |les |lo |la |los |las |nos )?(?:pongas|uses|llames|mandes|envíes|escribas|hables|des|digas|hagas|apuntes|reserves|propongas|sugieras|recomiendes|incluyas|olvides|metas|cuentes|expliques|repitas)
    réponds|répondez|tutoie|vouvoie|appelle-moi|écris|utilise|évite|rappelle-moi|ne (?:me |m['’])?\\p{L}+(?:e|ez|is)|quand tu|chaque fois que tu|à partir de maintenant
    rispondi|rispondimi|dammi del|chiamami|scrivi|usa|evita|ricordami|quando mi|ogni volta che (?:mi|tu)
    responda|responde-me|trata-me|chama-me|me chame|escreva|escreve|use|evite|lembra-me|sempre que (?:me|você)
    antwoord|spreek me|noem me|schrijf|gebruik|vermijd|herinner me|als je|telkens als je`),
  anywhere(`never (?:book|send|share|call|schedule|suggest|mention|give|tell|use|write|put|remind|ask)|(?:whenever|when|each time|every time) you (?:make|write|answer|reply|send|suggest|plan|book|draft|show|give|help|list|summari[sz]e|translate)
    bitte(?: \\p{L}+)? (?:nie|nicht|immer|niemals|nur|kein|keine|keinen)|(?:nie|niemals|immer) (?:[\\p{L}\\p{N}-]+ ){0,6}?(?:legen|weitergeben|verwenden|nennen|schreiben|schicken|senden|fragen|nachfragen|nehmen|machen|geben|erwähnen|vorschlagen|buchen|planen)|gehör(?:t|en) immer|(?:du|ihr) (?:sollst|sollt|darfst|dürft|musst|müsst)
    (?:i want|i['’]d like|i need) you to|ich (?:möchte|will|hätte gern), dass du|(?:quiero|necesito|prefiero) que (?:me|no|tú)|je (?:veux|voudrais) que tu|j['’]aimerais que tu|voglio che (?:tu|mi)|quero que (?:me|você)
    (?:firma|usa|pon|escribe|incluye|añade|menciona|responde|manda|envía) siempre|siempre (?:firma|usa|pon|escribe|incluye|añade|menciona|responde|manda|envía)
    (?:nunca|siempre|no) (?:me|le|les) (?:des|mandes|llames|hables|pongas|reserves|propongas|recuerdes|escribas)`),
);

/** What somebody likes, dislikes, eats, drinks or would rather have. */
const PREFERS = cue(
  anywhere(`i(?:['’]d| would)? (?:\\p{L}+ly |still |always |just )?(?:prefer|like|love|enjoy|hate|dislike|detest|adore|favou?r|rather)|i can(?:['’]t|not) stand|i (?:don['’]t|do not|never) (?:like|eat|drink|want|enjoy|care for)|i only (?:eat|drink|use|wear|read|buy|take)|i['’]?(?:m| am) (?:a )?(?:vegetarian|vegan|teetotal|pescatarian|not (?:a fan|keen))|my favou?rite|(?:he|she|they) (?:hates|loves|prefers|likes|can['’]t stand|hate|love|prefer)
    ich (?:mag|bevorzuge|liebe|hasse|möchte lieber)|mag ich|ich (?:esse|trinke|nehme|benutze|trage|lese|kaufe|verwende) (?:\\p{L}+ )?(?:kein|keine|keinen|nur|gern|gerne|lieber|am liebsten|nie)|\\p{L}+e ich (?:\\p{L}+ )?(?:nur|kein|keine|keinen|gern|gerne|nie|lieber)|am liebsten|\\p{L}*lieblings\\p{L}*|kann ich nicht (?:leiden|ausstehen)|ich kann \\p{L}+ nicht (?:leiden|ausstehen)|ich ziehe \\p{L}+ .{0,40}vor
    prefiero|me (?:gustan?|encantan?|chiflan?|molestan?|cae (?:mal|fatal)|sientan? (?:mal|fatal))|odio|detesto|no (?:soporto|aguanto|como|bebo|tomo|me gustan?)|solo (?:como|bebo|tomo|uso)|mi .{0,25}favorit[oa]
    je préfère|j['’](?:aime|adore)|je (?:déteste|n['’]aime pas|ne supporte pas|ne mange|ne bois)|mon .{0,25}préféré|ma .{0,25}préférée
    preferisco|mi (?:piace|piacciono)|odio|non (?:mi piace|sopporto|mangio|bevo)|prefiro|(?:gosto|adoro|odeio|detesto)|não (?:gosto|como|bebo|suporto)
    ik (?:hou van|houd van|haat|eet geen|drink geen|wil liever|heb liever)|liever`),
);

/** What was settled. */
const DECIDES = cue(
  anywhere(`(?:we|i)(?:['’]ve| have)? (?:decided|agreed|chose|chosen|settled|opted)|decided|decision|agreed (?:to|on|that|with)|(?:we|i)['’]?(?:re| are|m| am) going (?:with|for)|going for|instead of|we['’]?re (?:not )?going to
    beschlossen|entschieden|entschlossen|ausgemacht|vereinbart|abgemacht|entscheidung
    decidí|decidimos|decidido|hemos decidido|acordamos|acordado|quedamos en|décidé|convenu|choisi|deciso|abbiamo scelto|decidi|decidimos|combinámos|besloten|afgesproken`),
);

/** What is still to be done. */
const TO_DO = cue(
  anywhere(`(?:i|we) (?:still )?(?:need|have|must|ought|should)(?: to|n['’]t forget)|to-?do|due (?:to|on|by|in|next|date)?|deadline|don['’]t forget|remember to|still (?:need|have) to|before the end of
    (?:ich|wir) (?:muss|müssen|sollte|sollten)|noch (?:\\p{L}+ ){0,5}(?:machen|erledigen|bezahlen|schicken|abgeben|anrufen|kaufen|klären|bestellen|anmelden)|frist|fällig|nicht vergessen|abgabe
    tengo que|tenemos que|hay que|debo|pendiente|plazo|no olvidar|vence|je dois|nous devons|il faut|échéance|ne pas oublier|devo|dobbiamo|scadenza|tenho de|tenho que|prazo|ik moet|wij moeten|vergeet niet`),
);

/** Who somebody is, where at home, what ails. */
const STATES = cue(
  anywhere(`(?:i['’]m|i am)(?! (?:not|so|sure|glad|sorry|happy|tired|back|off|done|\\p{L}+ing))|my name(?:['’]s| is)|(?:i|we) (?:live|work|own|was born|were born|grew up|speak|study)|allergic|allerg(?:y|ies)|intolerant|can['’]t (?:have|eat|drink|tolerate)|diagnosed|migraines?|asthma|diabet\\p{L}+|pregnant
    ich bin(?! (?:so|froh|müde|wieder|nicht))|ich hei(?:ß|ss)e|(?:ich|wir) (?:wohne|wohnen|lebe|leben|arbeite|arbeiten|spreche)|gehört mir|allerg\\p{L}+|vertrage|unverträglich\\p{L}*|diagnos\\p{L}+|asthma|geboren
    (?:soy|me llamo|vivo|vivimos|trabajo|nací)|alérgic[oa]|alergia|intolerante|je suis(?! (?:content|fatigué))|je m['’]appelle|j['’]habite|je travaille|allergique|sono|mi chiamo|abito|lavoro|sou|chamo-me|moro|trabalho|ik ben|ik heet|ik woon|ik werk|allergisch`),
);

/** Words with which an instruction of a conversation is meant for later, too. */
const LASTS = cue(
  anywhere(`always|never|from now on|in (?:the )?future|whenever|every time|each time|remember
    immer|nie|niemals|künftig|ab jetzt|ab sofort|merk dir|siempre|nunca|a partir de ahora|recuerda|toujours|jamais|désormais
    sempre|mai|d['’]ora in poi|a partir de agora|altijd|nooit|voortaan`),
);

/** A question for all that is known of the asker. */
const ASKS_OF_PERSON = new RegExp(
  `^\\P{L}*(?:${alternatives(`(?:so |and )?what (?:all )?(?:do you|have you) (?:know|remember(?:ed)?|stored?|learned|got|have) (?:about|on|of) me
    (?:tell|show) me (?:all |everything )?(?:(?:that )?you (?:know|remember) )?about (?:me|myself)|who am i|do you (?:know|remember) me
    was wei(?:ß|ss)t du (?:alles |so )?(?:alles )?(?:über|von) mich?|was hast du (?:dir )?(?:alles )?über mich (?:gemerkt|gespeichert)|wer bin ich|kennst du mich
    qué (?:sabes|recuerdas) (?:tú )?(?:de|sobre) mí|quién soy(?: yo)?|que (?:sais|savez)-(?:tu|vous) (?:de|sur) moi|qui suis-je
    (?:che )?cosa sai (?:di|su) me|chi sono(?: io)?|o que (?:você )?sabes? (?:sobre|de) mim|quem sou eu|wat weet je (?:allemaal )?(?:over|van) mij|wie ben ik`)})\\P{L}*$`,
  "iu",
);

/** Whether a question asks for all that is known of the asker, which an overview answers. */
export function asksOfPerson(question: string): boolean {
  return ASKS_OF_PERSON.test(question);
}

/** UTF-16 units of a memory that an overview reads and shows: a longer one states more than one thing. */
export const OVERVIEW_READS = 400;

/**
 * The part of an overview to which a memory belongs; undefined: none. Only a person gives instructions: what a document or a tool says is
 * none, whatever its words. Of a conversation, only what is meant for later counts.
 */
export function overviewPart(node: MemoryNode): OverviewPart | undefined {
  const { nodeType, content, sourceType } = node;
  const isOfPerson = sourceType === "user_stated" || sourceType === "user_demonstrated";
  const declared = PART_OF_TYPE[nodeType];
  if (declared !== undefined) {
    return declared === "instructions" && !isOfPerson ? undefined : declared;
  }
  if (nodeType !== "note" || !isOfPerson || content.length > OVERVIEW_READS) return undefined;
  const isSaid = isOfConversation(node);
  if (INSTRUCTS.test(content) && (!isSaid || LASTS.test(content))) return "instructions";
  if (PREFERS.test(content)) return "preferences";
  if (isSaid) return undefined;
  if (DECIDES.test(content)) return "decisions";
  if (TO_DO.test(content)) return "tasks";
  return STATES.test(content) ? "facts" : undefined;
}

/** What stands before a name. */
const TITLES = new Set(
  "mr mrs ms miss mx dr prof sir herr frau herrn dr. mr. mrs. ms. señor señora don doña sr sra m mme monsieur madame signor signora dott meneer mevrouw".split(
    " ",
  ),
);
const CALLED = new Set(
  "called named heißt heisst namens heißen llama llamado llamada s'appelle appelé appelée chiama chiamato chamado chama heet genaamd".split(
    " ",
  ),
);
/** What somebody does; after a capital word, it is a person or an animal. */
const DOES = new Set(
  `is was has had wants will can said says started quit moves moved joined left got works lives likes loves hates rents switched learned
  ist war hat hatte will kann sagt wird wurde möchte kommt macht lernt zieht geht hilft wohnt arbeitet fährt
  es está tiene tenía quiere dijo va vive trabaja empezó est a veut vit travaille è ha vuole vive lavora tem quer mora trabalha is heeft wil woont werkt`.split(
    /\s+/,
  ),
);
/** After these, a capital German word is a noun. */
const BEFORE_NOUN = new Set(
  `der die das den dem des ein eine einen einem einer eines kein keine keinen zum zur im am vom beim ins ans mein meine meinen meinem meiner
  dein deine sein seine ihr ihre unser unsere viel viele mehr jede jeden jeder jedes the a an this that these those my your our their`.split(
    /\s+/,
  ),
);
const WORD = /[\p{L}\p{M}][\p{L}\p{M}'’.-]*/gu;
const CAPITAL = /^\p{Lu}[\p{L}\p{M}’'-]*[\p{Ll}\p{M}]/u;
const SENTENCE_END = /[.!?:\n"“„]\s*$/u;
/** The evidence from which a word is a name. */
const NAMED_FROM = 2;
/** Newest memories of a name that may tell who it is. */
const TOLD_BY = 4;
/** Months, weekdays and languages. */
const NO_NAMES = new Set(
  `january february march april may june july august september october november december monday tuesday wednesday thursday friday saturday
  sunday january's english german french spanish italian polish dutch portuguese russian chinese japanese christmas easter
  januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag weihnachten ostern
  lunes martes miércoles jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche`.split(
    /\s+/,
  ),
);

type Named = {
  evidence: number;
  /** Occurrences as another word. */
  against: number;
  memories: number;
  /** The newest memories that name it. */
  newest: readonly Uuid[];
  /** The memory that says who it is. */
  told: Uuid | undefined;
};

/** Somebody or something that memories name. */
export type NamedOne = {
  readonly name: string;
  /** How many memories name it. */
  readonly memories: number;
  /** The memory that says who or what it is, then the newest ones. */
  readonly about: readonly Uuid[];
};

/** The names in texts, oldest first, found by what stands around capital words. */
export class Names {
  readonly #names = new Map<string, Named>();
  readonly #plain = new Set<string>();

  add(node: MemoryNode): void {
    const text = node.content.slice(0, OVERVIEW_READS);
    const isGerman = languagesOfText(text, analyse(text)).includes("de");
    const seen = new Set<string>();
    for (const found of readWords(text, isGerman)) {
      if (typeof found === "string") {
        this.#plain.add(found);
        continue;
      }
      const named = this.#of(found.name);
      if (BEFORE_NOUN.has(found.before) && !found.isFirst) named.against += 1;
      named.evidence += evidenceOf(found, isGerman);
      if (isTold(found)) named.told ??= node.id;
      if (seen.has(found.name)) continue;
      seen.add(found.name);
      named.memories += 1;
      named.newest = [node.id, ...named.newest].slice(0, TOLD_BY);
    }
  }

  /** Most often named first. */
  list(): readonly NamedOne[] {
    return [...this.#names]
      .flatMap(([name, { evidence, against, told, memories, newest }]): NamedOne[] => {
        if (evidence < NAMED_FROM || against > 0 || this.#plain.has(foldCase(name))) return [];
        return [{ name, memories, about: told === undefined ? newest : [told, ...newest] }];
      })
      .sort((one, other) => other.memories - one.memories || compareUnits(one.name, other.name));
  }

  #of(name: string): Named {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const named = { evidence: 0, against: 0, memories: 0, newest: [], told: undefined };
    this.#names.set(name, named);
    return named;
  }
}

/** Capital words, as one name outside of German, which capitalises all nouns. */
type CapitalWords = {
  readonly name: string;
  /** Whether it ends as an owner does: `Ann's`. */
  readonly isOwner: boolean;
  /** Whether it begins a sentence. */
  readonly isFirst: boolean;
  /** The word before it, folded, and the one behind it. */
  readonly before: string;
  readonly after: string;
};

/** The words of a text: capital ones, and others as they are. */
function* readWords(text: string, isGerman: boolean): Generator<CapitalWords | string> {
  const words = [...text.matchAll(WORD)];
  for (let at = 0; at < words.length; at += 1) {
    const start = at;
    const word = wordAt(words, at);
    if (!isCapital(word) || TITLES.has(foldCase(word))) {
      yield word;
      continue;
    }
    const isFirst = start === 0 || SENTENCE_END.test(text.slice(0, words[start]?.index));
    // What begins a sentence is capital for that: `Yesterday Ann called`.
    const isJoined = !(isGerman || isFirst);
    while (isJoined && isNextTo(words, at, text) && isCapital(wordAt(words, at + 1))) at += 1;
    const whole = words.slice(start, at + 1).map((_, index) => wordAt(words, start + index));
    const owner = /^(.+?)(?:['’]s|(?<=[sxz])['’])$/u.exec(whole.join(" "))?.[1];
    yield {
      name: owner ?? whole.join(" "),
      isOwner: owner !== undefined,
      isFirst,
      before: foldCase(words[start - 1]?.[0] ?? ""),
      after: words[at + 1]?.[0] ?? "",
    };
  }
}

function isCapital(word: string): boolean {
  return CAPITAL.test(word) && !NO_NAMES.has(foldCase(word));
}

/** Whether the word before says that a name follows. */
function isTold({ before }: CapitalWords): boolean {
  return [TITLES, CALLED, PERSONS].some((set) => set.has(before)) || PERSONS.has(bare(before));
}

/** How much speaks for a name. */
function evidenceOf(found: CapitalWords, isGerman: boolean): number {
  const { isFirst, isOwner, before, after } = found;
  const isCapitalForNothing = !isFirst && !BEFORE_NOUN.has(before);
  const placed = isFirst ? 0.5 : Number(isCapitalForNothing);
  return (
    (isTold(found) ? NAMED_FROM : 0) +
    Number(isOwner) +
    (isGerman ? 0 : placed) +
    (DOES.has(after) ? 0.5 + 0.5 * Number(isGerman) : 0)
  );
}

type Words = readonly RegExpExecArray[];

function wordAt(words: Words, at: number): string {
  return (words[at]?.[0] ?? "").replace(/[.-]+$/u, "");
}

/** Whether only a blank stands between a word and the next one. */
function isNextTo(words: Words, at: number, text: string): boolean {
  const [word, next] = [words[at], words[at + 1]];
  if (word === undefined || next === undefined) return false;
  return text.slice(word.index + word[0].length, next.index) === " " && !word[0].endsWith(".");
}

/** A German or Spanish word of kinship without its ending: `meiner Schwestern`, `meines Sohnes`. */
const bare = (word: string): string => word.replace(/(?<=.{3})(?:es|s|n|en)$/u, "");
