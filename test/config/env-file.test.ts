import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseEnvFile } from "../../src/config/settings-file.ts";

const CASES = [
  { name: "a bare value", text: "A=one two ", value: "one two" },
  { name: "an export", text: "export A=1", value: "1" },
  { name: "blanks around the sign", text: " A = 1", value: "1" },
  { name: "a comment behind the value", text: "A=1 # one", value: "1" },
  { name: "a sign of a comment within the value", text: "A=a#b", value: "a#b" },
  { name: "an empty value", text: "A=", value: "" },
  { name: "an empty value with a comment", text: "A= # none", value: "" },
  { name: "single quotes", text: "A='a # \\n b'", value: "a # \\n b" },
  { name: "double quotes", text: 'A="a\\n\\"b\\""', value: 'a\n"b"' },
  { name: "JSON in single quotes", text: `A='{"a":1}'`, value: '{"a":1}' },
  { name: "bare JSON", text: 'A={"a":"b c"}', value: '{"a":"b c"}' },
  { name: "a value over two lines", text: 'A="1\n2"\nB=3', value: "1\n2" },
  { name: "Windows line ends", text: "A=1\r\nB=2\r\n", value: "1" },
  { name: "a byte order mark", text: "\uFEFFA=1", value: "1" },
  { name: "the last of two", text: "A=1\nA=2", value: "2" },
];

test.each(CASES)("reads $name", ({ text, value }) => {
  expect(parseEnvFile(text).get("A")).toBe(value);
});

test("passes over comments and lines that are none", () => {
  expect([...parseEnvFile("# A=1\n\nnonsense\n=2\nB=3")]).toEqual([["B", "3"]]);
});

test("reads back any text in double quotes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (value) => {
      const quoted = value.replaceAll("\r\n", "\n").replaceAll("\\", "\\\\").replaceAll('"', '\\"');
      expect(parseEnvFile(`A="${quoted}"`).get("A")).toBe(value.replaceAll("\r\n", "\n"));
    }),
  );
});
