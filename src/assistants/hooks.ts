/** The hooks of assistants in their own settings files: which file, in which form, and how they come and go again. */
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { OWN_FOLDERS } from "../capture/own-folders.ts";
import { isJsonObject } from "../lib/json.ts";
import { shellWord } from "../lib/text.ts";
import {
  CLIENT_NAMES,
  type ClientName,
  type Folders,
  foldersOf,
  ownPlace,
  type Place,
  requireClient,
  type Surroundings,
} from "./catalogue.ts";
import { type ClientChange, changeOf, guarded, type Undoing, undone } from "./config-change.ts";
import { backupsOf, readConfig } from "./config-file.ts";
import { added, membersOf, removed } from "./json-editor.ts";
import { commandOfPlugin, openCodePlugin } from "./opencode-plugin.ts";
import { ConfigTextError } from "./server-entry.ts";

/** How an assistant writes its hooks. */
type HookForm = {
  readonly place: (folders: Folders) => Place;
  /** Entries by event. @param run the command line; undefined: a plugin, which is a file of its own */
  readonly entries?: (run: string) => Readonly<Record<string, object>>;
  /** Members of a file that is made. */
  readonly root?: Readonly<Record<string, unknown>>;
  /** Whether the hooks of Claude Code's user file run in it too. */
  readonly readsClaude?: boolean;
};

/** `timeout` in seconds, in a group as Claude Code has it. */
const group = (command: string, timeout: number, more: object = {}, own: object = {}): object => ({
  ...more,
  hooks: [{ ...own, type: "command", command, timeout }],
});

const FORMS: Readonly<Partial<Record<ClientName, HookForm>>> = {
  "claude-code": {
    place: (folders) => ownPlace(folders, OWN_FOLDERS["claude-code"], "settings.json"),
    entries: (run) => ({
      SessionStart: group(run, 5, { matcher: "startup|resume|clear|compact|fork" }),
      UserPromptSubmit: group(run, 5),
      Stop: group(run, 10),
    }),
  },
  codex: {
    place: (folders) => ownPlace(folders, OWN_FOLDERS.codex, "hooks.json"),
    entries: (run) => ({
      SessionStart: group(run, 5),
      UserPromptSubmit: group(run, 5),
      Stop: group(run, 5),
    }),
  },
  gemini: {
    place: (folders) => ownPlace(folders, OWN_FOLDERS.gemini, "settings.json"),
    // Its timeouts are milliseconds.
    entries: (run) => ({
      SessionStart: group(run, 5000, {}, { name: "svc" }),
      BeforeAgent: group(run, 5000, { matcher: "*" }, { name: "svc" }),
      AfterAgent: group(run, 5000, { matcher: "*" }, { name: "svc" }),
    }),
  },
  cursor: {
    place: ({ home, place }) => place(home, ".cursor", "hooks.json"),
    root: { version: 1 },
    readsClaude: true,
    entries: (command) => ({
      sessionStart: { command, timeout: 5 },
      beforeSubmitPrompt: { command, timeout: 5 },
      afterAgentResponse: { command, timeout: 5 },
    }),
  },
  vscode: {
    place: ({ home, place }) => place(home, ".copilot", "hooks", "svc.json"),
    readsClaude: true,
    entries: (command) => ({
      SessionStart: { type: "command", command, timeout: 5 },
      UserPromptSubmit: { type: "command", command, timeout: 5 },
      Stop: { type: "command", command, timeout: 5 },
    }),
  },
  windsurf: {
    place: ({ home, place }) => place(home, ".codeium", "windsurf", "hooks.json"),
    entries: (command) => ({
      pre_user_prompt: { command, show_output: false },
      post_cascade_response: { command, show_output: false },
    }),
  },
  opencode: { place: ({ xdg, place }) => place(xdg, "opencode", "plugins", "svc.js") },
};

/** The assistants whose hooks are known. */
export const HOOKED: readonly ClientName[] = CLIENT_NAMES.filter(
  (name) => FORMS[name] !== undefined,
);

/** What a hook runs: a program by its path, for one pack. */
export type HookCommand = {
  readonly program: readonly string[];
  readonly pack: string;
  readonly userId: string | undefined;
};

