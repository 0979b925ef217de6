/** For the schema of a field: values one step beyond what it allows. Some are allowed after all; the server has to know. */
import fc, { type Arbitrary } from "fast-check";
import type { Schema } from "./document.ts";
import { hostileText } from "./hostile.ts";
import { Raw, type Tree } from "./json-text.ts";

/** What an instant or an id nearly is. Each spelling has its test where it is read; here it meets every field. */
const INSTANTS: readonly string[] = [
  "2026-01-01",
  "2026-01-01T00:00:00",
  "2026-02-30T00:00:00Z",
  "2026-01-01T24:00:00Z",
  `2026-01-01T00:00:00.${"1".repeat(5000)}Z`,
  `${"\n".repeat(5000)}2026-01-01`,
  "2026-01-01T00:00:00+24:00",
  "2026-01-01T00:00:00Z[UTC]",
  "\u0662\u0660\u0662\u0666-01-01T00:00:00Z",
  "0001-01-01T00:00:00+23:59",
  "9999-12-31T23:59:59.9999999-23:59",
];
const IDS: readonly string[] = [
  "11111111-2222-4333-8444-55555555555",
  "{11111111-2222-4333-8444-555555555555",
  "{urn:uuid:11111111-2222-4333-8444-555555555555}",
  " 11111111-2222-4333-8444-555555555555 ",
  "11111111\u20102222\u20104333\u20108444\u2010555555555555",
  "00000000-0000-0000-0000-000000000000",
  `${" ".repeat(5000)}x`,
];

/** @param schema with its reference followed */
export function nearMiss(schema: Schema): Arbitrary<Tree> {
  const { enum: members, type } = schema;
  const kind: unknown = Array.isArray(type) ? type[0] : type;
  if (Array.isArray(members)) return ofMember(String(members[0]));
  switch (kind) {
    case "integer":
    case "number":
      return ofNumber(schema);
    case "string":
      return ofText(schema);
    case "array":
      return ofList(schema);
    case "boolean":
      return fc.constantFrom<Tree>("true", "false", 0, 1, "", null);
    default:
      return fc.constantFrom<Tree>(null, [], "", "{}", 0);
  }
}

function ofMember(member: string): Arbitrary<Tree> {
  return fc.constantFrom<Tree>(
    member.toUpperCase(),
    ` ${member}`,
    `${member}\u0000`,
    `${member}s`,
    member.slice(1),
    "",
    "__proto__",
    "toString",
    null,
    0,
    [member],
    [[member]],
  );
}

function ofNumber({ minimum, maximum }: Schema): Arbitrary<Tree> {
  const min = typeof minimum === "number" ? minimum : 0;
  const max = typeof maximum === "number" ? maximum : 2 ** 53 - 1;
  return fc.constantFrom<Tree>(
    min - 1,
    max + 1,
    min + 0.5,
    new Raw(`${min}.0`),
    new Raw(`${min}e0`),
    new Raw("-0"),
    new Raw("1e400"),
    new Raw(`${min}${"0".repeat(30)}1`),
    new Raw("9007199254740993"),
    String(min),
    "",
    true,
    null,
    [min],
    min + Number.EPSILON,
    max - Number.EPSILON,
    1e-320,
  );
}

function ofText({ format, maxLength }: Schema): Arbitrary<Tree> {
  if (format === "date-time") return fc.oneof(fc.constantFrom(...INSTANTS), hostileText);
  if (format === "uuid") return fc.oneof(fc.constantFrom(...IDS), hostileText);
  const max = typeof maxLength === "number" ? maxLength : 200;
  const long = fc.constantFrom<Tree>(
    "x".repeat(max),
    "x".repeat(max + 1),
    "🦊".repeat(max),
    "🦊".repeat(max + 1),
    ` ${"x".repeat(max)} `,
    " ".repeat(max + 1),
    0,
    null,
    ["x"],
  );
  return fc.oneof(long, hostileText);
}

function ofList({ maxItems }: Schema): Arbitrary<Tree> {
  const max = typeof maxItems === "number" ? maxItems : 300;
  return fc.constantFrom<Tree>(
    [],
    Array.from({ length: max + 1 }, () => "x"),
    Array.from({ length: max + 1 }, (_, at) => at),
    ["x", "x"],
    [null],
    [[]],
    "x",
    null,
    0,
  );
}
