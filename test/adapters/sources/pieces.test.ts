import { expect, test } from "bun:test";
import { elementsOf, linesOf, membersIn, PIECE_MAX } from "../../../src/adapters/sources/pieces.ts";

/** The same megabyte again and again: only what is kept of it would take memory. */
const PART = "x".repeat(1024 * 1024);

async function* texts(...parts: readonly (string | { readonly times: number })[]) {
  for (const part of parts) {
    if (typeof part === "string") yield part;
    else for (let count = 0; count < part.times; count += 1) yield PART;
  }
}

const ENDLESS = { times: PIECE_MAX / PART.length + 1 };

test("a line that is too long is passed over without being held, and the next one is read", async () => {
  const lines = await Array.fromAsync(linesOf(texts('{"a":1}\n', ENDLESS, '\r\n{"b":2}')));
  expect(lines).toEqual([
    { number: 1, text: '{"a":1}' },
    { number: 2, tooLong: true },
    { number: 3, text: '{"b":2}' },
  ]);
});

test("so is an element of a list that is too long", async () => {
  const list = await Array.fromAsync(elementsOf(texts('[{"a":"', ENDLESS, '"}, {"b":2}]')));
  expect(list.map((one) => ("text" in one ? one.text.trim() : "too long"))).toEqual([
    "too long",
    '{"b":2}',
  ]);
});

test("elements are found wherever the text is cut", async () => {
  const items = [{ a: 'q"\\' }, ["[,]", 1], "}{", { b: { c: [] } }];
  for (const [json, member] of [
    [JSON.stringify(items), undefined],
    [JSON.stringify({ 'x\\"y': [1], list: items, z: 1 }), "list"],
  ] as const) {
    for (let size = 1; size < json.length; size += 1) {
      const cut = texts(...(json.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? []));
      const found = await Array.fromAsync(elementsOf(cut, member));
      expect(found.map((one) => "text" in one && JSON.parse(one.text))).toEqual(items);
    }
  }
  await expect(Array.fromAsync(elementsOf(texts('[{"a":1}, {"b"')))).rejects.toThrow("middle");
});

test("the members in the beginning of JSON are those of the first objects, cut anywhere", () => {
  const json = '[{"title":"a{b","mapping":{"x":{"deep":{"deeper":1}}}},{"other":';
  expect([...membersIn(json)]).toEqual([
    "title",
    "mapping",
    "mapping.x",
    "mapping.x.deep",
    "other",
  ]);
});
