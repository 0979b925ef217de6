import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  list,
  noted,
  nullable,
  number,
  object,
  omitted,
  text,
  told,
  view,
} from "../../src/lib/form.ts";
import { canonicalJson, copyJson, isJsonObject, type Json, parseJson } from "../../src/lib/json.ts";
import { isAmbiguous, readJson } from "../../src/lib/json-answer.ts";
import { camelKeys, given, snakeCase } from "../../src/lib/text.ts";

function copied(value: unknown): Json {
  const result = copyJson(value);
  if ("problem" in result) throw new Error(`${result.problem.path}: ${result.problem.reason}`);
  return result.json;
}

function problem(value: unknown): { readonly path: string; readonly reason: string } {
  const result = copyJson(value);
  if ("json" in result) throw new Error("the value was accepted");
  return result.problem;
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

describe("copyJson", () => {
  test("copies what JSON holds, down to the last value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        expect(JSON.stringify(copied(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  test("is cut off from later changes", () => {
    const original = { list: [{ name: "before" }] };
    const copy = copied(original);
    original.list[0]!.name = "after";
    original.list.push({ name: "more" });
    expect(copy).toEqual({ list: [{ name: "before" }] });
  });

  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const ring: unknown[] = [];
  ring.push([ring]);
  // A list with a hole: index 1 has no value at all.
  const holed: unknown[] = [1];
  holed[2] = 3;

  test.each(
    (
      [
        ["NaN", { a: [0, Number.NaN] }, "a[1]", "NaN is not a JSON number"],
        ["an infinity", { a: { b: -Infinity } }, "a.b", "-Infinity is not a JSON number"],
        ["an undefined member", { a: undefined }, "a", "a undefined is not a JSON value"],
        ["a hole in a list", { a: holed }, "a[1]", "a undefined is not a JSON value"],
        ["a function", [() => 1], "[0]", "a function is not a JSON value"],
        ["a symbol", { s: Symbol("x") }, "s", "a symbol is not a JSON value"],
        ["a bigint", { n: 1n }, "n", "a bigint is not a JSON value"],
        ["a Date", { d: new Date(0) }, "d", "a Date object is not a JSON value"],
        ["a Map", new Map(), "", "a Map object is not a JSON value"],
        ["a boxed number", [Object(1)], "[0]", "a Number object is not a JSON value"],
        ["bytes", { b: new Uint8Array(1) }, "b", "a Uint8Array object is not a JSON value"],
        ["an object in itself", cycle, "self", "the value contains itself"],
        ["a list in itself", ring, "[0][0]", "the value contains itself"],
      ] as const
    ).map(([name, value, path, reason]) => ({ name, value, path, reason })),
  )("refuses $name and says where", ({ value, path, reason }) => {
    expect(problem(value)).toEqual({ path, reason });
  });

  test("accepts the same object twice when neither contains the other", () => {
    const shared = { x: 1 };
    expect(copied({ a: shared, b: [shared] })).toEqual({ a: { x: 1 }, b: [{ x: 1 }] });
  });

  test("accepts 500 levels and refuses 501, and does not overflow on 100,000", () => {
    expect(JSON.stringify(copied(nested(500)))).toBe("[".repeat(500) + "]".repeat(500));
    for (const levels of [501, 100_000]) {
      expect(problem(nested(levels)).reason).toBe(
        "lists and objects are nested deeper than 500 levels",
      );
    }
  });

  test("turns negative zero into zero, as JSON does", () => {
    expect(Object.is(copied(-0), 0)).toBe(true);
  });

  test("keeps a member named __proto__ as data", () => {
    const copy = copied(JSON.parse('{"__proto__":{"polluted":true}}'));
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("accepts objects without a prototype", () => {
    expect(copied(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 });
  });
});

describe("canonicalJson", () => {
  test("orders keys by code point at every level and writes no blanks", () => {
    expect(canonicalJson({ b: [{ z: null, a: true }], a: "x", B: 1.5 })).toBe(
      '{"B":1.5,"a":"x","b":[{"a":true,"z":null}]}',
    );
    // U+FB01 comes before U+1F600, although its UTF-16 unit is the larger one.
    expect(canonicalJson({ "😀": 1, ﬁ: 2 })).toBe('{"ﬁ":2,"😀":1}');
  });

  test("orders names that objects keep in another order", () => {
    const value = copied(JSON.parse('{"b":[{"9":1,"10":2,"!":3}],"a":{"2":{"__proto__":4}}}'));
    expect(canonicalJson(value)).toBe('{"a":{"2":{"__proto__":4}},"b":[{"!":3,"10":2,"9":1}]}');
  });

  test("reads back as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = copied(value);
        expect(JSON.parse(canonicalJson(json))).toEqual(json);
      }),
    );
  });

  test("does not depend on the order in which members were added", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(copied(reversed))).toBe(canonicalJson(copied(value)));
      }),
    );
  });
});

