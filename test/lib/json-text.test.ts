import { describe, expect, test } from "bun:test";
import { readJson } from "../../src/lib/json-answer.ts";

test("a text of megabytes is read, and one that is cut off is not", () => {
  const text = JSON.stringify({ text: `${"x".repeat(2 ** 21)}\\"` });
  expect(readJson(text)?.json).toEqual(JSON.parse(text));
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
    const read = readJson(text);
    expect(JSON.stringify(read?.json)).toBe(JSON.stringify(JSON.parse(text)));
    expect(read?.ambiguous.size).toBe(0);
  });

  test("has its objects with a key twice named, whichever way the key is written", () => {
    const read = readJson('[{"a":1,"\\u0061":2},{"a":1},{"b":{"c":1,"c":1}}]');
    expect(Array.from(read?.ambiguous ?? [])).toEqual([{ a: 2 }, { c: 1 }]);
  });

  test.each([["NaN"], ["[1,]"], ['{"a":1'], ["{} x"], [""], ["[".repeat(100) + "]".repeat(100)]])(
    "is not read as %p",
    (text) => {
      expect(readJson(text)).toBeUndefined();
    },
  );
});
