import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { jsonEditor } from "../../src/assistants/json-editor.ts";
import { ConfigTextError } from "../../src/assistants/server-entry.ts";
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
        '    "m": {',
        '      "command": "x"',
        "    }",
        "    // end",
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
      name: "has lines of its own in an empty object",
      before: "{}",
      after: lines(
        "{",
        '  "mcpServers": {',
        '    "m": {',
        '      "command": "x"',
        "    }",
        "  }",
        "}",
      ),
    },
    {
      name: "goes on one line where everything else is",
      before: '{ "mcpServers": { "a": {} } }',
      after: '{ "mcpServers": { "a": {},"m": {"command":"x"} } }',
    },
  ])("$name", ({ before, after }) => {
    expect(editor.set(before, "m", { command: "x" })).toBe(after);
  });

  test("keeps line endings and the byte order mark", () => {
    const before = '\uFEFF{\r\n  "a": 1\r\n}\r\n';
    const after = editor.set(before, "m", ENTRY);
    expect(after.startsWith("\uFEFF{\r\n")).toBeTrue();
    expect(after.replaceAll("\r\n", "")).not.toContain("\n");
    expect(editor.remove(after, "m")).toBe(
      '\uFEFF{\r\n  "a": 1,\r\n  "mcpServers": {\r\n  }\r\n}\r\n',
    );
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
    expect(editor.remove(before, "m")).toBe(after);
  });

  test("goes alone: comments on both sides stay, and the member around it", () => {
    const before = '{"mcpServers": {"a": 1, // one\n/* two */ "m": {}, // three\n}}';
    expect(editor.remove(before, "m")).toBe(
      '{"mcpServers": {"a": 1, // one\n/* two */ // three\n}}',
    );
    expect(editor.remove('{"mcpServers": {"m": {}}}', "m")).toBe('{"mcpServers": {}}');
  });
});

describe("text that is no such file", () => {
  test.each([
    { text: "{", says: "line 1, column 2" },
    { text: '{\n  "a" 1\n}', says: "line 2, column 7" },
    { text: "[]", says: "no JSON object" },
    { text: '{"mcpServers": []}', says: '"mcpServers" that is no object' },
    { text: '{"a": 1} x', says: "line 1, column 10" },
    { text: '{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}', says: "more than the entry" },
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
      { numRuns: 100 },
    );
  });

  test("an entry that was added among others is taken out again to the last byte", () => {
    fc.assert(
      fc.property(jsonTexts("mcpServers"), names, (text, name) => {
        const entries = editor.read(text);
        fc.pre(!entries.has(name) && entries.size > 0);
        expect(editor.remove(editor.set(text, name, ENTRY), name)).toBe(text);
      }),
      { numRuns: 100 },
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