describe("reading a number of a JSON text", () => {
  test.each([
    "0",
    "-0",
    "0.0",
    "12345678901234567000",
    "9007199254740992",
    "-9007199254740991",
    "1e21",
    "100000000000000000000",
    "0.1",
    "0.10000000000000001",
    "123456789012345.25",
    "5e-324",
    "1.7976931348623157e308",
    "1.0000000000000000000000",
    "1e400",
    "17.50e-3",
  ])("takes %s", (source) => {
    expect(parseJson(`{"a":[${source}]}`)).toEqual({ a: [Number(source)] });
  });

  test.each([
    "1234567890123456789",
    "9007199254740993",
    "-9007199254740993",
    "9007199254740993.0",
    "90071992547409930e-1",
    "0.1000000000000000055511151231257827",
    "123456789.1234567891",
    "1e-400",
    "1234567890123456789e3",
  ])("refuses %s by its name", (source) => {
    const json = parseJson(`{"text":"${source}","a":{"b":[1,${source}]}}`);
    expect(copyJson(json)).toEqual({
      problem: {
        path: "a.b[1]",
        reason: `${source} has more digits than a number of JSON keeps; write it as a text`,
      },
    });
  });

  test("reads everything else as JSON.parse does", () => {
    const texts = [
      '{"__proto__":{"a":12345678901234567890123456789012345.5}}',
      "1e5x",
      '{"a":1e5,"b":2}',
    ];
    expect(() => parseJson("1e55x")).toThrow(SyntaxError);
    expect(Object.keys(parseJson(texts[0] ?? "") as object)).toEqual(["__proto__"]);
    expect(parseJson(texts[2] ?? "")).toEqual({ a: 1e5, b: 2 });
  });
});

describe("a name twice in one object", () => {
  test.each([
    '{"a":1,"a":2}',
    '{"a":1,"b":{"a":2},"a" :3}',
    '[{"x":{}},{"b":[{"a":1}, {"a":1,\n"\\u0061":1}]}]',
    '{"__proto__":1,"__proto__":2}',
    '{"a":12345678901234567890,"a":1}',
    '{"\\"":1,"\\"":2}',
  ])("is refused: %s", (text) => expect(() => parseJson(text)).toThrow("twice"));

  test("is found in nothing that has each once", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat(3), (value, indent) => {
        const text = JSON.stringify([value, { a: '"a":1,"a":', b: ["a", "a"] }], null, indent);
        expect(JSON.stringify(parseJson(text, Number), null, indent)).toBe(text);
      }),
    );
  });
});

test("a text of megabytes is read, and one that is cut off is not", () => {
  const text = JSON.stringify({ text: `${"x".repeat(2 ** 21)}\\"` });
  expect(readJson(text)).toEqual(JSON.parse(text));
  expect(readJson(text.slice(0, -1))).toBeUndefined();
});

describe("JSON that somebody else wrote", () => {
  test.each([
    ['{"a":[1,-2.5e3,true,false,null,"\\u00e9\\"x"],"b":{}}'],
    [" [ ] "],
    ['\n{ "a" : { "b" : [ { } , [ ] ] } }\t'],
    ['"text"'],
    ["0"],
    ['{"__proto__":{"x":1},"constructor":2}'],
  ])("is what JSON.parse reads: %s", (text) => {
    expect(JSON.stringify(readJson(text))).toBe(JSON.stringify(JSON.parse(text)));
  });

  test("has its objects with a key twice marked, whichever way the key is written", () => {
    const text = '[{"a":1,"\\u0061":2},{"a":1},{"b":{"c":1,"c":1}},{"d":"\\"d\\":"}]';
    const read = readJson(text);
    const objects = Array.isArray(read) ? read.filter(isJsonObject) : [];
    expect(objects.map(isAmbiguous)).toEqual([true, false, false, false]);
    expect(objects[2]).toMatchObject({ b: { "svc:twice": true } });
  });

  test.each([
    ["NaN"],
    ["[1,]"],
    ['{"\\x":1}'],
    ['{"a":1'],
    ["{} x"],
    [""],
    ["[".repeat(100) + "]".repeat(100)],
  ])("is not read as %p", (text) => {
    expect(readJson(text)).toBeUndefined();
  });
});

type Person = {
  readonly fullName: string;
  readonly age: number | undefined;
  readonly nickName: string | undefined;
  readonly pets: readonly string[];
};
const ADA: Person = { fullName: "Ada", age: undefined, nickName: undefined, pets: ["Tom"] };

const personView = view<Person>()({
  fullName: text,
  nickName: omitted(text),
  age: nullable(number),
  petCount: told(number, ({ pets }) => pets.length),
  firstPet: told(omitted(text), ({ pets }) => pets[0]),
  pets: list(text),
});

test("a view has the declared members in their order, null or left out where there is nothing", () => {
  expect(JSON.stringify(personView.json(ADA))).toBe(
    '{"full_name":"Ada","age":null,"pet_count":1,"first_pet":"Tom","pets":["Tom"]}',
  );
  expect(JSON.stringify(personView.json({ ...ADA, nickName: "A.", age: 36, pets: [] }))).toBe(
    '{"full_name":"Ada","nick_name":"A.","age":36,"pet_count":0,"pets":[]}',
  );
});

test("the notes of a form are not those of a form around it", () => {
  const named = noted(object({ a: text }), { id: "A" });
  expect(named.notes).toEqual({ id: "A" });
  expect([nullable(named).notes, omitted(named).notes, list(named).notes]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("names change their case and back, values stay", () => {
  const settings = { token_budget: 1, aggregation_k_max: null, list: ["a_b"] };
  expect<object>(camelKeys(settings)).toEqual({
    tokenBudget: 1,
    aggregationKMax: null,
    list: ["a_b"],
  });
  expect(["tokenBudget", "sha256Of"].map(snakeCase)).toEqual(["token_budget", "sha256_of"]);
  expect<object>(given({ a: null, b: undefined, c: 0 })).toEqual({ c: 0 });
});
