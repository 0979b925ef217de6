import { groundQuantity } from "../quantity.ts";
import { isOnlyAttempted } from "./attempts.ts";
import { endsValue, stanceOn } from "./clauses.ts";
import { hasCue, hasCueBeside } from "./cues.ts";
import { sideOf } from "./exchanges.ts";
import { isMentioned, isNamed } from "./mentions.ts";
import { findQuote, Passages, type Span } from "./passages.ts";
import type { DropReason, DropTally } from "./reasons.ts";
import type { ExtractedClaim } from "./result.ts";
import { hasVerbAgainst } from "./taken-away.ts";
import type { Turn } from "./turn.ts";
import { isOfOther, isOnlyAdvice, isOnlyAsked, ordersFrom } from "./voices.ts";

/** A claim that passed, or why it did not. */
export type CheckedClaim = { readonly claim: ExtractedClaim } | { readonly reason: DropReason };

/** Names that stand for a subject in a turn beside its own words, such as its speaker's. */
export type CheckRules = {
  /** Whether the first person of a turn also stands for the name of its speaker. */
  readonly speakerGrounding: boolean;
};

/** A turn with what many claims need of it. */
export type OpenTurn = {
  readonly turn: Turn;
  readonly rules: CheckRules;
  readonly passages: Passages;
  /** Where it begins to give orders to a model. */
  readonly ordersAt: number | undefined;
  /** Whether one of its paragraphs has a subject or object. */
  readonly isInParagraph: (value: string, paragraph: Span) => boolean;
};

/** Opens a turn for its claims. */
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
 * Holds a claim against its own turn. The first rule that it breaks decides. What only a part of it breaks is removed from it and counted.
 * @param spend takes the length of what has to be read; false: it is too much
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

/** Whether a passage has a subject or object; the speaker's name stands in it also as its first person, where that is allowed. */
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

/** What the text leaves open must be open in the claim. */
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
  // The month is written with a capital, and `may I` asks.
  const isMay = /(?<![\p{L}\p{N}_])may(?![\p{L}\p{N}_])(?!\s+(?:I|we)\b)/u.test(passage);
  return isMay || hasCueBeside(passage, language, "uncertain", "notUncertain");
}

/** A predicate that denies by itself. */
const DENIES_ITSELF = /(?:^|_|\b)(?:not|no|never|cannot|cant|without|lacks?|un\w+|dis\w+)(?:_|\b)/i;
/** A predicate that speaks of what was by itself: `was`, `lived_in`, `played_on`. */
const WAS_ITSELF =
  /(?:^|_|\b)(?:former\w*|previous\w*|past|used|was|were|had|did|went|drove|took|kept|ran|made|wore|wrote|taught)(?:_|\b)|^(?!(?:bas|locat|call|nam|marri|employ|interest|relat|need)ed)\p{L}+ed(?:_|$)/iu;
/** A predicate that says itself that something ended or was refused. */
const ENDS_ITSELF =
  /(?:^|_|\b)(?:avoid|stop|quit|hat(?:e|ing)|detest|loath|despis|abhor|resign|refus|reject|declin|turn\w*_down|allerg|intoler|miss|cancel|left|leav|end(?:s|ed)?(?:_|\b)|lost|los|sold|sell|from|switch|swap|trade|trading|exchang|ditch|dump|replac|gave|giv|mov|abandon|abolish|drop|chang)/i;

/** A predicate that leaves it to the text what is said of the object. */
const SAYS_NOTHING = /^(?:does|do|did|says?|said|states?|mentions?|feels?(?:_about)?)$/i;

/** Whether the text affirms what the claim affirms, and denies what it denies. */
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
    // What holds no more was so.
    (saysPast && hasCue(passage, language, "noMore")) ||
    isMoved(predicate, stance.denies, passage, language)
    ? undefined
    : "negation_lost";
}

/** Whether a passage takes the object of a claim from its subject, or gives it in place of another one, by a verb alone. */
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
  // A denied denial, as in `I don't hate jazz`, says nothing more.
  const isDenied = stanceOn(object, passage, language, "negation").denies;
  if (isNegative) return isDenied ? "negation_invented" : undefined;
  // What is gone was there.
  return WAS_ITSELF.test(predicate) && !isDenied ? undefined : "negation_lost";
}

/** Whether a claim is about the value that was given up, as in `moved_from`. */
function isMoved(
  predicate: string,
  isOff: boolean,
  passage: string,
  language: Turn["language"],
): boolean {
  return isOff && /from|replac|left|leav/i.test(predicate) && hasCue(passage, language, "replaced");
}

/** Whether only sentences about the past name the object. */
function isOnlyPast(object: string, passage: string, language: Turn["language"]): boolean {
  const naming = passage
    .split(/(?<=[.!?])\s+|,\s*|\n|\s(?:but|aber|pero)\s/u)
    .filter((part) => isMentioned(object, part));
  return naming.length > 0 && naming.every((part) => hasCue(part, language, "past"));
}

/** Whether the words of a claim stand only after an order to a model. */
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

/** The claim without the parts that the text does not bear out. */
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
 * Whether a passage says that the value which an update replaces holds no more: `instead of Slack`, `not on Monday`, `no longer Slack`.
 * A denial ends the very thing that it denies, and no other.
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