function wordsFor(client: ClientName, { program, pack, userId }: HookCommand): readonly string[] {
  const owner = userId === undefined ? [] : ["--user-id", userId];
  return [...program, "hook", client, "--db-path", pack, ...owner];
}

function lineOf(words: readonly string[], platform: string): string {
  const quoted = (word: string): string => (/[\s"]/.test(word) ? `"${word}"` : word);
  return words.map(platform === "win32" ? quoted : shellWord).join(" ");
}

/** A file with nothing but the hooks of a client. @param run the command line */
export function hooksText(client: ClientName, run: string): string {
  return withHooks(FORMS[client] ?? {}, undefined, run);
}

/** Whether a command line of a settings file is a hook of this program, from any copy. */
function isOurs(command: unknown): boolean {
  return (
    typeof command === "string" &&
    /(?:^|[/\\"'\s])(?:svc(?:-[\w.-]+)?(?:\.exe)?|main\.ts)["']?\s+hook\s/i.test(command)
  );
}

/**
 * What adding the hooks of a client changes. Undefined: its hooks are not known.
 * @throws SvcError invalid_argument if the file cannot be understood, or is another program's; nothing was changed
 */
export function planHooks(
  client: ClientName,
  command: HookCommand,
  here: Surroundings,
): ClientChange | undefined {
  const form = FORMS[client];
  if (form === undefined) return undefined;
  const place = form.place(foldersOf(here));
  const before = readConfig(place.file);
  const words = wordsFor(client, command);
  const after = guarded(place.file, () => {
    if (form.entries !== undefined) return withHooks(form, before, lineOf(words, here.platform));
    if (before === undefined || commandOfPlugin(before) !== undefined) return openCodePlugin(words);
    throw new ConfigTextError("is no plugin of svc");
  });
  return changeOf(requireClient(client), { place, before, after, isBackedUp: true });
}

/** Whether the plugin of this program is enabled in a client, which brings the same hooks. */
export function hasPlugin(client: ClientName, here: Surroundings): boolean {
  const form = FORMS[client];
  if (form === undefined) return false;
  const folder = dirname(form.place(foldersOf(here)).file);
  const has = (file: string, pattern: RegExp): boolean => {
    try {
      return pattern.test(readConfig(join(folder, file)) ?? "");
    } catch {
      return false;
    }
  };
  return client === "codex"
    ? has("config.toml", /^\[plugins\."svc@[^"\n]+"\]\s*\n(?:(?!\[).*\n)*?\s*enabled\s*=\s*true/m)
    : client === "claude-code" && has("settings.json", /"svc@[^"\n]+"\s*:\s*true/);
}

/** Whether Claude Code's hooks of this program already run in a client. */
export function runsHooksOfClaude(client: ClientName, here: Surroundings): boolean {
  return FORMS[client]?.readsClaude === true && hooksOf("claude-code", here).length > 0;
}

/** What removing the hooks changes: all of them, whatever program they name. Other hooks of a group stay. */
export function planUnhook(client: ClientName, here: Surroundings): ClientChange | undefined {
  const form = FORMS[client];
  if (form === undefined) return undefined;
  const place = form.place(foldersOf(here));
  const before = readConfig(place.file);
  const planned = guarded(place.file, () => {
    if (before === undefined || commandsIn(form, before).length === 0) return { after: before };
    return form.entries === undefined
      ? withoutPlugin(place.file, before)
      : undone(place.file, before, undoing(form, before));
  });
  return changeOf(requireClient(client), { place, before, ...planned });
}

/** The commands of the hooks of a client's file by event. Empty if it is missing or unreadable. */
export function hooksOf(
  client: ClientName,
  here: Surroundings,
): readonly { readonly file: string; readonly event: string; readonly command: string }[] {
  const form = FORMS[client];
  if (form === undefined) return [];
  const { file } = form.place(foldersOf(here));
  try {
    return commandsIn(form, readConfig(file) ?? "", here.platform).map((hook) => ({
      file,
      ...hook,
    }));
  } catch {
    return [];
  }
}

type Command = { readonly event: string; readonly command: string };

function commandsIn(
  { entries }: Pick<HookForm, "entries">,
  text: string,
  platform = "",
): readonly Command[] {
  if (entries === undefined) {
    const words = commandOfPlugin(text);
    const command = words && lineOf(words, platform);
    return command === undefined
      ? []
      : ["chat.message", "session.idle"].map((event) => ({ event, command }));
  }
  return Object.entries(hooksIn(text)).flatMap(([event, list]) =>
    commandsOf(list).map((command) => ({ event, command })),
  );
}

function commandsOf(entry: unknown): readonly string[] {
  if (Array.isArray(entry)) return entry.flatMap(commandsOf);
  if (typeof entry !== "object" || entry === null) return [];
  const own = "command" in entry && isOurs(entry.command) ? [String(entry.command)] : [];
  return [...own, ...("hooks" in entry ? commandsOf(entry.hooks) : [])];
}

/** Where a list has a hook of this program, itself or in a group; -1: nowhere. */
function placeOfOurs(list: unknown): number {
  return Array.isArray(list) ? list.findIndex((one) => commandsOf(one).length > 0) : -1;
}

function withHooks(
  form: Pick<HookForm, "entries" | "root">,
  before: string | undefined,
  run: string,
): string {
  const entries = form.entries?.(run) ?? {};
  if (before === undefined || before.trim() === "") {
    const hooks = Object.fromEntries(
      Object.entries(entries).map(([event, entry]) => [event, [entry]]),
    );
    return `${JSON.stringify({ ...form.root, hooks }, null, 2)}\n`;
  }
  let text = before;
  for (const [event, entry] of Object.entries(entries)) {
    const list = hooksIn(text)[event];
    const known = placeOfOurs(list);
    if (known >= 0 && isDeepStrictEqual(Array.isArray(list) && list[known], entry)) continue;
    text = known >= 0 ? withoutOursAt(text, event) : text;
    const has = Array.isArray(hooksIn(text)[event]);
    text = has
      ? edited(text, ["hooks", event, -1], entry)
      : edited(text, ["hooks", event], [entry]);
  }
  return text;
}

/** Without the hooks of this program, and without lists and objects that are empty then. */
function withoutOurs(before: string): string {
  let text = before;
  for (const event of Object.keys(hooksIn(before))) {
    text = withoutOursAt(text, event);
    const rest = hooksIn(text)[event];
    if (Array.isArray(rest) && rest.length === 0) text = edited(text, ["hooks", event], undefined);
  }
  const isEmpty = Object.keys(hooksIn(text)).length === 0 && text !== before;
  return isEmpty ? edited(text, ["hooks"], undefined) : text;
}

function withoutOursAt(before: string, event: string): string {
  const list = hooksIn(before)[event];
  const at = placeOfOurs(list);
  if (!Array.isArray(list) || at < 0) return before;
  // Other hooks of its group stay.
  const inner: unknown = list[at]?.hooks;
  const isShared = Array.isArray(inner) && inner.length > 1;
  const place = isShared ? [at, "hooks", placeOfOurs(inner)] : [at];
  return withoutOursAt(edited(before, ["hooks", event, ...place], undefined), event);
}

function undoing(form: HookForm, before: string): Undoing {
  const run = (text: string): string | undefined => commandsIn(form, text)[0]?.command;
  return {
    again: (copy, text) => withHooks(form, copy, run(text) ?? run(before) ?? ""),
    has: (text) => run(text) !== undefined,
    without: withoutOurs,
  };
}

/** A file that is ours as a whole goes with its copies; one that was edited is copied first. */
function withoutPlugin(file: string, before: string) {
  const spent = backupsOf(file).filter(({ text }) => commandOfPlugin(text) !== undefined);
  const isBackedUp = openCodePlugin(commandOfPlugin(before) ?? []) !== before;
  return { after: undefined, isBackedUp, spent: spent.map(({ path }) => path) };
}

function hooksIn(text: string): Readonly<Record<string, unknown>> {
  const { hooks = {} } = membersOf(text);
  if (isJsonObject(hooks)) return { ...hooks };
  throw new ConfigTextError('has "hooks" that are no object');
}

/** The text with one value set, appended or removed. All else stays as it is, comments too. */
function edited(text: string, path: (string | number)[], value: unknown): string {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(mark.length);
  const after = mark + (value === undefined ? removed(body, path) : added(body, path, value));
  membersOf(after);
  return after;
}
