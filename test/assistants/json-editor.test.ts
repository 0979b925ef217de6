import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { ConfigTextError } from "../../src/assistants/editor.ts";
import { jsonEditor } from "../../src/assistants/json-editor.ts";
import { jsonTexts } from "./config-texts.ts";

const editor = jsonEditor("mcpServers");
const ENTRY = { command: "/opt/svc", args: ["mcp", "--db-path", "/home/ada/my pack.pack"] };

/** Runs of lines, as they stand in a file. */
const lines = (...all: string[]): string => all.join("\n");

describe("a new entry", () => {
  test.each([
    {
      name: "makes blank text a file",
      before: "  \n",
      after: lines(
        "{",
        '  "mcpServers": {',
        '    "m": {',
        '      "command": "x"',
        "    }",
        "  }",
        "}",
        "",
      ),
    },
    {
      name: "follows the others in their own indentation",
      before: lines("{", '\t"mcpServers": {', '\t\t"a": {"url": "u"}', "\t}", "}"),
      after: lines(
        "{",
        '\t"mcpServers": {',
        '\t\t"a": {"url": "u"},',
        '\t\t"m": {',
        '\t\t\t"command": "x"',
        "\t\t}",
        "\t}",
        "}",
      ),
    },
    {
      name: "leaves comments where they are",
      before: lines(
        "// top",
        "{",
        '  "mcpServers": {',
        '    "a": {} // last',
        "    // end",
        "  }",
        "}",
      ),
      after: lines(
        "// top",
        "{",
        '  "mcpServers": {',
        '    "a": {}, // last',
        "    // end",
        '    "m": {',
        '      "command": "x"',
        "    }",
        "  }",
        "}",
      ),
    },
    {
      name: "keeps the habit of a comma behind the last member",
      before: lines("{", '  "theme": "dark", // mine', "}", ""),
      after: lines(
        "{",
        '  "theme": "dark", // mine',
        '  "mcpServers": {',
        '    "m": {',
        '      "command": "x"',
        "    }",
        "  },",
        "}",
        "",
      ),
    },
    {
      name: "goes without white space into text without white space",
      before: '{"a":{"b":1},"mcpServers":{}}',
      after: '{"a":{"b":1},"mcpServers":{"m":{"command":"x"}}}',
    },
    {
      name: "goes on one line where the others do",
      before: '{ "mcpServers": { "a": {} } }',
      after: '{ "mcpServers": { "a": {}, "m": { "command": "x" } } }',
    },
    {
      name: "goes into the last of two members of one name, as every parser reads it",
      before: '{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}',
      after: '{"mcpServers":{"a":{}},"mcpServers":{"b":{},"m":{"command":"x"}}}',
    },
  ])("$name", ({ before, after }) => {
    expect(editor.set(before, "m", { command: "x" })).toBe(after);
  });

  test("keeps line endings and the byte order mark", () => {
    const before = '\uFEFF{\r\n  "a": 1\r\n}\r\n';
    const after = editor.set(before, "m", ENTRY);
    expect(after.startsWith("\uFEFF{\r\n")).toBeTrue();
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    expect(editor.remove(after, "m", false)).toBe(before);
  });
});

describe("an entry that is there", () => {
  test("gets the members and keeps its others, and nothing else moves", () => {
    const before = lines(
      "{",
      '  "mcpServers": {',
      '    "m": {"command": "old", "args": [], "disabled": true}, // mine',
      '    "z": {"command":   "stays"}',
      "  }",
      "}",
    );
    const after = editor.set(before, "m", { command: "new", args: undefined });
    expect(editor.read(after).get("m")).toEqual({ command: "new", disabled: true });
    expect(after).toContain('}, // mine\n    "z": {"command":   "stays"}\n  }\n}');
  });

  test.each([
    {
      name: "first",
      before: '{"mcpServers": {"m": {}, "a": 1}}',
      after: '{"mcpServers": { "a": 1}}',
    },
    {
      name: "last",
      before: '{"mcpServers": {"a": 1, "m": {}}}',
      after: '{"mcpServers": {"a": 1}}',
    },
    {
      name: "in between",
      before: '{"mcpServers": {\n"a": 1,\n"m": {},\n"b": 2}}',
      after: '{"mcpServers": {\n"a": 1,\n"b": 2}}',
    },
    {
      name: "alone beside a comment",
      before: '{"mcpServers": {\n // c\n"m": {}\n}}',
      after: '{"mcpServers": {\n // c\n}}',
    },
  ])("goes with one comma when it is $name", ({ before, after }) => {
    expect(editor.remove(before, "m", true)).toBe(after);
  });

  test("takes the member around it along, where that is not to stay", () => {
    const before = '{"a": 1, "mcpServers": {"m": {}}}';
    expect(editor.remove(before, "m", false)).toBe('{"a": 1}');
    expect(editor.remove(before, "m", true)).toBe('{"a": 1, "mcpServers": {}}');
  });
});

describe("text that is no such file", () => {
  test.each([
    { text: "{", says: "line 1, column 2" },
    { text: '{\n  "a" 1\n}', says: "line 2, column 7" },
    { text: "[]", says: "no JSON object" },
    { text: '{"mcpServers": []}', says: '"mcpServers" that is no object' },
    { text: '{"a": 1} x', says: "line 1, column 10" },
  ])("$text is refused, and the place is named", ({ text, says }) => {
    const attempt = (): string => editor.set(text, "m", ENTRY);
    expect(attempt).toThrow(ConfigTextError);
    expect(attempt).toThrow(says);
  });
});

describe("of any text", () => {
  const names = fc.constantFrom("m", "memory", "a-b", "a", "1", "constructor");

  test("a new entry adds characters and takes none away, and its value is right", () => {
    fc.assert(
      fc.property(jsonTexts("mcpServers"), names, (text, name) => {
        fc.pre(!editor.read(text).has(name));
        const after = editor.set(text, name, ENTRY);
        expect(isContained(text.trim(), after)).toBeTrue();
        expect(editor.read(after).get(name)).toEqual(ENTRY);
        const [was, is] = [rootOf(text), rootOf(after)];
        expect({ ...is, mcpServers: null }).toEqual({ ...was, mcpServers: null });
        expect([...editor.read(after).keys()].sort()).toEqual(
          [...editor.read(text).keys(), name].sort(),
        );
      }),
      { numRuns: 300 },
    );
  });

  test("an entry that was added among others is taken out again to the last byte", () => {
    fc.assert(
      fc.property(jsonTexts("mcpServers"), names, (text, name) => {
        const entries = editor.read(text);
        fc.pre(!entries.has(name) && entries.size > 0);
        expect(editor.remove(editor.set(text, name, ENTRY), name, true)).toBe(text);
      }),
      { numRuns: 300 },
    );
  });
});

/** Whether the characters of one text stand in another in the same order. */
function isContained(part: string, whole: string): boolean {
  let found = 0;
  for (let at = 0; at < whole.length; at += 1) if (whole[at] === part[found]) found += 1;
  return found >= part.length;
}

function rootOf(text: string): Record<string, unknown> {
  return parse(text.replace(/^\uFEFF/, "")) ?? {};
}
