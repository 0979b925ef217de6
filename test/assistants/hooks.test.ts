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
import { HOOKED, hasPlugin, hooksOf, planHooks, planUnhook } from "../../src/assistants/hooks.ts";
import { planNoRule, planRule, RULE } from "../../src/assistants/rule.ts";

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
    add(client, { ...COMMAND, pack: "/data/b.pack" })?.apply();
    remove(client)?.apply();
    const left = readdirSync(home, { recursive: true, encoding: "utf8" });
    expect(left.filter((name) => name !== ".config")).toEqual([]);
  });

  test.each([
    ["claude-code", ".claude/settings.json", '{"enabledPlugins": {"svc@team": true}}'],
    ["codex", ".codex/config.toml", '[plugins."svc@team"]\nx = 1\nenabled = true\n'],
  ] as const)(
    "of %s are known to come with the plugin, while it is enabled",
    (client, at, text) => {
      expect(hasPlugin(client, here)).toBeFalse();
      mkdirSync(dirname(join(home, at)));
      writeFileSync(join(home, at), text);
      expect(hasPlugin(client, here)).toBeTrue();
      writeFileSync(join(home, at), text.replace("true", "false"));
      expect(hasPlugin(client, here)).toBeFalse();
    },
  );

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

describe("the plugin of OpenCode", () => {
  const file = () => join(home, ".config/opencode/plugins/svc.js");

  test("stays where it is another's, and is copied first where it was edited", () => {
    mkdirSync(dirname(file()), { recursive: true });
    writeFileSync(file(), "export const svc = 1;\n");
    expect(() => add("opencode")).toThrow("is no plugin of svc");
    remove("opencode")?.apply();
    expect(readFileSync(file(), "utf8")).toBe("export const svc = 1;\n");
    rmSync(file());
    add("opencode")?.apply();
    writeFileSync(file(), `${readFileSync(file(), "utf8")}// mine\n`);
    remove("opencode")?.apply();
    expect(readdirSync(dirname(file()))).toEqual([expect.stringContaining("svc.js.svc-backup-")]);
  });

  test("tells what a person says and what the last answer is, and puts what it hears behind the message", async () => {
    const log = join(home, "log");
    const recorder = join(home, "recorder");
    writeFileSync(
      recorder,
      `#!/bin/sh
      heard=$(cat)
      printf '%s\\n' "$heard" >> ${log}
      case $heard in
        *SessionStart*) echo '{"context":"known at the start"}' ;;
        *chat.message*) echo '{"context":"known"}' ;;
      esac`,
      { mode: 0o755 },
    );
    add("opencode", { ...COMMAND, program: [recorder] })?.apply();
    const text = (words: string, synthetic = false) => ({ type: "text", text: words, synthetic });
    const said = [{ info: { role: "assistant" }, parts: [text("Tea, then.")] }];
    const session = {
      get: ({ path: { id } }: { path: { id: string } }) => ({
        data: id === "sub" ? { parentID: "s" } : {},
      }),
      messages: () => ({ data: said }),
    };
    const { svc } = await import(file());
    const plugin = await svc({ client: { session }, directory: "/work" });
    const parts = [text("What do I drink?"), text("<injected>", true)];
    for (const sessionID of ["s", "sub"])
      await plugin["chat.message"]({ sessionID }, { message: { id: `m-${sessionID}` }, parts });
    const messages = ["m-s", "m-sub"].map((id) => ({
      info: { id, sessionID: "s" },
      parts: [text("?")],
    }));
    await plugin["experimental.chat.messages.transform"]({}, { messages });
    expect(messages.map((message) => message.parts.map((part) => part.text))).toEqual([
      ["?", "known at the start\nknown"],
      ["?"],
    ]);
    await plugin.event({ event: { type: "session.idle", properties: { sessionID: "s" } } });
    await plugin["chat.message"]({ sessionID: "s" }, { message: { id: "m-2" }, parts });
    const heard = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const common = { svc_plugin: "opencode", sessionID: "s", directory: "/work" };
    expect(heard).toEqual([
      { ...common, hook_event_name: "SessionStart", source: "startup" },
      { ...common, hook_event_name: "chat.message", prompt: "What do I drink?" },
      { ...common, hook_event_name: "session.idle", answer: "Tea, then." },
      { ...common, hook_event_name: "chat.message", prompt: "What do I drink?" },
    ]);
  });
});

describe("the rule of one sentence", () => {
  const TEXTS = [undefined, "", "# Mine", "# Mine\n", "# Mine\r\n\r\nx\r\n", "\uFEFFx\n\n\n"];
  test.each(TEXTS)(
    "joins %j and goes to the last byte, whatever else was written since",
    (text) => {
      const place = { client: "zed", scope: "project" } as const;
      const file = join(home, "AGENTS.md");
      if (text !== undefined) writeFileSync(file, text);
      planRule(place, here)?.apply();
      expect(readFileSync(file, "utf8")).toContain(RULE);
      expect(planRule(place, here)?.after).toBe(readFileSync(file, "utf8"));
      writeFileSync(file, `${readFileSync(file, "utf8")}later\n`);
      planNoRule(place, here)?.apply();
      expect(readFileSync(file, "utf8")).toBe(`${text ?? ""}later\n`);
      writeFileSync(file, text ?? "");
      if (text === undefined) rmSync(file);
      planRule(place, here)?.apply();
      planNoRule(place, here)?.apply();
      expect(readdirSync(home)).toEqual(text === undefined ? [] : ["AGENTS.md"]);
      if (text !== undefined) expect(readFileSync(file, "utf8")).toBe(text);
    },
  );

  test("is offered where nothing is put into the context, in the file that the assistant reads", () => {
    const file = (client: ClientName, scope: "user" | "project") =>
      planRule({ client, scope }, here)?.file.slice(home.length + 1);
    expect(file("amp", "user")).toBe(".config/amp/AGENTS.md");
    expect(file("goose", "user")).toBe(".config/goose/.goosehints");
    expect(file("windsurf", "user")).toBeUndefined();
    expect(file("windsurf", "project")).toBe("AGENTS.md");
    expect(file("claude-code", "project")).toBeUndefined();
  });
});
