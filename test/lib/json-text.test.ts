import { describe, expect, test } from "bun:test";
import { isJsonObject } from "../../src/lib/json.ts";
import { isAmbiguous, readJson } from "../../src/lib/json-answer.ts";

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
