import { groundQuantity } from "../quantity.ts";
import {
  endsValue,
  isOfOther,
  isOnlyAdvice,
  isOnlyAsked,
  ordersFrom,
  stanceOn,
} from "./clauses.ts";
import {
  type CueLanguage,
  hasCue,
  hasCueBeside,
  isFirstPerson,
  isMentioned,
  isNamed,
  placesOf,
} from "./cues.ts";
import { findQuote, Passages, type Span, type Turn } from "./passages.ts";
import type { DropReason, DropTally, ExtractedClaim } from "./result.ts";

type CheckedClaim = { readonly claim: ExtractedClaim } | { readonly reason: DropReason };

/** Names for a subject in a turn besides its own words, such as its speaker's. */
export type CheckRules = {
  /** Whether the first person of a turn also refers to the name of its speaker. */
  readonly speakerGrounding: boolean;
};

/** A turn with data shared by the checks of many claims. */
export type OpenTurn = {
  readonly turn: Turn;
  readonly rules: CheckRules;
  readonly passages: Passages;
  /** Where it begins to give instructions to a model. */
  readonly ordersAt: number | undefined;
  /** Whether one of its paragraphs mentions a subject or object. */
  readonly isInParagraph: (value: string, paragraph: Span) => boolean;
};

export function openTurn(turn: Turn, rules: CheckRules): OpenTurn {
  const passages = new Passages(turn.content);
  const known = new Map<string, boolean>();
  return {
    turn,
    rules,
    passages,
    ordersAt: ordersFrom(turn.content),
    isInParagraph: (value, { from, to }) => {
      const key = `${from}-${to} ${value}`;
      const isThere =
        known.get(key) ?? isSupported(value, turn.content.slice(from, to), turn, rules);
      known.set(key, isThere);
      return isThere;
    },
  };
}

/**
 * Checks a claim against its own turn; the first broken rule decides. Parts that break a rule alone are removed and counted.
 * @param spend takes the length of what has to be read; false: over the limit
 */
export function checkClaim(
  claim: ExtractedClaim,
  open: OpenTurn,
  tally: DropTally,
  spend: (length: number) => boolean,
): CheckedClaim {
  const { turn, passages } = open;
  const { content } = turn;
  const place = findQuote(content, claim.evidenceQuote ?? content);
  if (place === undefined) return { reason: "quote_not_in_text" };
  const span = passages.sentencesAround(place);
  const passage = content.slice(span.from, span.to);
  if (!spend(passage.length)) return { reason: "too_many" };
  const reason = reasonAgainst(claim, passage, open) ?? orderedBefore(claim, span, open);
  if (reason !== undefined) return { reason };
  const { from, to } = passages.paragraphAround(place);
  return {
    claim: {
      ...withoutUnstated(claim, passage, turn, tally),
      evidenceQuote: content.slice(from, to),
    },
  };
}

/** Whether a passage mentions a subject or object; the speaker's name counts as its first person, where allowed. */
export function isSupported(
  value: string,
  passage: string,
  turn: Turn,
  { speakerGrounding }: CheckRules,
): boolean {
  if (isNamed(value, passage, turn.language)) return true;
  const isSpeaker = value.trim().toLowerCase() === turn.speaker?.toLowerCase();
  return speakerGrounding && isSpeaker && isNamed("I", passage, turn.language);
}

function reasonAgainst(
  claim: ExtractedClaim,
  passage: string,
  { turn, rules }: OpenTurn,
): DropReason | undefined {
  const { language } = turn;
  if (!isSupported(claim.subject, passage, turn, rules)) return "subject_not_in_text";
  if (!isSupported(claim.object, passage, turn, rules)) return "object_not_in_text";
  const unsaid = conditionProblem(claim, passage, turn) ?? modalityProblem(claim, passage, turn);
  if (unsaid !== undefined) return unsaid;
  if (claim.epistemicType !== "hypothetical" && isOnlyAttempted(claim, passage, language)) {
    return "not_done";
  }
  const denied = polarityProblem(claim, passage, turn);
  if (denied !== undefined) return denied;
  if (isOnlyAsked(claim, passage, language)) return "not_stated";
  if (isOfOther(claim, passage, language)) return "other_person";
  const isAdvice = turn.role === "assistant" && isOnlyAdvice(claim, passage, language);
  return isAdvice ? "role_policy" : undefined;
}

