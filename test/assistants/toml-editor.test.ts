import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ConfigTextError } from "../../src/assistants/server-entry.ts";
import { tomlEditor } from "../../src/assistants/toml-editor.ts";
import { tomlTexts } from "./config-texts.ts";

const editor = tomlEditor("mcp_servers");
const ENTRY = { command: "/opt/svc", args: ["mcp", "--db-path", "/home/ada/my pack.pack"] };
const TABLE = [
  "[mcp_servers.memory]",
  'command = "/opt/svc"',
  'args = ["mcp", "--db-path", "/home/ada/my pack.pack"]',
  "",
].join("\n");

/** Tables before and after, a string that looks like a header, quoted names, arrays of tables. */
const OTHERS = `# top
model = "x" # why
[mcp_servers.docs] # mine
command = "npx"
args = [
  "[mcp_servers.memory]", # no header
]

[mcp_servers."two words".env]
TOKEN = """
[mcp_servers.memory]
"""

[[rules]]
allow = [1]
[[rules]]
allow = [2]
`;

describe("a new entry", () => {
  test("is a table behind all others, which stay as they are", () => {
    expect(editor.set("", "memory", ENTRY)).toBe(TABLE);
    expect(editor.set(OTHERS, "memory", ENTRY)).toBe(`${OTHERS}\n${TABLE}`);
    expect(editor.set("a = 1", "memory", ENTRY)).toBe(`a = 1\n\n${TABLE}`);
  });

  test("keeps line endings and the byte order mark", () => {
    const before = "\uFEFFa = 1\r\n";
    const after = editor.set(before, "memory", ENTRY);
    expect(after).toBe(`${before}\r\n${TABLE.replaceAll("\n", "\r\n")}`);
    expect(editor.remove(after, "memory")).toBe(before);
  });

  test("writes every text so that it reads back the same", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string(), (value, key) => {
        // What no variable of an environment is called.
        fc.pre(value.isWellFormed() && key.isWellFormed() && key !== "__proto__");
        const entry = { command: value, args: [value], env: { [key]: value } };
        expect(editor.read(editor.set("", "m", entry)).get("m")).toEqual(entry);
        expect(editor.read(editor.set("", "constructor", entry)).get("constructor")).toEqual(entry);
      }),
    );
  });
});

describe("an entry that is there", () => {
  const OWN = `x = 1
[mcp_servers.memory] # mine
command = "old" # former
enabled = true
# about the arguments
args = [
  "a",
]
[mcp_servers.memory.env]
A = "1"

[mcp_servers.memory.tools.search]
approval = "never"

[y]
z = 1
`;

  test("gets the members and keeps its others, and nothing else moves", () => {
    const after = editor.set(OWN, "memory", { ...ENTRY, env: { B: "2" } });
    expect(editor.read(after).get("memory")).toEqual({
      ...ENTRY,
      env: { B: "2" },
      enabled: true,
      tools: { search: { approval: "never" } },
    });
    expect(after).toStartWith("x = 1\n\n[y]\nz = 1\n\n[mcp_servers.memory]\n");
  });

  test("goes with the tables below it", () => {
    const after = editor.remove(OWN, "memory");
    expect(editor.read(after).size).toBe(0);
    expect(after).toBe("x = 1\n\n[y]\nz = 1\n");
    expect(editor.remove(OTHERS, "memory")).toBe(OTHERS);
  });
});

describe("a form that cannot be changed alone", () => {
  test.each([
    { name: "an inline table of servers", text: 'mcp_servers = { a = { command = "x" } }\n' },
    { name: "an inline table of that name", text: '[mcp_servers]\nmemory = { command = "x" }\n' },
    { name: "keys with dots", text: 'mcp_servers.memory.command = "x"\n' },
  ])("$name is refused", ({ text }) => {
    expect(() => editor.set(text, "memory", ENTRY)).toThrow(ConfigTextError);
    expect(editor.read(text).size).toBe(1);
  });

  test.each([
    { text: "[a]\nb = ?\n", says: "line 2, column 5" },
    { text: "a = 1\na = 2\n", says: "line 2" },
    { text: 'mcp_servers = "none"\n', says: "mcp_servers that is no table" },
  ])("$text is refused, and the place is named", ({ text, says }) => {
    const attempt = (): string => editor.set(text, "memory", ENTRY);
    expect(attempt).toThrow(ConfigTextError);
    expect(attempt).toThrow(says);
  });
});

test("of any text, a new entry leaves every byte before it, and goes without a trace", () => {
  fc.assert(
    fc.property(tomlTexts(), (text) => {
      const after = editor.set(text, "memory", { ...ENTRY, env: { A: "b" } });
      expect(after.startsWith(text)).toBeTrue();
      expect(editor.read(after).get("memory")).toEqual({ ...ENTRY, env: { A: "b" } });
      const isWhole = text === "" || text.endsWith("\n");
      const left = editor.remove(after, "memory");
      expect(isWhole ? left : left.trimEnd()).toBe(isWhole ? text : text.trimEnd());
    }),
    { numRuns: 100 },
  );
});
