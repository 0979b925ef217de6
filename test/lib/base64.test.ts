import { expect, test } from "bun:test";
import fc from "fast-check";
import { fromBase64Url, toBase64Url } from "../../src/lib/encoding.ts";

const isSurrogate = (point: number) => point >= 0xd800 && point <= 0xdfff;
const text = fc
  .array(fc.integer({ min: 0, max: 0x10ffff }).filter((point) => !isSurrogate(point)))
  .map((points) => String.fromCodePoint(...points));

test("any text comes back, written with letters, digits, hyphen and underscore only", () => {
  fc.assert(
    fc.property(text, (given) => {
      const encoded = toBase64Url(given);
      expect(encoded).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(fromBase64Url(encoded)).toBe(given);
    }),
  );
});

test("the form is that of RFC 4648 with the URL-safe alphabet and without padding", () => {
  expect(toBase64Url("f")).toBe("Zg");
  expect(toBase64Url("fo")).toBe("Zm8");
  expect(toBase64Url("foobar")).toBe("Zm9vYmFy");
  expect(toBase64Url("~~?")).toBe("fn4_");
  expect(toBase64Url("")).toBe("");
  expect(fromBase64Url(toBase64Url("\uFEFFx"))).toBe("\uFEFFx");
});

test.each([
  { name: "padding", encoded: "Zg==" },
  { name: "the other alphabet", encoded: "fn4/" },
  { name: "a blank", encoded: "Zm 9v" },
  { name: "a line break", encoded: "Zm9v\n" },
  { name: "one character alone", encoded: "Zm9vY" },
  { name: "left-over bits", encoded: "Zh" },
  { name: "bytes that are no UTF-8", encoded: "_w" },
])("$name is not read", ({ encoded }) => {
  expect(fromBase64Url(encoded)).toBeUndefined();
});
