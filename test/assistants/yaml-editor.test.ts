import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ConfigTextError } from "../../src/assistants/server-entry.ts";
import { yamlEditor } from "../../src/assistants/yaml-editor.ts";
import { yamlTexts } from "./config-texts.ts";

const editor = yamlEditor("extensions");
const ENTRY = { type: "stdio", cmd: "/opt/svc", args: ["mcp", "--db-path", "/a b/my: pack"] };
const LINES = [
  "  memory:",
  "    type: stdio",
  "    cmd: /opt/svc",
  "    args:",
  "    - mcp",
  "    - --db-path",
  '    - "/a b/my: pack"',
  "",
].join("\n");

test.each([
  { name: "no file", before: "", after: `extensions:\n${LINES}` },
  { name: "others", before: "a: 1 # why", after: `a: 1 # why\nextensions:\n${LINES}` },
  { name: "nothing in it", before: "extensions:\nz: 1\n", after: `extensions:\n${LINES}z: 1\n` },
  { name: "an empty map", before: "{}\n", after: `extensions:\n${LINES}` },
  {
    name: "null",
    before: "extensions: null # null\nz: 1\n",
    after: `extensions: # null\n${LINES}z: 1\n`,
  },
  { name: "braces", before: "extensions: {}\nz: 1\n", after: `extensions:\n${LINES}z: 1\n` },
  {
    name: "another entry",
    before: "extensions:\n  docs:\n    cmd: x # mine\n# lonely\nz: 1\n",
    after: `extensions:\n  docs:\n    cmd: x # mine\n${LINES}# lonely\nz: 1\n`,
  },
])("a new entry comes last where there is $name", ({ before, after }) => {
  expect(editor.set(before, "memory", ENTRY)).toBe(after);
});

test("an entry gets the members and keeps its others, and goes alone", () => {
  const before =
    "extensions:\n  memory:\n    cmd: old\n    bundled: null\n  docs: {cmd: x} # mine\n";
  const after = editor.set(before, "memory", ENTRY);
  expect(editor.read(after).get("memory")).toEqual({ ...ENTRY, bundled: null });
  expect(editor.remove(after, "memory")).toBe("extensions:\n  docs: {cmd: x} # mine\n");
  expect(editor.remove("extensions:\n  memory: {}\nz: 1\n", "memory")).toBe(
    "extensions: {}\nz: 1\n",
  );
});

describe("refused, with the reason:", () => {
  test.each([
    { text: "extensions: {a: {cmd: x}}\n", says: "lines of its own" },
    { text: "a: 1\na: 2\n", says: "line 2, column 1" },
    { text: "a: [\n", says: "is not YAML" },
    { text: "a: 1\n---\nb: 1\n", says: "is not YAML" },
    { text: "- a\n", says: "holds no YAML map" },
    { text: "extensions: [a]\n", says: "extensions that are no map" },
  ])("$text", ({ text, says }) => {
    const attempt = (): string => editor.set(text, "memory", ENTRY);
    expect(attempt).toThrow(ConfigTextError);
    expect(attempt).toThrow(says);
  });
});

test("of any text, every line but the entry's stays, and the entry reads back the same", () => {
  fc.assert(
    fc.property(yamlTexts(), fc.string(), (text, value) => {
      fc.pre(value.isWellFormed());
      const entry = { ...ENTRY, envs: { A: value } };
      const after = editor.set(text, "memory", entry);
      expect(editor.read(after).get("memory")).toEqual(entry);
      const others = [...editor.read(text)];
      expect([...editor.read(editor.remove(after, "memory"))]).toEqual(others);
      const lines = (one: string): readonly string[] =>
        one.split(/\r?\n/).filter((line) => !/^\s*$|^\uFEFF?extensions:/.test(line));
      expect(lines(after)).toEqual(expect.arrayContaining([...lines(text)]));
    }),
    { numRuns: 100 },
  );
});