/** A condition in the text must be in the claim, in the words of the text. */
function conditionProblem(
  { epistemicType, condition }: ExtractedClaim,
  passage: string,
  { language }: Turn,
): DropReason | undefined {
  const isConditional = epistemicType === "conditional";
  if (!isConditional) {
    if (hasCueBeside(passage, language, "condition", "indirectQuestion")) return "condition_hidden";
    return condition === undefined ? undefined : "condition_misplaced";
  }
  const isQuoted = condition !== undefined && findQuote(passage, condition) !== undefined;
  return isQuoted ? undefined : "condition_not_in_text";
}

/** What the text leaves uncertain must be uncertain in the claim. */
function modalityProblem(
  claim: ExtractedClaim,
  passage: string,
  turn: Turn,
): DropReason | undefined {
  const isOpen = isUncertain(passage, turn);
  const { epistemicType } = claim;
  if (isOpen && epistemicType !== "hypothetical" && epistemicType !== "conditional") {
    return "uncertain";
  }
  const isConditioned = hasCueBeside(passage, turn.language, "condition", "indirectQuestion");
  const isUndecided =
    claim.factType === "decision" &&
    (isOpen || isConditioned) &&
    !hasCue(passage, turn.language, "choice");
  return isUndecided ? "not_decided" : undefined;
}

function isUncertain(passage: string, { language }: Turn): boolean {
  // The month is capitalized, and `may I` asks.
  const isMay = /(?<![\p{L}\p{N}_])may(?![\p{L}\p{N}_])(?!\s+(?:I|we)\b)/u.test(passage);
  return isMay || hasCueBeside(passage, language, "uncertain", "notUncertain");
}

/** A predicate that is itself a denial. */
const DENIES_ITSELF = /(?:^|_|\b)(?:not|no|never|cannot|cant|without|lacks?|un\w+|dis\w+)(?:_|\b)/i;
/** A predicate in the past tense: `was`, `lived_in`, `played_on`. */
const WAS_ITSELF =
  /(?:^|_|\b)(?:former\w*|previous\w*|past|used|was|were|had|did|went|drove|took|kept|ran|made|wore|wrote|taught)(?:_|\b)|^(?!(?:bas|locat|call|nam|marri|employ|interest|relat|need)ed)\p{L}+ed(?:_|$)/iu;
/** A predicate that itself says that something ended or was refused. */
const ENDS_ITSELF =
  /(?:^|_|\b)(?:avoid|stop|quit|hat(?:e|ing)|detest|loath|despis|abhor|resign|refus|reject|declin|turn\w*_down|allerg|intoler|miss|cancel|left|leav|end(?:s|ed)?(?:_|\b)|lost|los|sold|sell|from|switch|swap|trade|trading|exchang|ditch|dump|replac|gave|giv|mov|abandon|abolish|drop|chang)/i;

/** A predicate that leaves the statement about the object to the text. */
const SAYS_NOTHING = /^(?:does|do|did|says?|said|states?|mentions?|feels?(?:_about)?)$/i;

