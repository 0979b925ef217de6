import { attemptsIn, saysAttempt } from "./attempts.ts";
import { isMentioned, placesOf } from "./mentions.ts";
import { sentencesOf } from "./passages.ts";
import { recoverQuantity } from "./recover-quantity.ts";
import {
  type ExtractedClaim,
  type ExtractedEntity,
  type ExtractionResult,
  PLAIN_CLAIM,
} from "./result.ts";
import type { Turn } from "./turn.ts";

/** What a turn states in a form that needs no model. Each still has to pass the checks. */
export type Recovered = {
  readonly claim: ExtractedClaim;
  /** The entity that it needs, if the model has not listed it. */
  readonly entity?: ExtractedEntity;
};

/** The claims that plain patterns find in a turn, beside those of the model. English. */
export function recover(turn: Turn, { entities, claims }: ExtractionResult): readonly Recovered[] {
  if (turn.language !== "en") return [];
  const sentences = sentencesOf(turn.content).map(({ from, to }) => turn.content.slice(from, to));
  const measured =
    turn.role === "user" ? sentences.flatMap((sentence) => measuredIn(sentence, claims)) : [];
  return withoutRepeats([...targetsIn(turn, entities, claims), ...measured]);
}

function withoutRepeats(found: readonly Recovered[]): readonly Recovered[] {
  const byClaim = new Map(
    found.map((one) => {
      const { subject, predicate, object, condition } = one.claim;
      return [JSON.stringify([subject, predicate, object, condition ?? null]), one];
    }),
  );
  return [...byClaim.values()];
}

/** Every recovered claim is stated in so many words. */
const STATED = {
  ...PLAIN_CLAIM,
  kind: "fact",
  polarity: "positive",
  confidence: 1,
  factType: "fact",
  epistemicType: "observed",
  temporalIntent: "assertion",
} as const satisfies Partial<ExtractedClaim>;

const CUE_PREDICATES: readonly (readonly [RegExp, string])[] = [
  [/^like$|^love$/, "wants_to"],
  [/^trying$/, "trying_to"],
  [/^tried$/, "tried_to"],
  [/^tr(?:y|ies)$/, "tries_to"],
  [/^attempting$/, "attempting_to"],
  [/^attempted$/, "attempted_to"],
  [/^attempts?$/, "attempts_to"],
  [/^plan/, "plans_to"],
  [/^inten/, "intends_to"],
  [/^want/, "wants_to"],
  [/^need/, "needs_to"],
  [/^hop/, "hopes_to"],
  [/^aim/, "aims_to"],
  [/^look/, "looking_to"],
  [/^work/, "working_to"],
];
const CONDITION = /(?<![\p{L}])(?:if|unless|provided that|as long as|only if)(?![\p{L}]).*$/isu;

/** What the speaker wants, tries or plans to do with a thing that the model listed. */
function targetsIn(
  { content, language }: Turn,
  entities: readonly ExtractedEntity[],
  claims: readonly ExtractedClaim[],
): readonly Recovered[] {
  return attemptsIn(content, language).flatMap(({ who, cue, body, quote }) => {
    const verb = CUE_PREDICATES.find(([pattern]) => pattern.test(cue))?.[1];
    const target = firstTarget(body, entities);
    const [action = ""] = body.trim().split(/\s+/);
    if (verb === undefined || target === undefined || !/^(?:i|we)$/i.test(who)) return [];
    const isKnown = claims.some(
      ({ object, predicate }) => isSameText(object, target) && saysAttempt(predicate),
    );
    if (isKnown) return [];
    const condition = CONDITION.exec(quote)?.[0]?.trim();
    return [
      {
        claim: {
          ...STATED,
          subject: who,
          predicate: `${verb}_${action.toLowerCase()}`,
          object: target,
          evidenceQuote: quote,
          condition,
          epistemicType: condition === undefined ? "observed" : "conditional",
        },
      },
    ];
  });
}

/** The listed name that comes first, and the longer of two at one place; something must be done with it. */
function firstTarget(body: string, entities: readonly ExtractedEntity[]): string | undefined {
  let best: { readonly at: number; readonly name: string } | undefined;
  for (const { name } of entities) {
    const at = placesOf(name, body).next().value;
    if (at === undefined || body.slice(0, at).trim() === "") continue;
    const isBetter =
      best === undefined || at < best.at || (at === best.at && name.length > best.name.length);
    if (isBetter) best = { at, name };
  }
  return best?.name;
}

