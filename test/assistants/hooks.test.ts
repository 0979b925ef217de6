import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ClientName, Surroundings } from "../../src/assistants/catalogue.ts";
import { HOOKED, hooksOf, planHooks, planUnhook } from "../../src/assistants/hooks.ts";

let root: string;
let home: string;
let count = 0;
let here: Surroundings;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "svc-hooks-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  count += 1;
  home = join(root, String(count));
  mkdirSync(home);
  here = { platform: "linux", environment: {}, home, folder: home };
});

const COMMAND = { program: ["/opt/my tools/svc"], pack: "/data/a.pack", userId: undefined };
const add = (client: ClientName, command = COMMAND) => planHooks(client, command, here);
const remove = (client: ClientName) => planUnhook(client, here);
const FILE = ".claude/settings.json";
function settings(text: string): string {
  const file = join(home, FILE);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe("hooks of an assistant", () => {
  test.each(HOOKED)("of %s come into a file of their own, and leave nothing behind", (client) => {
    add(client)?.apply();
    const found = hooksOf(client, here);
    expect(found.length).toBeGreaterThan(1);
    for (const { command } of found) {
      expect(command).toBe(`'/opt/my tools/svc' hook ${client} --db-path /data/a.pack`);
    }
    const again = add(client);
    expect(again?.after).toBe(again?.before);
    remove(client)?.apply();
    expect(readdirSync(home)).toEqual([]);
  });

  const EDITED = [
    ['{"model": "opus"}', "one line"],
    [
      '{\n\t// mine\n\t"hooks": {\n\t\t"Stop": [ {"hooks": [{"type": "command", "command": "beep"}]} ],\n\t},\n}\n',
      "comments, tabs and commas",
    ],
    ['{\r\n  "hooks": {},\r\n  "a": [1,\r\n 2]\r\n}', "other line ends"],
    ['\uFEFF{\n  "a": 1\n}\n', "a byte order mark"],
  ] as const;
  test.each(EDITED)("join %j and go to the last byte: %s", (text) => {
    const file = settings(text);
    add("claude-code")?.apply();
    expect(hooksOf("claude-code", here)).toHaveLength(3);
    for (const part of text.match(/\/\/ mine|beep|opus/g) ?? []) {
      expect(readFileSync(file, "utf8")).toContain(part);
    }
    remove("claude-code")?.apply();
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(readdirSync(dirname(file))).toEqual(["settings.json"]);
  });

  test("go alone where the file was edited since, also out of a group that others share", () => {
    const file = settings("{}");
    add("claude-code")?.apply();
    const text = readFileSync(file, "utf8").replace(
      /("hooks": \[\s*)(\{[^}]*"timeout": 10)/,
      '$1{"type": "command", "command": "beep"}, $2',
    );
    expect(text).toContain("beep");
    writeFileSync(file, text);
    remove("claude-code")?.apply();
    const left = JSON.parse(readFileSync(file, "utf8"));
    expect(left).toEqual({ hooks: { Stop: [{ hooks: [{ type: "command", command: "beep" }] }] } });
  });

  const OURS =
    '{"hooks": [{"type": "command", "command": "/x/svc hook claude-code --db-path /a.pack"}]}';
  const BEEP = '{"hooks": [{"type": "command", "command": "beep"}]}';
  test.each([
    [
      `{\n  "hooks": {\n    "Stop": [${BEEP}, ${OURS}]\n  }\n}\n`,
      `{\n  "hooks": {\n    "Stop": [${BEEP}]\n  }\n}\n`,
    ],
    [`{"hooks": {"Stop": [${OURS}, ${BEEP}]}}`, `{"hooks": {"Stop": [ ${BEEP}]}}`],
    [
      `{\n  "hooks": {\n    "Stop": [ // one\n      ${BEEP}, // two\n      ${OURS}, // three\n    ], // four\n  },\n}\n`,
      `{\n  "hooks": {\n    "Stop": [ // one\n      ${BEEP}, // two // three\n    ], // four\n  },\n}\n`,
    ],
  ])("go out of lists of any layout, and nothing else does: %j", (text, left) => {
    const file = settings(text);
    remove("claude-code")?.apply();
    expect(readFileSync(file, "utf8")).toBe(left);
  });

  test("leave the bytes of others as they are: comments, lists on one line", () => {
    const lines = [
      "{",
      "  // a",
      '  "hooks": {',
      `    /* b */ "Stop": [ // c`,
      `      ${BEEP}, // d`,
      "    ], // e",
      `    "PreCompact": [${BEEP}]`,
      "  },",
      '  "x": [1,2]',
      "}",
    ];
    const file = settings(lines.join("\r\n"));
    add("claude-code")?.apply();
    const text = readFileSync(file, "utf8");
    expect(hooksOf("claude-code", here)).toHaveLength(3);
    for (const line of lines) expect(text).toContain(line);
    expect(text.replaceAll("\r\n", "")).not.toContain("\n");
    writeFileSync(file, text.replace('"x"', '"y"'));
    remove("claude-code")?.apply();
    expect(readFileSync(file, "utf8")).toBe(lines.join("\r\n").replace('"x"', '"y"'));
  });

  test("of another copy of the program or another pack are replaced, not doubled, and taken out too", () => {
    const file = settings('{"a": 1}');
    add("claude-code")?.apply();
    add("claude-code", { ...COMMAND, program: ["/usr/bin/svc"], pack: "/b.pack" })?.apply();
    const commands = hooksOf("claude-code", here).map(({ command }) => command);
    expect(commands).toEqual(Array(3).fill("/usr/bin/svc hook claude-code --db-path /b.pack"));
    remove("claude-code")?.apply();
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ a: 1 });
  });

  test("keep a link a link, and leave alone what cannot be read", () => {
    const file = settings("{}");
    const target = join(home, "dotfiles.json");
    writeFileSync(target, "{}");
    rmSync(file);
    symlinkSync(target, file);
    add("claude-code")?.apply();
    expect(lstatSync(file).isSymbolicLink()).toBeTrue();
    expect(readFileSync(target, "utf8")).toContain("hook claude-code");
    writeFileSync(target, '{"hooks": [');
    expect(() => add("claude-code")).toThrow("nothing was changed");
    expect(() => remove("claude-code")).toThrow("nothing was changed");
    writeFileSync(target, '{"hooks": []}');
    expect(() => add("claude-code")).toThrow("nothing was changed");
  });
});
