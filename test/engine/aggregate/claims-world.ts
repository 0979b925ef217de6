import fc from "fast-check";
import {
  CONDITION_STATES,
  EPISTEMIC_TYPES,
  LIFECYCLE_STATES,
  type NodeType,
  type Scope,
} from "../../../src/domain/enums.ts";
import type { Edge, MemoryNode } from "../../../src/domain/node.ts";
import type { Instant } from "../../../src/lib/instant.ts";
import type { Json } from "../../../src/lib/json.ts";
import { asUuid, type Uuid } from "../../../src/lib/uuid.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { aNode, anEvent, at, freshId } from "../../contract/samples.ts";

/** Puts memories of one owner into a store as they are. */
export async function put(store: Store, nodes: readonly MemoryNode[]): Promise<void> {
  const event = anEvent({ userId: nodes[0]?.userId ?? "ada" });
  await store.admit({
    events: [event],
    auditRecords: [],
    nodes: nodes.map((node) => ({ node, lexical: false })),
    leaseJobs: true,
  });
}

export function nodesOf(told: readonly Told[]): MemoryNode[] {
  return told.map(({ node }) => node);
}

/** Puts an edge between two stored memories. */
export async function join(store: Store, edge: Edge): Promise<void> {
  const reads = { nodeIds: [edge.sourceId, edge.targetId], auditRecordIds: [], eventIds: [] };
  await store.change(reads, () => ({
    change: { nodes: [], edges: [edge], auditRecords: [] },
    result: undefined,
  }));
}

/** A contradiction; members that are given replace the usual ones. */
export function conflictOf(
  source: MemoryNode,
  target: MemoryNode,
  given: Partial<Edge> = {},
): Edge {
  return {
    id: freshId(),
    userId: source.userId,
    sourceId: source.id,
    targetId: target.id,
    edgeType: "contradicts",
    confidence: 1,
    validFrom: at(0),
    validTo: undefined,
    provenanceEventId: undefined,
    metadata: undefined,
    createdAt: at(0),
    ...given,
  };
}

/** A fact of `ada`; members that are given replace the usual ones. */
export function fact(
  [subject, predicate, object]: readonly [string, string, string],
  given: Partial<MemoryNode> = {},
  metadata: Readonly<Record<string, Json>> = {},
): MemoryNode {
  const event = anEvent({ content: `${subject} ${predicate} ${object}` });
  return aNode(event, {
    nodeType: "fact",
    metadata: { subject, predicate, object, ...metadata },
    ...given,
  });
}

/** The metadata of an amount that stands in the claim's object and text. */
export function amount(value: string, unit: string, text: string): Readonly<Record<string, Json>> {
  return { quantity: { value, unit, source_text: text, grounding: "object_decimal_v1" } };
}

/** A text as somebody writes it, and as it is compared. */
export type Spelling = { readonly written: Json | undefined; readonly normal: string | undefined };

const spelled = (normal: string | undefined, ...written: readonly (Json | undefined)[]) =>
  written.map((text): Spelling => ({ written: text, normal }));

export const SUBJECTS = [
  ...spelled("i", "I", " i ", "Ｉ"),
  ...spelled("strasse", "Straße", "STRASSE", "straẞe"),
  ...spelled("anna-lena berg", "Anna-Lena Berg", "ANNA-LENA\u00a0 BERG\t"),
  ...spelled(undefined, undefined, null, " ", 5),
];
export const PREDICATES = [
  ...spelled("ran", "ran", "RAN"),
  ...spelled("ran_home", "ran home", "Ran-Home", "ran_home", "ran - home"),
  ...spelled("ran2", "ran2"),
  ...spelled("outran", "outran"),
  ...spelled("raised_funds", "raised_funds", "Raised Funds"),
  ...spelled(undefined, undefined, "\n"),
];
export const OBJECTS = [
  ...spelled("berlin", "Berlin", "BERLIN", " berlin "),
  ...spelled("straße 5".replace("ß", "ss"), "Straße 5", "STRASSE  5"),
  ...spelled("\u{10000}", "\u{10000}"),
  ...spelled("\ufffd", "\ufffd"),
  ...spelled(undefined, undefined, ["Berlin"]),
];
export const POLARITIES = [
  ...spelled("positive", undefined, null, "positive", " Positive"),
  ...spelled("negative", "negative", "NEGATIVE"),
  ...spelled("unknown", "unknown"),
  ...spelled(undefined, "", false),
];

/** An amount as it is stored, and what it is worth. Each is judged by hand. */
export type Amount = {
  /** In units of 10^-40, with the number of places written. */
  readonly worth: { readonly units: bigint; readonly places: number } | undefined;
  readonly unit: Spelling;
  readonly text: string;
  readonly stored: Json | undefined;
  readonly object: string;
  readonly content: string;
  readonly quote: Json | undefined;
};

