/** Values for the fields of requests: what a schema allows, and what is nearly that. */
import fc, { type Arbitrary } from "fast-check";
import type { ApiDocument, Schema } from "./document.ts";
import { Entries, Raw, type Tree } from "./json-text.ts";
import { nearMiss } from "./near-misses.ts";

/** Names and identifiers that mean something to the server under test; more may come while it is tested. */
export type Known = {
  readonly owners: readonly string[];
  readonly nodes: readonly string[];
  /** Those of the nodes that have a condition. */
  readonly conditional: readonly string[];
  /** Claims that contradict those at the same place of `losers`. */
  readonly winners: readonly string[];
  readonly losers: readonly string[];
  readonly events: readonly string[];
  readonly requests: readonly string[];
  readonly citations: readonly string[];
  readonly cursors: readonly string[];
  /** What was forgotten. */
  readonly forgettings: readonly string[];
  readonly imports: readonly string[];
};

/** One of what is known by the time it is asked for. */
function oneOf(known: readonly string[]): Arbitrary<string> {
  return fc.nat({ max: 2 ** 20 }).map((at) => known[at % known.length] ?? "");
}

const WORDS = "tea kayak harbour Ada lives in Oslo Rome paid 12.50 euros who what when".split(" ");
const sentence = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 });

/** Text that a well-meaning caller writes, in any script. */
export const plainText = fc.oneof(
  { weight: 3, arbitrary: sentence.map((words) => words.join(" ")) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }) },
);

const pad = (value: number, digits = 2): string => String(value).padStart(digits, "0");

/** Instants as the document allows them, with every kind of offset. */
const instantText = fc
  .tuple(
    fc.integer({ min: 1, max: 9998 }),
    fc.integer({ min: 1, max: 12 }),
    fc.integer({ min: 1, max: 28 }),
    fc.integer({ min: 0, max: 23 }),
    fc.constantFrom("", ".5", ".123456", ".123456789"),
    fc.constantFrom("Z", "+00:00", "-00:00", "+14:00", "-12:00", "+05:45", "-03:30", "+23:59"),
  )
  .map(
    ([year, month, day, hour, fraction, offset]) =>
      `${pad(year, 4)}-${pad(month)}-${pad(day)}T${pad(hour)}:30:00${fraction}${offset}`,
  );

/** A UUID in one of the spellings that people use. */
const spelled = (id: Arbitrary<string>): Arbitrary<string> =>
  fc.tuple(id, fc.constantFrom("as is", "upper", "bare", "urn", "braces")).map(([text, how]) => {
    switch (how) {
      case "upper":
        return text.toUpperCase();
      case "bare":
        return text.replaceAll("-", "");
      case "urn":
        return `urn:uuid:${text}`;
      case "braces":
        return `{${text}}`;
      default:
        return text;
    }
  });

/** Request keys; few, so that they meet again. */
const KEYS = [1, 2, 3, 4].map((at) => `${at}1111111-2222-4333-8444-555555555555`);

/** Identifiers of what a field is about, by its name; now and then those of something else. */
function idOf(known: Known, name: string): Arbitrary<string> {
  const { nodes, winners, losers, events, requests, citations, forgettings, imports } = known;
  const pools: readonly (readonly [RegExp, readonly string[]])[] = [
    [/key/i, KEYS],
    [/event|evidence/, events],
    [/request/, requests],
    [/citation/, citations],
    [/winner/, winners],
    [/loser/, losers],
    [/forget/, forgettings],
    [/import/, imports],
  ];
  const meant = pools.find(([pattern]) => pattern.test(name))?.[1] ?? nodes;
  return fc.oneof(
    { weight: 12, arbitrary: oneOf(meant) },
    { weight: 2, arbitrary: spelled(oneOf(meant)) },
    { weight: 1, arbitrary: fc.oneof(...[nodes, events, requests, citations].map(oneOf)) },
    { weight: 1, arbitrary: fc.uuid() },
  );
}

/** Any JSON object, as deep as a caller might send it. */
const anyObject: Arbitrary<Tree> = fc
  .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
  .map((value) => new Raw(JSON.stringify(value)));