/** Whether text and claim agree on what is affirmed and denied. */
function polarityProblem(
  claim: ExtractedClaim,
  passage: string,
  { language }: Turn,
): DropReason | undefined {
  const { polarity, predicate, object } = claim;
  if (polarity === "unknown") return undefined;
  const isOwn = DENIES_ITSELF.test(predicate);
  const isEnding = isOwn || ENDS_ITSELF.test(predicate);
  const taken =
    isEnding || SAYS_NOTHING.test(predicate) ? undefined : takenFrom(claim, passage, language);
  if (taken !== undefined) return takenProblem(claim, taken, passage, language);
  const stance = stanceOn(object, passage, language, isEnding ? "negation" : "negation or ending");
  const saysPast = WAS_ITSELF.test(predicate);
  const isPast = !isOwn && !saysPast && isOnlyPast(object, passage, language);
  if (polarity === "negative") return stance.denies || isPast ? undefined : "negation_invented";
  return isOwn ||
    (stance.affirms && !isPast) ||
    // What is no longer true was true.
    (saysPast && hasCue(passage, language, "noMore"))
    ? undefined
    : "negation_lost";
}

/** Whether a passage takes the object of a claim from its subject, or replaces it, by a verb alone. */
function takenFrom(
  claim: ExtractedClaim,
  passage: string,
  language: Turn["language"],
): "taken" | "given" | undefined {
  const side = sideOf(claim.object, passage);
  if (side === "newer") return "given";
  const isTaken = side === "older" || hasVerbAgainst(claim, passage, language);
  return isTaken ? "taken" : undefined;
}

function takenProblem(
  { polarity, predicate, object }: ExtractedClaim,
  taken: "taken" | "given",
  passage: string,
  language: Turn["language"],
): DropReason | undefined {
  const isNegative = polarity === "negative";
  if (taken === "given") return isNegative ? "negation_invented" : undefined;
  // A denied denial, as in `I don't hate jazz`, states nothing further.
  const isDenied = stanceOn(object, passage, language, "negation").denies;
  if (isNegative) return isDenied ? "negation_invented" : undefined;
  // What is gone was there.
  return WAS_ITSELF.test(predicate) && !isDenied ? undefined : "negation_lost";
}

/** Whether only sentences about the past mention the object. */
function isOnlyPast(object: string, passage: string, language: Turn["language"]): boolean {
  const naming = passage
    .split(/(?<=[.!?])\s+|,\s*|\n|\s(?:but|aber|pero)\s/u)
    .filter((part) => isMentioned(object, part));
  return naming.length > 0 && naming.every((part) => hasCue(part, language, "past"));
}

/** Whether the words of a claim occur only after an instruction to a model. */
function orderedBefore(
  { object }: ExtractedClaim,
  { from }: Span,
  { turn, ordersAt }: OpenTurn,
): DropReason | undefined {
  const isBefore =
    ordersAt === undefined ||
    isMentioned(object, turn.content.slice(from, Math.max(from, ordersAt)));
  return isBefore ? undefined : "instruction_to_model";
}

/** The claim without parts that the text does not support. */
function withoutUnstated(
  claim: ExtractedClaim,
  passage: string,
  { language }: Turn,
  tally: DropTally,
): ExtractedClaim {
  const isAmount = isExactAmount(claim, passage);
  if (!isAmount) tally.add("quantity_not_in_text");
  const isTimed = claim.temporalRef === undefined || isMentioned(claim.temporalRef, passage);
  if (!isTimed) tally.add("temporal_ref_not_in_text");
  const replaces = claim.replacesObject;
  const isReplaced = replaces === undefined || isGivenUp(replaces, claim, passage, language);
  if (!isReplaced) tally.add("replaced_value_not_in_text");
  const isUpdate = claim.temporalIntent === "update";
  const changes =
    !isUpdate || hasCue(passage, language, "change") || sideOf(claim.object, passage) === "newer";
  if (!changes) tally.add("update_not_stated");
  return {
    ...claim,
    quantity: isAmount ? claim.quantity : undefined,
    temporalRef: isTimed ? claim.temporalRef : undefined,
    replacesObject: isReplaced && changes ? replaces : undefined,
    replacesMemory: changes ? claim.replacesMemory : undefined,
    temporalIntent: changes ? claim.temporalIntent : "assertion",
  };
}