const UNIT = 10n ** 40n;

/** Rows: worth in hundredths and places (invalid: none), value, unit, its normal form, words, object, what was said. */
const VALID: readonly (readonly [
  bigint,
  number,
  string,
  string,
  string,
  string,
  string,
  string,
])[] = [
  [500n, 0, "5", "km", "km", "5 km", "5 km today", "I ran 5 km today."],
  [500n, 2, "5.00", "KM", "km", "5.00 KM", "5.00 KM", "I ran 5.00 KM"],
  [50n, 1, "0.5", "km", "km", ".5km", ".5km", "only .5km"],
  [150_000n, 0, "1500", "$", "$", "$1,500", "$1,500 for it", "I raised $1,500 for it"],
  [-333n, 2, "-3.33", "USD", "usd", "-3.33 USD", "-3.33 USD", "a loss of -3.33 USD"],
  [4200n, 0, "42", "1", "1", "42", "42", "the score was 42."],
  [100_000n, -3, "1e3", "km", "km", "1000 km", "1000 km", "It was over, 1000 km"],
  [
    700n,
    0,
    "7",
    "sea miles",
    "sea miles",
    "7 sea miles",
    "7 sea miles",
    "He said: 7 sea miles, then 8",
  ],
];
const INVALID: readonly (readonly [
  value: Json,
  unit: Json,
  text: Json,
  object: string,
  said: string,
])[] = [
  ["5", "km", "5 km", "5 km", "about 5 km"],
  ["5", "km", "5 km", "5 km", "3 to 5 km"],
  ["5", "km", "5 km", "5 km", "5 km - 7 km"],
  ["5", "km", "5 km", "5 km", "between 3 and 5 km"],
  ["6", "km", "5 km", "5 km", "I ran 5 km"],
  ["5", "mi", "5 km", "5 km", "I ran 5 km"],
  ["5", "1", "5 km", "5 km", "I ran 5 km"],
  ["5", "km", "5 km", "five", "I ran 5 km"],
  ["5", "km", "5 km", "5 km", "I ran five"],
  ["5", "km", "(5 km)", "(5 km)", "I ran (5 km)"],
  ["5", "km", "5 km or 6", "5 km or 6", "I ran 5 km or 6"],
  ["5", "km", "5 km", "15 km", "I ran 15 km"],
  [5, "km", "5 km", "5 km", "I ran 5 km"],
  ["5", "", "5 km", "5 km", "I ran 5 km"],
  ["1e500", "km", "5 km", "5 km", "I ran 5 km"],
  ["5", "km", null, "5 km", "I ran 5 km"],
];

const AMOUNTS: readonly Amount[] = [
  ...VALID.map(
    ([hundredths, places, value, unit, normal, text, object, content]): Amount => ({
      worth: { units: (hundredths * UNIT) / 100n, places },
      unit: { written: unit, normal },
      text,
      stored: { value, unit, source_text: text, grounding: "object_decimal_v1" },
      object,
      content,
      quote: undefined,
    }),
  ),
  ...INVALID.map(
    ([value, unit, text, object, content]): Amount => ({
      worth: undefined,
      unit: { written: undefined, normal: undefined },
      text: "",
      stored: { value, unit, source_text: text, grounding: "object_decimal_v1" },
      object,
      content,
      quote: undefined,
    }),
  ),
];
const UNGROUNDED: Amount = {
  worth: undefined,
  unit: { written: undefined, normal: undefined },
  text: "",
  stored: { value: "5", unit: "km", source_text: "5 km", grounding: "other" },
  object: "5 km",
  content: "I ran 5 km",
  quote: undefined,
};

/** A memory with what a person would say about it. */
export type Told = {
  readonly node: MemoryNode;
  readonly subject: Spelling;
  readonly predicate: Spelling;
  readonly object: Spelling;
  readonly polarity: Spelling;
  /** Undefined: it has none. */
  readonly amount: Amount | undefined;
  readonly conditionState: Json | undefined;
};

const MOMENTS = 8;
export const moment = fc.nat(MOMENTS).map((seconds) => at(seconds));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const EVENTS = Array.from({ length: 14 }, () => freshId());

/** Amounts whose words stand in a quote while the text of the memory says something else. */
const quoted = (told: Amount): Amount => ({ ...told, quote: told.content, content: "about 5 km" });

/** Amounts of any number of digits and places. */
const counted = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.nat(18), fc.constantFrom("km", "KM", "$"))
  .map(([digits, places, unit]): Amount => {
    const figures = String(digits).padStart(places + 1, "0");
    const whole = figures.slice(0, figures.length - places);
    const value = places === 0 ? whole : `${whole}.${figures.slice(-places)}`;
    const text = unit === "$" ? `$${value}` : `${value} ${unit}`;
    return {
      worth: { units: digits * 10n ** BigInt(40 - places), places },
      unit: { written: unit, normal: unit.toLowerCase() },
      text,
      stored: { value, unit, source_text: text, grounding: "object_decimal_v1" },
      object: text,
      content: `it came to ${text}`,
      quote: undefined,
    };
  });