/** Parts of claims and conditions, so that aggregations find something. */
const claimObject: Arbitrary<Tree> = fc
  .record({
    subject: fc.constantFrom("Ada", "I"),
    predicate: fc.constantFrom("lives in", "spent"),
    object: fc.constantFrom("Oslo", "Rome", "12.50 euros"),
    condition: fc.constantFrom("it rains", "the wind is below 5"),
  })
  .map((value) => new Raw(JSON.stringify(value)));

/** What values are made from. */
export type Source = {
  readonly document: ApiDocument;
  readonly known: Known;
  /** Whether a field in ten holds what its schema just does not allow; more fields are there, too. */
  readonly isNear: boolean;
};

/** Values that the schema of a field allows, or nearly. @param name of the field: some names mean more than their schema says */
export function valueFor(source: Source, schema: Schema, name = ""): Arbitrary<Tree> {
  const allowed = allowedValue(source, schema, name);
  if (!source.isNear) return allowed;
  const found = source.document.resolve(schema);
  return fc.oneof({ weight: 9, arbitrary: allowed }, { weight: 1, arbitrary: nearMiss(found) });
}

function allowedValue(source: Source, schema: Schema, name: string): Arbitrary<Tree> {
  const { document, known } = source;
  const inner = (part: unknown, of = name): Arbitrary<Tree> =>
    // SAFETY: the document is valid, so what stands where a schema has to stand is one.
    valueFor(source, part as Schema, of);
  const found = document.resolve(schema);
  const { anyOf, enum: members, type } = found;
  if (Array.isArray(members)) return fc.constantFrom(...(members as Tree[]));
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((part) => inner(part)));
  if (name === "user_id") {
    const named = fc.constantFrom(...known.owners);
    return fc.oneof({ weight: 15, arbitrary: named }, fc.constant(null));
  }
  if (Array.isArray(type)) {
    const [first, ...rest] = type.map((one) => inner({ ...found, type: one }));
    if (first === undefined) throw new Error(`${name} has no type`);
    return fc.oneof({ weight: 3, arbitrary: first }, ...rest);
  }
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return numberOf(found);
    case "string":
      return textOf(known, found, name);
    case "array":
      return listOf(found, inner(found["items"]));
    case "object":
      return objectOf(source, found, inner);
    default:
      return fc.jsonValue({ maxDepth: 2 }).map((value) => new Raw(JSON.stringify(value)));
  }
}

function numberOf({ type, minimum, maximum }: Schema): Arbitrary<Tree> {
  const min = typeof minimum === "number" ? minimum : 0;
  const max = typeof maximum === "number" ? maximum : min + 5000;
  if (type === "integer") {
    return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max, Math.min(max, min + 5)));
  }
  return fc.double({ min, max: Math.min(max, 1), noNaN: true });
}

function textOf(known: Known, schema: Schema, name: string): Arbitrary<Tree> {
  if (schema["format"] === "uuid") return idOf(known, name);
  if (schema["format"] === "date-time") return instantText;
  if (typeof schema["pattern"] === "string")
    return fc.stringMatching(new RegExp(schema["pattern"]));
  if (name === "operation_cursor") return oneOf(known.cursors);
  return plainText;
}

function listOf(schema: Schema, item: Arbitrary<Tree>): Arbitrary<Tree> {
  const minLength = typeof schema["minItems"] === "number" ? schema["minItems"] : 0;
  if (schema["uniqueItems"] !== true) return fc.array(item, { minLength, maxLength: 4 });
  return fc.uniqueArray(item, { minLength, maxLength: 4 });
}

function objectOf(
  { isNear }: Source,
  schema: Schema,
  inner: (part: unknown, name: string) => Arbitrary<Tree>,
): Arbitrary<Tree> {
  const { properties } = schema;
  if (typeof properties !== "object" || properties === null) {
    return fc.oneof(anyObject, claimObject);
  }
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const fields = Object.entries(properties).map(([name, part]) => {
    const value = inner(part, name).map((tree) => [name, tree] as const);
    // An operator has to name the owner, whatever the schema says; most fields stay out of most requests.
    if (required.includes(name) || name === "user_id") return value.map((pair) => [pair]);
    const absent = fc.constant<(readonly [string, Tree])[]>([]);
    return fc.oneof(
      { weight: isNear ? 1 : 3, arbitrary: absent },
      { weight: 1, arbitrary: value.map((pair) => [pair]) },
    );
  });
  return fc.tuple(...fields).map((pairs) => new Entries(pairs.flat()));
}