/**
 * Whether a passage ends the value that an update replaces: `instead of Slack`, `not on Monday`, `no longer Slack`. A denial ends only what
 * it denies.
 */
function isGivenUp(
  value: string,
  { object, polarity }: ExtractedClaim,
  passage: string,
  language: Turn["language"],
): boolean {
  if (polarity === "negative") return isMentioned(value, object);
  if (!isMentioned(value, passage) || isMentioned(value, object)) return false;
  return (
    endsValue(value, passage, language) ||
    isOnlyPast(value, passage, language) ||
    (sideOf(object, passage) === "newer" && sideOf(value, passage) === "older")
  );
}

/** Whether the amount of a claim, if it has one, is exactly what the passage says. */
export function isExactAmount({ quantity, object }: ExtractedClaim, passage: string): boolean {
  return quantity === undefined || groundQuantity(quantity, { passage, object }) !== undefined;
}

/** A clause that states a wish, a plan or an attempt, not a completed action. */
type Attempt = {
  /** Who: a pronoun or name of the text; `I` or `we` where the verb alone says it. */
  readonly who: string;
  /** The word for it, such as `trying`. */
  readonly cue: string;
  readonly body: string;
  readonly quote: string;
};

/** A predicate with one of these is about an attempt itself. */
const ATTEMPT_STEM =
  /try|tried|tries|trying|attempt|plan|intend|want|need|hope|hoping|aim|look|work|seek|request|ask|propos|consider|evaluat|explor|wish|will|would|going|goal|dream|interest/i;

const BODY_MAX = 400;
const WHO = String.raw`(?<who>I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|\p{Lu}[\p{L}'’-]+(?:\s\p{Lu}[\p{L}-]+)?)`;
const ING =
  "trying|attempting|planning|hoping|aiming|looking|working|going|intending|wanting|dreaming of|thinking of|thinking about";
const PLAIN =
  "try|tries|tried|attempt|attempts|attempted|wants?|wanted|needs?|needed|plans?|planned|intends?|intended|hopes?|hoped|aims?|aimed|looks?|looked|works?|worked|wish|wishes|wished";
const PERFECT = "tried|attempted|planned|hoped|aimed|wanted|wished";