const anAmount = fc.oneof(
  { arbitrary: counted, weight: 2 },
  { arbitrary: fc.constantFrom(...AMOUNTS, UNGROUNDED), weight: 3 },
  { arbitrary: fc.constantFrom(...AMOUNTS).map(quoted), weight: 1 },
  { arbitrary: fc.constant(undefined), weight: 1 },
);

const memory = fc.record({
  order: fc.uuid(),
  /** Whether it holds, so that it counts unless a query says otherwise. */
  isPlain: fc.constantFrom(true, true, true, false),
  nodeType: fc.constantFrom<NodeType>("fact", "fact", "decision", "preference", "note", "task"),
  scope: fc.constantFrom<Scope>("personal", "project", "sandbox"),
  lifecycleState: fc.constantFrom("tentative", "stable", "contested", ...LIFECYCLE_STATES),
  epistemicType: fc.constantFrom("asserted", "observed", "asserted", ...EPISTEMIC_TYPES),
  confidence: fc.constantFrom(0, 0.2, 0.29999, 0.3, 0.30001, 0.8),
  createdAt: moment,
  validFrom: moment,
  validFor: maybe(fc.integer({ min: 1, max: 4 })),
  eventTime: maybe(moment),
  evidence: fc.uniqueArray(fc.constantFrom(...EVENTS), { maxLength: 5 }),
  isSuperseded: fc.constantFrom(false, false, false, true),
  subject: fc.constantFrom(...SUBJECTS),
  predicate: fc.constantFrom(...PREDICATES),
  object: fc.constantFrom(...OBJECTS),
  polarity: fc.constantFrom(...POLARITIES),
  amount: anAmount,
  conditionState: fc.constantFrom<Json | undefined>(...CONDITION_STATES, undefined, "bogus", true),
});

/** Any memories of one owner, with identifiers in no order. */
export const memories = fc
  .uniqueArray(memory, { maxLength: 40, selector: ({ order }) => order.slice(0, 28) })
  .map((drawn) => drawn.map(toTold));

function toTold(drawn: typeof memory extends fc.Arbitrary<infer T> ? T : never): Told {
  const { amount: told, conditionState } = drawn;
  const isPlain = drawn.isPlain;
  const said = (spelling: Spelling, plain: Spelling | undefined) =>
    isPlain && spelling.normal === undefined && plain !== undefined ? plain : spelling;
  const subject = said(drawn.subject, SUBJECTS[0]);
  const predicate = said(drawn.predicate, PREDICATES[0]);
  const polarity = said(drawn.polarity, POLARITIES[0]);
  // An amount brings the object that it stands in.
  const object =
    told === undefined
      ? said(drawn.object, OBJECTS[0])
      : { written: told.object, normal: told.object.toLowerCase() };
  const parts = {
    subject: subject.written,
    predicate: predicate.written,
    object: object.written,
    polarity: polarity.written,
    condition_state: conditionState,
    quantity: told?.stored,
    evidence_quote: told?.quote,
  };
  const metadata = Object.fromEntries(
    Object.entries(parts).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
  const { createdAt, validFrom, validFor, eventTime } = drawn;
  const base = anEvent({ content: told?.content ?? "said", timestamp: createdAt });
  const node = aNode(base, {
    id: asUuid(drawn.order),
    nodeType: drawn.nodeType,
    scope: drawn.scope,
    lifecycleState: isPlain ? "stable" : drawn.lifecycleState,
    epistemicType: isPlain ? "observed" : drawn.epistemicType,
    confidence: drawn.confidence,
    validFrom,
    validTo: validFor === undefined ? undefined : later(validFrom, validFor),
    eventTime,
    evidenceRefs: drawn.evidence,
    supersededBy: drawn.isSuperseded ? (EVENTS[0] as Uuid) : undefined,
    metadata,
  });
  return { node, subject, predicate, object, polarity, amount: told, conditionState };
}

function later(from: Instant, seconds: number): Instant {
  return at((Date.parse(from) - Date.parse(at(0))) / 1000 + seconds);
}

/**
 * The same memories as those of an owner of their own, so that one pack serves many runs. Their order by identifier stays.
 * @param owner a number that no other run has
 */
export function ownedBy(told: readonly Told[], owner: number, userId: string): Told[] {
  const tail = owner.toString(16).padStart(8, "0");
  return told.map((record) => {
    const id = asUuid(`${record.node.id.slice(0, 28)}${tail}`);
    return { ...record, node: { ...record.node, id, userId } };
  });
}
