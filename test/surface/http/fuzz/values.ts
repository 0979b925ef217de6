/** Values for the fields of requests: what a schema allows, what is nearly that, and what somebody sends who means harm. */
import fc, { type Arbitrary } from "fast-check";
import type { ApiDocument, Schema } from "./document.ts";
import { countOf, Entries, Raw, type Tree, withChange } from "./json-text.ts";

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
};

/** One of what is known by the time it is asked for. */
function oneOf(known: readonly string[]): Arbitrary<string> {
  return fc.nat({ max: 2 ** 20 }).map((at) => known[at % known.length] ?? "");
}

const WORDS = "tea kayak harbour Ada lives in Oslo Rome paid 12.50 euros who what when".split(" ");
const sentence = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 });

/** Text that a well-meaning caller writes, in any script. */
const plainText = fc.oneof(
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
  const { nodes, winners, losers, events, requests, citations } = known;
  const pools: readonly (readonly [RegExp, readonly string[]])[] = [
    [/key/i, KEYS],
    [/event|evidence/, events],
    [/request/, requests],
    [/citation/, citations],
    [/winner/, winners],
    [/loser/, losers],
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

/** Values that the schema of a field allows. @param name of the field: some names mean more than their schema says */
export function allowedValue(
  document: ApiDocument,
  known: Known,
  schema: Schema,
  name = "",
): Arbitrary<Tree> {
  const inner = (part: unknown, of = name): Arbitrary<Tree> =>
    // SAFETY: the document is valid, so what stands where a schema has to stand is one.
    allowedValue(document, known, part as Schema, of);
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
      return objectOf(found, inner);
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
      { weight: 3, arbitrary: absent },
      { weight: 1, arbitrary: value.map((pair) => [pair]) },
    );
  });
  return fc.tuple(...fields).map((pairs) => new Entries(pairs.flat()));
}

/** Texts that break programs. */
export const hostileText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\ud800",
    "tea \udc00 tea",
    "\u0000",
    "a\u0000b",
    "\u202e\u2066",
    "\ufeff",
    "null",
    "undefined",
    "NaN",
    "true",
    "0",
    "-1",
    "__proto__",
    "constructor",
    "toString",
    "../../../etc/passwd",
    "..\\..\\windows",
    "'; DROP TABLE nodes; --",
    '" OR ""="',
    "%00%ff%zz",
    "{{7*7}}",
    "$(touch /tmp/x)`id`",
    "<script>alert(1)</script>",
    "\r\nSet-Cookie: a=b",
    "NEAR(tea, 5) AND * OR ^",
    "ﷺ".repeat(50),
    "e\u0301".repeat(200),
    "👩‍👩‍👧‍👦".repeat(50),
    "2026-13-45T99:99:99Z",
    "2026-01-01",
    "2026-01-01T00:00:00",
    `2026-01-01T00:00:00${" ".repeat(5000)}`,
    "2026-01-01T00:00:00+99:99",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
    "1e400",
    "0x10",
    "٣",
    "00000000-0000-0000-0000-000000000000",
    "11111111-2222-4333-8444-55555555555",
    "{11111111-2222-4333-8444-555555555555",
    "11111111222243338444555555555555g",
    "x".repeat(100_000),
    "tea ".repeat(25_000),
    "é".repeat(4001),
  ),
  fc.string({ unit: "binary", maxLength: 20 }),
);

const HOSTILE_VALUES: readonly Tree[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  1e308,
  5e-324,
  [],
  [[]],
  [null],
  ["tea", 1, null],
  new Entries([]),
  new Entries([["", ""]]),
  new Entries([["__proto__", new Entries([["polluted", true]])]]),
  new Entries([["constructor", new Entries([["prototype", null]])]]),
  new Entries([["toJSON", "x"]]),
  new Entries([
    ["subject", "a"],
    ["subject", "b"],
  ]),
  new Entries([["svc_speaker_v1", "Ada"]]),
  new Raw("-0"),
  new Raw("1e400"),
  new Raw("-1e400"),
  new Raw("1E-400"),
  new Raw(`1${"0".repeat(400)}`),
  new Raw(`0.${"1".repeat(5000)}`),
  new Raw("NaN"),
  new Raw("Infinity"),
  new Raw("undefined"),
  new Raw("'tea'"),
  new Raw("01"),
  new Raw(".5"),
  new Raw('"\\ud800"'),
  new Raw('"\\u0000"'),
  new Raw('"\\x41"'),
  new Raw('"tab\there"'),
  new Raw("/* tea */ 1"),
  new Raw(`${"[".repeat(100)}${"]".repeat(100)}`),
  new Raw(`${"[".repeat(499)}${"]".repeat(499)}`),
  new Raw(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`),
];

const manyKeys: Tree = new Entries(
  Array.from({ length: 3000 }, (_, at) => [`key ${at}`, at] as const),
);
const manyItems: Tree = Array.from({ length: 3000 }, (_, at) => at);

/** Anything at all in the place of a value. */
export const hostileValue: Arbitrary<Tree> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 6, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 1, arbitrary: fc.constantFrom(manyKeys, manyItems) },
  { weight: 1, arbitrary: fc.double().map((value) => new Raw(String(value))) },
);

const EXTRA_KEYS = ["extra", "__proto__", "constructor", "", "user_id", "a.b[0]", "k".repeat(5000)];

/** A document with one to three values replaced, wrapped, left out, or joined by others. */
export function damaged(trees: Arbitrary<Tree>): Arbitrary<Tree> {
  const change = fc.record({
    at: fc.nat(),
    how: fc.constantFrom("replace", "null", "wrap", "drop", "add", "double"),
    value: hostileValue,
    key: fc.constantFrom(...EXTRA_KEYS),
  });
  return fc
    .tuple(trees, fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([tree, changes]) =>
      changes.reduce<Tree>(
        (result, { at, how, value, key }) =>
          withChange(result, at % countOf(result), (part) => changed(part, how, value, key)),
        tree,
      ),
    );
}

function changed(part: Tree, how: string, value: Tree, key: string): Tree {
  const pairs = part instanceof Entries ? part.pairs : undefined;
  switch (how) {
    case "null":
      return null;
    case "wrap":
      return [part];
    case "drop":
      return pairs === undefined ? value : new Entries(pairs.slice(1));
    case "add":
      return pairs === undefined ? value : new Entries([...pairs, [key, value]]);
    case "double":
      return pairs === undefined ? value : new Entries([...pairs, ...pairs]);
    default:
      return value;
  }
}