const ENGLISH = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])${WHO}(?:['’](?:m|re|s)\s+|\s+(?:am|are|is|was|were)\s+|['’](?:ve|d|s)\s+|\s+(?:have|has|had)\s+(?:been\s+)?|['’]d\s+|\s+would\s+|\s+)(?:(?:still|really|also|currently|just|only|always|now)\s+)*(?<cue>${ING}|${PERFECT}|${PLAIN}|love|like)\s+(?:to\s+)?(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);
/** `like` and `love` are wishes only after `would`. */
const WOULD = /(?:['’]d|would)\s+(?:\p{L}+\s+)*(?:like|love)\s+to\s/iu;
const TO =
  /(?:trying|attempting|planning|hoping|aiming|looking|working|going|intending|wanting|tr(?:y|ies|ied)|attempt(?:s|ed)?|wants?|wanted|needs?|needed|plans?|planned|intends?|intended|hopes?|hoped|aims?|aimed|looks?|looked|works?|worked|wish(?:es|ed)?|like|love)\s+to\s|(?:dreaming of|thinking of|thinking about)\s/iu;

const WILL = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])${WHO}(?:['’]ll|\s+(?<cue>will))\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);
const GERMAN = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?:(?<who>[Ii]ch|[Ww]ir|[Ee]r|[Ss]ie|\p{Lu}\p{L}+)\s+)(?<cue>möchten?|möchtest|will|wollen|wollte[n]?|würden?|versuchen?|versucht|planen?|plant|hoffen?|hofft|habe vor|haben vor|überlegen?)(?:\s+(?:ich|wir|er|sie))?,?\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);
const GERMAN_INVERTED = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?<cue>möchte|möchten|will|wollen|würde|würden|versuche|versuchen|plane|planen|hoffe|hoffen)\s+(?<who>ich|wir|er|sie)\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "giu",
);
const SPANISH_WHO = String.raw`(?:(?<who>[Yy]o|[Nn]osotros|[Nn]osotras|[ÉéEe]l|[Ee]lla|\p{Lu}\p{L}+)\s+)?`;
const SPANISH = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])${SPANISH_WHO}(?<cue>[Qq]uiero|[Qq]uisiera|[Qq]uerría|[Mm]e gustaría|[Ii]ntento|[Tt]rato de|[Ee]stoy intentando|[Ee]stoy tratando de|[Pp]laneo|[Pp]ienso|[Ee]spero|[Nn]ecesito|[Vv]oy a|[Tt]engo (?:previsto|pensado)|[Qq]ueremos|[Ii]ntentamos|[Ee]speramos|[Vv]amos a|[Pp]ensamos|[Nn]os gustaría|quiere|intenta|espera|planea|piensa|va a)\s+(?=(?<body>[^\n]{1,${BODY_MAX}}))`,
  "gu",
);

/** The end of a body: of its sentence, or of its clause. */
const BODY_END =
  /[!?;]|\.(?=\s|$)|,\s+(?:but|and|so|although|though|however|aber|und|obwohl|doch|pero|y|aunque)(?![\p{L}])/iu;

function attemptsIn(passage: string, language: CueLanguage): readonly Attempt[] {
  const found = [...matches(passage, ENGLISH)].filter(({ quote, cue }) =>
    /^(?:like|love)$/i.test(cue) ? WOULD.test(quote) : TO.test(quote),
  );
  found.push(...matches(passage, WILL));
  if (language === "de") {
    found.push(...matches(passage, GERMAN), ...matches(passage, GERMAN_INVERTED));
  }
  if (language === "es") found.push(...matches(passage, SPANISH));
  return found;
}

function* matches(passage: string, pattern: RegExp): Generator<Attempt> {
  for (const match of passage.matchAll(pattern)) {
    const { who, cue = "", body = "" } = match.groups ?? {};
    const end = body.search(BODY_END);
    const kept = end === -1 ? body : body.slice(0, end);
    const quote = `${match[0]}${kept}`;
    yield { who: who ?? impliedWho(cue), cue: cue.toLowerCase(), body: kept, quote };
  }
}

/** The actor, by the ending of a Spanish verb. */
function impliedWho(cue: string): string {
  if (/mos$|^nos /i.test(cue)) return "we";
  return /^(?:quiere|intenta|espera|planea|piensa|va a)$/i.test(cue) ? "" : "I";
}

/** Whether a claim states as done what the passage only says is attempted. */
function isOnlyAttempted(
  claim: { readonly subject: string; readonly predicate: string; readonly object: string },
  passage: string,
  language: CueLanguage,
): boolean {
  if (ATTEMPT_STEM.test(claim.predicate)) return false;
  return attemptsIn(passage, language).some(
    ({ who, body }) =>
      isMentioned(claim.object, body) &&
      (isSame(claim.subject, who) || isMentioned(claim.subject, body)),
  );
}

function isSame(subject: string, who: string): boolean {
  const name = subject.trim().toLowerCase();
  if (who === "") return true;
  return name === who.toLowerCase() || (isFirstPerson(subject) && isFirstPerson(who));
}

/** What a sentence says was given up, and its replacement. */
type Exchange = { readonly older: string; readonly newer: string };

const NAME = `[^,;.!?]{1,80}?`;
const NEWER = `(?<newer>[^,;.!?]{1,80})`;
const FORMS: readonly RegExp[] = [
  `(?:left|leave|leaves|leaving|quit|dropped|ditched|dumped|abandoned|gave up|given up|giving up) (?<older>${NAME}) (?:for|in favou?r of) ${NEWER}`,
  `(?:traded|swapped|exchanged) (?<older>${NAME}) (?:in )?(?:for|with) ${NEWER}`,
  `(?:hat|hast|habe|haben) (?<older>${NAME}) (?:für|gegen|zugunsten von) (?<newer>${NAME}) (?:verlassen|aufgegeben|getauscht|eingetauscht|gewechselt)`,
  `(?:tausch|wechsel)(?:e|t|te|ten) (?<older>${NAME}) gegen ${NEWER}`,
  `(?:dej(?:é|ó|amos|aron|ado)|abandon(?:é|ó|amos|aron|ado)|cambi(?:é|ó|amos|aron|ado)|cambi) (?<older>(?!de )${NAME}) por ${NEWER}`,
].map(
  (form) =>
    new RegExp(String.raw`(?<![\p{L}\p{M}])${form.replaceAll(" ", String.raw`\s{1,3}`)}`, "giu"),
);

/** Objects that replace nothing: `left Oslo for a week`, `for good`, `for fear of rain`. */
const NO_THING =
  /^(?:(?:the|a|an|one|two|three|four|five|six|ten|\d+|some|few|several|about|around|der|die|das|ein\p{L}*|zwei|drei|una?|unos|unas|dos|tres)\s+)*(?:(?:whole|long|short|few|first|second|third|last|ganze\p{L}*)\s+)*(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|whiles?|times?|bit|moment|good|ever|now|once|fun|fear|lack|sure|example|lunch|dinner|breakfast|walk|holidays?|vacation|rest|break|christmas|easter|(?:an?\s+)?old|\p{L}+\s+(?:man|woman|lady|person)|me|us|him|her|them|sekunden?|minuten?|stunden?|tage?|wochen?|monate?|jahre?|weile|immer|segundos?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?|rato|siempre|ahora)(?![\p{L}])/iu;
/** After one of these nothing was given up, or not yet. */
const NOT_EXCHANGED =
  /(?:n['’]t|not|never|nicht|nie|no|nunca|to|will|would|might|may|could|should|['’]ll|if|wenn|falls|si)\s+(?:\p{L}+\s+)?$/iu;

/** UTF-16 units before a verb that are read. */
const NEAR_VERB = 40;

function exchangesIn(passage: string): readonly Exchange[] {
  return FORMS.flatMap((form) =>
    [...passage.matchAll(form)].flatMap(({ index, groups }) => {
      const { older = "", newer = "" } = groups ?? {};
      const isNone =
        NO_THING.test(newer) ||
        NOT_EXCHANGED.test(passage.slice(Math.max(0, index - NEAR_VERB), index)) ||
        /(?<![\p{L}])(?:nicht|not)(?![\p{L}])/iu.test(older);
      return isNone
        ? []
        : [{ older, newer: newer.split(/\s(?:and|because|since|und|weil|y|porque)\s/iu)[0] ?? "" }];
    }),
  );
}

/** The side of an exchange at which the bare value is. */
function sideOf(value: string, passage: string): "older" | "newer" | undefined {
  for (const { older, newer } of exchangesIn(passage)) {
    const [isOlder, isNewer] = [isMentioned(value, older), isMentioned(value, newer)];
    if (isOlder !== isNewer) return isOlder ? "older" : "newer";
  }
  return undefined;
}

/** Verbs of dislike or loss: `hate tea`, `sold my bike`, `verkauft`, `odio`. */
const BEFORE = [
  "hat(?:e|es|ed)|dislik(?:e|es|ed)|detest(?:s|ed)?|loath(?:e|es|ed)|despis(?:e|es|ed)|abhor(?:s|red)?|avoid(?:s|ed)?",
  "left|sold|lost|gave away|threw (?:away|out)|donated|ditched|dumped|abandoned|dropped|resigned from|moved out of|withdrew from|uninstalled|deleted",
  "hass(?:e|t|en|te|ten)|verabscheu(?:e|t|en|te|ten)|(?:ver)?meide[tn]?|(?:ver)?mied(?:en)?|verkauften?|verließ(?:en)?|verlor(?:en)?|kündigten?",
  "odi(?:o|a|an|amos|é|aba|aban)|detest(?:o|a|an|amos|é|aba|aban)|aborre(?:zco|ce|cen|cemos|cía)|evit(?:o|a|an|amos|é)|dej(?:é|ó|amos|aron)|vend(?:í|ió|imos|ieron)|perd(?:í|ió|imos|ieron)|abandon(?:é|ó|amos|aron)|regal(?:é|ó|amos|aron)",
  "détest(?:e|es|ons|ent)|hais|hait|haïssons|évit(?:e|es|ons|ent)|quitté(?:e|s|es)?|vendu(?:e|s|es)?|perdu(?:e|s|es)?|abandonné(?:e|s|es)?",
  "haat|haten|odei(?:o|a|am)|odiamo|odiano",
].join("|");
/** Those at the end of a clause, after their object. */
const BEHIND = "verlassen|verkauft|verloren|verschenkt|weggegeben|weggeworfen|gelöscht|gemieden";

/** Words between a verb and its object that are not part of the object's name. */
const NO_LINK = String.raw`(?!(?:to|for|from|in|on|at|of|with|without|by|about|near|against|after|before|into|than|as|that|this is|when|where|how|why|if|because|but|then|so|it|i|you|he|she|we|they|me|us|him|them|lov\p{L}*|lik\p{L}*|enjoy\p{L}*|ador\p{L}*|prefer\p{L}*|want\p{L}*|need\p{L}*|ke(?:ep|eps|pt)|buy\p{L}*|bought|ha(?:ve|s|d)|got|gets?|is|are|was|were|uses?|eats?|drinks?|takes?|made|makes?|\p{L}+ed|\p{L}+ing|für|gegen|mit|von|im|in|am|auf|bei|zu|zum|nach|aus|aber|dass|wenn|ich|wir|er|sie|mag|liebe|habe|por|para|en|con|sin|de|del|que|cuando|pero|porque|yo|amo|adoro|tengo|pour|par|avec|dans|chez|mais|qui|je|j|tu|il|elle|nous|vous|ai|acheté|gardé|pris|aime|adore)(?![\p{L}]))`;
const LINKS = String.raw`(?:(?:${NO_LINK}[\p{L}\p{N}’'-]+|eating|drinking|(?:all )?kinds of),?\s+){0,4}`;
const VERB_BEFORE = new RegExp(
  String.raw`(?:(?<![\p{L}\p{M}’'-])|(?<=(?<!\p{L})[jl][’']))(?<verb>${BEFORE})\s+(?<links>${LINKS})$`,
  "iu",
);
const VERB_BEHIND = new RegExp(
  String.raw`^(?<links>(?:\s+(?!(?:und|oder|aber|nicht|nie)\s)[\p{L}\p{N}.]+){0,6})\s+(?<verb>${BEHIND})(?![\p{L}\p{M}])`,
  "iu",
);
/** `Zwiebeln hasse ich`. */
const VERB_NEXT = new RegExp(
  String.raw`^\s+(?<verb>${BEFORE})\s+(?:ich|wir|er|sie)(?![\p{L}\p{M}])`,
  "iu",
);
/** After one of these a verb states nothing, or is not a verb: `to avoid`, `will sell`, `my left knee`. */
const NO_STATEMENT =
  /(?<![\p{L}])(?:to|zu|will|would|shall|should|might|may|can|could|must|going to|let['’]?s|['’](?:ll|d)|please|my|our|your|his|her|their|the|a|an|on|is|was|are|were|be|used to)\s+(?:\p{L}+ly\s+)?$/iu;
/** After a preposition comes something other than the verb's object: `für Globex verlassen`. */
const PREPOSITION =
  /(?<![\p{L}])(?:für|gegen|mit|von|vom|im|in|am|an|auf|bei|zu|zum|zur|nach|aus|seit|um|über|wegen|durch|zugunsten)\s+(?:\p{L}+\s+){0,2}$/iu;
/** `left the keys on the table` places them there. */
const PUT =
  /^\s+(?:(?:on|under|behind|inside|beside)\s+(?!\p{Lu})|(?:in|at|with|by)\s+(?:the|my|our|a|an|his|her|their)\s|with\s)/u;

/** `allergic to nuts`, `allergisch gegen Nüsse`, `a nut allergy`: the subject neither likes nor eats them. */
const HARMED_BEFORE = new RegExp(
  String.raw`(?<!\p{L})(?:al+[eé]rg\p{L}+|intol[eé]ran\p{L}+|unverträglich\p{L}*)\s+(?:to|of|gegen|auf|al?|à|aux?)\s+${LINKS}$`,
  "iu",
);
const HARMED_BEHIND = /^[\s-](?:allergy|allergies|allergic|intoleran\p{L}+)(?!\p{L})/iu;
const TASTES =
  /(?:^|_|\b)(?:lik|lov|enjoy|prefer|favou?r|eat|ate|drink|drank|consum|tolerat|crav|order)\p{L}*/iu;

/** UTF-16 units around an object that are read for its verb. */
const NEAR = 300;

type Said = { readonly subject: string; readonly predicate: string; readonly object: string };

/**
 * Whether a verb of a passage says that the subject lost or dislikes the object of a claim, while the claim's predicate says something
 * else.
 */
function hasVerbAgainst(claim: Said, passage: string, language: CueLanguage): boolean {
  if (hasCue(claim.object, language, "kin")) return false;
  return [...placesOf(claim.object, passage)].some((at) => {
    const end = at + claim.object.trim().length;
    const before = lastSentence(passage.slice(Math.max(0, at - NEAR), at));
    const after = passage.slice(end, end + NEAR);
    const isHarmed =
      TASTES.test(claim.predicate) && (HARMED_BEFORE.test(before) || HARMED_BEHIND.test(after));
    return (
      isHarmed ||
      hasVerbBefore(claim, before, after, language) ||
      hasVerbBehind(claim, before, after)
    );
  });
}

function hasVerbBefore(
  { subject, predicate }: Said,
  before: string,
  after: string,
  language: CueLanguage,
): boolean {
  const found = VERB_BEFORE.exec(before);
  const { verb = "", links = "" } = found?.groups ?? {};
  if (found === null || isSameVerb(predicate, `${verb} ${links}`)) return false;
  const lead = before.slice(0, found.index);
  const isOfOther =
    !isNamed(subject, lead, language) &&
    (isMentioned(subject, links) || isMentioned(subject, after));
  const isPut = /^left$/i.test(verb) && PUT.test(after);
  return !isPut && !isOfOther && !NO_STATEMENT.test(lead);
}

/** As in German. */
function hasVerbBehind({ predicate }: Said, before: string, after: string): boolean {
  const found =
    VERB_NEXT.exec(after) ?? (PREPOSITION.test(before) ? null : VERB_BEHIND.exec(after));
  const verb = found?.groups?.["verb"];
  return verb !== undefined && !isSameVerb(predicate, verb);
}

function lastSentence(text: string): string {
  return text.split(/[.!?;:—()]\s+|\n/).at(-1) ?? "";
}

/** Whether a predicate itself says what a verb says, by the first letters of their words. */
function isSameVerb(predicate: string, words: string): boolean {
  const stems = words
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter(({ length }) => length > 2)
    .map((word) => word.slice(0, 4));
  return predicate
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .some((word) => stems.includes(word.slice(0, 4)));
}