const ATTRIBUTE =
  /^(?:my|our|his|her|their|its|the)\s+(?<attribute>(?:[\p{L}'’-]+\s+){0,3}(?:score|count|rating|level))\s+(?<verb>is|was|equals?|equaled|reached)\s+(?<amount>[+-]?\d[\d,]*(?:\.\d+)?)\s*[.!?]?$/iu;
const CONDITIONAL =
  /^(?<condition>(?:if|unless|provided that|as long as|only if)\s[^,!?;]{1,200}),\s*(?<who>I|we)\s+(?<modal>will|would)\s+(?<not>not\s+)?(?<verb>\p{L}+)\s+(?<object>[^.!?;]{1,300})[.!?]$/iu;
const ACTION =
  /^(?:(?:by the way|also|additionally|then),?\s+)?(?<who>I|we)\s+(?:(?:just|recently|previously|successfully|also)\s+)*(?<verb>ran|run|walked|walk|hiked|hike|cycled|cycle|biked|bike|swam|swim|drove|drive|travell?ed|travel|lifted|lift|drank|drink|consumed?|shipped|ship|sent|send|processed|process|completed?)\s+(?<object>[$€£¥]?\d[^.!?]*?)[.!]$/iu;

/** Amounts that a sentence states in a plain form. */
function measuredIn(sentence: string, claims: readonly ExtractedClaim[]): readonly Recovered[] {
  const found = attributeIn(sentence) ?? conditionalIn(sentence) ?? actionIn(sentence);
  if (found === undefined) return [];
  const { claim } = found;
  const isKnown = claims.some(
    ({ subject, quantity, evidenceQuote }) =>
      isSameText(subject, claim.subject) &&
      quantity?.value === claim.quantity?.value &&
      (evidenceQuote === undefined ||
        evidenceQuote.includes(sentence) ||
        sentence.includes(evidenceQuote)),
  );
  return isKnown ? [] : [found];
}

function attributeIn(sentence: string): Recovered | undefined {
  const groups = ATTRIBUTE.exec(sentence)?.groups;
  if (groups === undefined) return undefined;
  const { attribute = "", verb = "", amount = "" } = groups;
  const quantity = { value: amount.replaceAll(",", ""), unit: "1", sourceText: amount };
  return {
    claim: {
      ...STATED,
      subject: attribute,
      subjectEntityType: "concept",
      predicate: verb.toLowerCase(),
      object: amount,
      evidenceQuote: sentence,
      quantity,
    },
    entity: { name: attribute, entityType: "concept", description: undefined, scope: undefined },
  };
}

function conditionalIn(sentence: string): Recovered | undefined {
  const groups = CONDITIONAL.exec(sentence)?.groups;
  if (groups === undefined) return undefined;
  const { condition = "", who = "", modal = "", verb = "", object = "" } = groups;
  const quantity = recoverQuantity(object, sentence);
  if (quantity === undefined) return undefined;
  return {
    claim: {
      ...STATED,
      subject: who,
      predicate: `${modal}_${verb}`.toLowerCase(),
      object,
      polarity: groups["not"] === undefined ? "positive" : "negative",
      epistemicType: "conditional",
      condition,
      evidenceQuote: sentence,
      quantity,
    },
  };
}

function actionIn(sentence: string): Recovered | undefined {
  const groups = ACTION.exec(sentence)?.groups;
  if (groups === undefined) return undefined;
  const { who = "", verb = "", object = "" } = groups;
  const quantity = recoverQuantity(object, sentence);
  if (quantity === undefined) return undefined;
  return {
    claim: {
      ...STATED,
      subject: who,
      predicate: verb.toLowerCase(),
      object,
      evidenceQuote: sentence,
      quantity,
    },
  };
}

function isSameText(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/** Whether an entity is named by a recovered claim only. */
export function isNewEntity(
  entity: ExtractedEntity,
  entities: readonly ExtractedEntity[],
): boolean {
  return !entities.some(
    ({ name }) => isSameText(name, entity.name) || isMentioned(entity.name, name),
  );
}
