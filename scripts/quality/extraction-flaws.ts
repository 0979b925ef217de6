import type { Conversation, SetClaim, SetTurn } from "./extraction-set.ts";

/** A claim that a model is made to return, and what is wrong with it; undefined if it is right. */
export type Planted = {
  readonly claim: SetClaim;
  readonly flaw: string | undefined;
  /** Whether an answer with this claim has kept the flaw: some leave the claim right once a part of it is removed. */
  readonly isKept: (kept: Kept) => boolean;
};
/** What the checks made of a claim. */
export type Kept = {
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly polarity: string;
  readonly epistemicType: string;
  readonly quantity: { readonly value: string } | undefined;
  readonly temporalRef: string | undefined;
  readonly temporalIntent: string | undefined;
  readonly replacesObject: string | undefined;
};

/** What a model returns for one turn. */
export type PlantedTurn = { readonly turn: SetTurn; readonly claims: readonly Planted[] };

/** Makes a wrong claim of a right one; undefined where it cannot. */
type Mutation = {
  readonly flaw: string;
  readonly mutate: (claim: SetClaim, turn: SetTurn, others: Others) => SetClaim | undefined;
  readonly isKept?: (planted: SetClaim, kept: Kept) => boolean;
};
/** The rest of the set, for values that do not belong here. */
type Others = {
  readonly object: string;
  readonly name: string;
  readonly turn: SetTurn | undefined;
};

const ATTEMPT =
  /^(?:wants_to|trying_to|hopes_to|plans_to|planning_to|needs_to|will|would_like_to)_/;

const MUTATIONS: readonly Mutation[] = [
  {
    flaw: "invented quote",
    mutate: (claim) => ({ ...claim, quote: `${claim.quote.replace(/[.!?]$/, "")} of course.` }),
  },
  {
    flaw: "quote of another turn",
    mutate: (claim, turn, { turn: other }) => {
      const quote = other?.content ?? "";
      return quote === "" || turn.content.includes(quote) || quote.includes(claim.object)
        ? undefined
        : { ...claim, quote };
    },
  },
  {
    flaw: "claim of another turn",
    mutate: (_claim, turn, { turn: other }) => {
      const foreign = other?.right[0];
      return foreign === undefined || turn.content.includes(foreign.quote) ? undefined : foreign;
    },
  },
  {
    flaw: "invented subject",
    mutate: (claim, turn, { name }) =>
      turn.content.includes(name) ? undefined : { ...claim, subject: name },
  },
  {
    flaw: "invented value",
    mutate: (claim, turn, { object }) =>
      turn.content.toLowerCase().includes(object.toLowerCase()) ? undefined : { ...claim, object },
  },
  {
    flaw: "hidden condition",
    mutate: (claim) =>
      claim.condition === null
        ? undefined
        : { ...claim, condition: null, epistemicType: "asserted" },
  },
  {
    flaw: "invented condition",
    mutate: (claim) =>
      claim.condition === null && claim.epistemicType === "asserted"
        ? { ...claim, condition: "if it rains", epistemicType: "conditional" }
        : undefined,
  },
  {
    flaw: "lost doubt",
    mutate: (claim) =>
      claim.epistemicType === "hypothetical" ? { ...claim, epistemicType: "observed" } : undefined,
  },
  {
    flaw: "attempt as done",
    mutate: (claim) =>
      ATTEMPT.test(claim.predicate) && claim.condition === null
        ? { ...claim, predicate: "completed", epistemicType: "observed" }
        : undefined,
  },
  {
    flaw: "lost negation",
    mutate: (claim) =>
      claim.polarity === "negative" ? { ...claim, polarity: "positive" } : undefined,
  },
  {
    flaw: "invented negation",
    mutate: (claim) =>
      claim.polarity === "positive" ? { ...claim, polarity: "negative" } : undefined,
  },
  {
    flaw: "wrong amount",
    mutate: (claim) =>
      claim.quantity === null
        ? undefined
        : {
            ...claim,
            quantity: { ...claim.quantity, value: `${Number(claim.quantity.value) + 1}` },
          },
    isKept: (planted, kept) => kept.quantity?.value === planted.quantity?.value,
  },
  {
    flaw: "invented time",
    mutate: (claim) => ({ ...claim, temporalRef: "three winters ago" }),
    isKept: (_, kept) => kept.temporalRef !== undefined,
  },
  {
    flaw: "wrong retirement",
    mutate: (claim, turn) => {
      const other = turn.right.find(({ object }) => object !== claim.object);
      const isSelf = other === undefined && claim.polarity === "negative";
      // A denial that retires what it denies is right.
      return claim.temporalIntent !== null || other?.temporalIntent === "update" || isSelf
        ? undefined
        : { ...claim, temporalIntent: "update", replacesObject: (other ?? claim).object };
    },
    isKept: (_, kept) => kept.temporalIntent === "update" && kept.replacesObject !== undefined,
  },
];

