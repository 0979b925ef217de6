import { hasCue } from "./cues.ts";
import type { CueLanguage } from "./language.ts";
import { isMentioned, isNamed, placesOf } from "./mentions.ts";

/** Verbs that say of their object that somebody dislikes it, or has it no more: `hate tea`, `sold my bike`, `verkauft`, `odio`. */
const BEFORE = [
  "hat(?:e|es|ed)|dislik(?:e|es|ed)|detest(?:s|ed)?|loath(?:e|es|ed)|despis(?:e|es|ed)|abhor(?:s|red)?|avoid(?:s|ed)?",
  "left|sold|lost|gave away|threw (?:away|out)|donated|ditched|dumped|abandoned|dropped|resigned from|moved out of|withdrew from|uninstalled|deleted",
  "hass(?:e|t|en|te|ten)|verabscheu(?:e|t|en|te|ten)|(?:ver)?meide[tn]?|(?:ver)?mied(?:en)?|verkauften?|verließ(?:en)?|verlor(?:en)?|kündigten?",
  "odi(?:o|a|an|amos|é|aba|aban)|detest(?:o|a|an|amos|é|aba|aban)|aborre(?:zco|ce|cen|cemos|cía)|evit(?:o|a|an|amos|é)|dej(?:é|ó|amos|aron)|vend(?:í|ió|imos|ieron)|perd(?:í|ió|imos|ieron)|abandon(?:é|ó|amos|aron)|regal(?:é|ó|amos|aron)",
  "détest(?:e|es|ons|ent)|hais|hait|haïssons|évit(?:e|es|ons|ent)|quitté(?:e|s|es)?|vendu(?:e|s|es)?|perdu(?:e|s|es)?|abandonné(?:e|s|es)?",
  "haat|haten|odei(?:o|a|am)|odiamo|odiano",
].join("|");
/** Those that end a clause, behind their object. */
const BEHIND = "verlassen|verkauft|verloren|verschenkt|weggegeben|weggeworfen|gelöscht|gemieden";

/** Between a verb and its object; nothing of this is part of the object's name. */
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
/** A verb behind one of these is no statement, or no verb: `to avoid`, `will sell`, `my left knee`. */
const NO_STATEMENT =
  /(?<![\p{L}])(?:to|zu|will|would|shall|should|might|may|can|could|must|going to|let['’]?s|['’](?:ll|d)|please|my|our|your|his|her|their|the|a|an|on|is|was|are|were|be|used to)\s+(?:\p{L}+ly\s+)?$/iu;
/** Behind a preposition stands something else than what the verb takes: `für Globex verlassen`. */
const PREPOSITION =
  /(?<![\p{L}])(?:für|gegen|mit|von|vom|im|in|am|an|auf|bei|zu|zum|zur|nach|aus|seit|um|über|wegen|durch|zugunsten)\s+(?:\p{L}+\s+){0,2}$/iu;
/** `left the keys on the table` put them there. */
const PUT =
  /^\s+(?:(?:on|under|behind|inside|beside)\s+(?!\p{Lu})|(?:in|at|with|by)\s+(?:the|my|our|a|an|his|her|their)\s|with\s)/u;

/** `allergic to nuts`, `allergisch gegen Nüsse`, `a nut allergy`: who is that neither likes nor eats them. */
const HARMED_BEFORE = new RegExp(
  String.raw`(?<!\p{L})(?:al+[eé]rg\p{L}+|intol[eé]ran\p{L}+|unverträglich\p{L}*)\s+(?:to|of|gegen|auf|al?|à|aux?)\s+${LINKS}$`,
  "iu",
);
const HARMED_BEHIND = /^[\s-](?:allergy|allergies|allergic|intoleran\p{L}+)(?!\p{L})/iu;
const TASTES =
  /(?:^|_|\b)(?:lik|lov|enjoy|prefer|favou?r|eat|ate|drink|drank|consum|tolerat|crav|order)\p{L}*/iu;

/** UTF-16 units around an object that are read for its verb. */
const NEAR = 300;

/** The claim whose words are looked for. */
type Said = { readonly subject: string; readonly predicate: string; readonly object: string };

/**
 * Whether a verb of a passage takes the object of a claim from its subject, or says that the subject dislikes it, while the predicate
 * of the claim says something else.
 */
export function hasVerbAgainst(claim: Said, passage: string, language: CueLanguage): boolean {
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

/** Whether a predicate says itself what a verb says, by the first letters of their words. */
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
