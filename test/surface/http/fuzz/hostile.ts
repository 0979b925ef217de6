/** Values that somebody sends who means harm, or whose program is broken. */
import fc, { type Arbitrary } from "fast-check";
import { countOf, Entries, Raw, type Tree, withChange } from "./json-text.ts";

/** Texts that break programs. */
export const hostileText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    "\ud800",
    "tea \udc00 tea",
    "a\u0000b",
    "\u202e\u2066",
    "\ufeff",
    "null",
    "__proto__",
    "../../../etc/passwd",
    "'; DROP TABLE nodes; --",
    "%00%ff%zz",
    "$(touch /tmp/x)`id`",
    "<script>alert(1)</script>",
    "\r\nSet-Cookie: a=b",
    "NEAR(tea, 5) AND * OR ^",
    "ﷺ".repeat(50),
    "👩‍👩‍👧‍👦".repeat(50),
    "1e400",
    "٣",
    "x".repeat(100_000),
    `tea${" ".repeat(100_000)}tea`,
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
  2 ** 53,
  -(2 ** 63),
  5e-324,
  [],
  ["tea", 1, null],
  new Entries([]),
  new Entries([["__proto__", new Entries([["polluted", true]])]]),
  new Entries([["constructor", new Entries([["prototype", null]])]]),
  new Entries([
    ["subject", "a"],
    ["subject", "b"],
  ]),
  new Entries([["svc_speaker_v1", "Ada"]]),
  new Raw("-0"),
  new Raw("1e400"),
  new Raw(`1${"0".repeat(400)}`),
  new Raw(`0.${"1".repeat(5000)}`),
  new Raw("NaN"),
  new Raw("'tea'"),
  new Raw("01"),
  new Raw('"\\ud800"'),
  new Raw('"\\u0000"'),
  new Raw('"tab\there"'),
  new Raw(`${"[".repeat(499)}${"]".repeat(499)}`),
  new Raw(`${'{"a":'.repeat(600)}1${"}".repeat(600)}`),
  new Raw(`${"[".repeat(50_000)}${"]".repeat(50_000)}`),
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