/** The mistakes that can be planted, in the order of a report. */
export const FLAWS: readonly string[] = [
  ...MUTATIONS.map(({ flaw }) => flaw),
  "other person",
  "question as fact",
  "order obeyed",
  "advice as fact",
  "past as present",
  "approximate amount",
];
const WRITTEN: Readonly<Record<string, string>> = {
  other_person: "other person",
  not_stated: "question as fact",
  order: "order obeyed",
  role_policy: "advice as fact",
  not_current: "past as present",
  replaced: "past as present",
  negation: "lost negation",
  uncertain: "lost doubt",
  quantity: "approximate amount",
  condition: "hidden condition",
};

/** What a flawed model returns for a conversation: everything right, and every mistake that can be made of it. */
export function plant(
  conversation: Conversation,
  all: readonly Conversation[],
): readonly PlantedTurn[] {
  const { turns } = conversation;
  const place = all.indexOf(conversation);
  const strangers = all[(place + 7) % all.length]?.turns.flatMap(({ right }) => right) ?? [];
  return turns.map((turn, index) => {
    const right = turn.right.map((claim) => ({ claim, flaw: undefined, isKept: () => true }));
    const mutated = turn.right.flatMap((claim, at) => {
      const others = {
        object: strangers[at % Math.max(1, strangers.length)]?.object ?? "Zanzibar",
        name: "Quentin Ashby",
        turn: turns[(index + 1) % turns.length],
      };
      return MUTATIONS.flatMap(({ flaw, mutate, isKept }) => {
        const wrong = mutate(claim, turn, others);
        if (wrong === undefined) return [];
        const keeps = isKept ?? isSameClaim;
        return [{ claim: wrong, flaw, isKept: (kept: Kept) => keeps(wrong, kept) }];
      });
    });
    const written = turn.wrong.map(({ why, claim }) => ({
      claim,
      flaw: WRITTEN[why] ?? why,
      isKept: (kept: Kept) => keepsWritten(why, claim, kept),
    }));
    return { turn, claims: [...right, ...mutated, ...written] };
  });
}

function keepsWritten(why: string, { replacesObject }: SetClaim, kept: Kept): boolean {
  if (why === "quantity") return kept.quantity !== undefined;
  return replacesObject === null || kept.replacesObject !== undefined;
}

function isSameClaim(planted: SetClaim, kept: Kept): boolean {
  return kept.polarity === planted.polarity && kept.epistemicType === planted.epistemicType;
}

/** What a model returns, as the text of one answer to all turns. */
export function answerOf(turns: readonly { readonly claims: readonly SetClaim[] }[]): string {
  return JSON.stringify({
    turns: turns.map(({ claims }, index) => ({
      turn: index + 1,
      entities: entitiesOf(claims),
      facts: claims.map((claim) => ({
        subject: claim.subject,
        predicate: claim.predicate,
        object: claim.object,
        polarity: claim.polarity,
        evidence_quote: claim.quote,
        confidence: 0.9,
        fact_type: claim.factType,
        epistemic_type: claim.epistemicType,
        condition: claim.condition,
        temporal_ref: claim.temporalRef,
        temporal_intent: claim.temporalIntent,
        replaces_object: claim.replacesObject,
        quantity: claim.quantity,
      })),
      relationships: [],
    })),
  });
}

function entitiesOf(claims: readonly SetClaim[]): readonly object[] {
  const names = new Set(claims.map(({ subject }) => subject));
  return Array.from(names, (name) => ({ name, entity_type: "thing" }));
}
