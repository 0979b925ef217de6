import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../lib/json.ts";
import type { ConfigForm, RemoteForm } from "./catalogue.ts";

/** How an assistant starts the memory server. */
export type ServerCommand = {
  /** Absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  /** Set in addition to the variables that the assistant passes on. Never a secret. */
  readonly env: Readonly<Record<string, string>>;
};

/** A memory server that an assistant reaches over HTTP. */
export type RemoteServer = {
  /** The address of its MCP endpoint. */
  readonly url: string;
  /** The variable in the environment of the assistant that has the key. */
  readonly keyEnv: string;
};

/** The variables that only entries of this program set. */
export const OWNER_VARIABLE = "SVC_MCP_USER_ID";
export const CONFIG_FOLDER_VARIABLE = "XDG_CONFIG_HOME";

const OWN_VARIABLES: readonly string[] = [OWNER_VARIABLE, CONFIG_FOLDER_VARIABLE];

/** The members of this server's entry, in this client's form. Variables that the user added to an earlier entry stay. */
export function toMembers(
  server: ServerCommand,
  { types, names }: ConfigForm,
  former?: unknown,
): Members {
  const [command = "command", args, variables] = names ?? ["command", "args", "env"];
  const added = Object.entries(fromEntry(former)?.env ?? {}).filter(
    ([name]) => !OWN_VARIABLES.includes(name),
  );
  const env = { ...Object.fromEntries(added), ...server.env };
  return {
    ...(types && { type: types[0] }),
    ...(args === undefined
      ? { [command]: [server.command, ...server.args] }
      : { [command]: server.command, [args]: server.args }),
    [variables]: Object.keys(env).length > 0 ? env : undefined,
  };
}

/** By this header an entry for a server over HTTP is known again: its address could be of any program. */
const WRITER = { "X-Written-By": "svc connect" } as const;

/** The members of an entry for a server over HTTP. Headers that the user added to an earlier entry stay. */
export function toRemoteMembers(
  { url, keyEnv }: RemoteServer,
  { types }: ConfigForm,
  { address, prefix, lists }: RemoteForm,
  former?: unknown,
): Members {
  const headers = { ...headersOf(former), ...WRITER };
  return {
    ...(types && { type: types[1] }),
    [address]: url,
    ...(lists && { [lists]: [keyEnv] }),
    ...(prefix === undefined
      ? { bearer_token_env_var: keyEnv, http_headers: headers }
      : { headers: { ...headers, Authorization: `Bearer ${prefix}${keyEnv}}` } }),
  };
}

/** The address of an entry for a server over HTTP that `svc connect` wrote; undefined for any other entry. */
export function remoteOf(entry: unknown): string | undefined {
  if (!isJsonObject(entry) || headersOf(entry)["X-Written-By"] !== "svc connect") return undefined;
  const { url, httpUrl, serverUrl, uri }: Members = entry;
  return [url, httpUrl, serverUrl, uri].find((address) => typeof address === "string");
}

function headersOf(entry: unknown): Members {
  if (!isJsonObject(entry)) return {};
  const { headers, http_headers: others }: Members = entry;
  return [headers, others].find(isJsonObject) ?? {};
}

/** The server of an entry; undefined for an entry that starts no program. */
export function fromEntry(entry: unknown): ServerCommand | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { cmd, command = cmd, args, envs, environment = envs, env = environment }: Members = entry;
  const words = [command, args].flat().filter((word) => word !== undefined);
  const [program, ...rest] = words.map(String);
  if (program === undefined || typeof words[0] !== "string") return undefined;
  return { command: program, args: rest, env: isJsonObject(env) ? textsOf(env) : {} };
}

function textsOf(env: object): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
}

/** Whether an entry starts the memory server of this program, from any copy and under any name, or reaches one over HTTP. */
export function isOurs(entry: unknown): boolean {
  if (remoteOf(entry) !== undefined) return true;
  const server = fromEntry(entry);
  if (server === undefined) return false;
  const at = server.args.indexOf("mcp");
  const isNamed = /(^|[/\\])svc(-[\w.-]+)?(\.exe)?$/i.test(server.command);
  return at >= 0 && (isNamed || /^--db-path(=|$)/.test(server.args[at + 1] ?? ""));
}

/** The option that keeps a server from creating a missing pack. */
export const NO_CREATE = "--no-create";

/** The pack of a server's command line, as written; undefined if its settings decide. */
export function packArgumentOf({ args }: ServerCommand): string | undefined {
  const rest = args.slice(args.indexOf("mcp") + 1);
  const at = rest.findIndex((arg) => arg === "--db-path" || arg.startsWith("--db-path="));
  const [option, value] = rest.slice(Math.max(0, at), at + 2);
  if (at < 0 || option === undefined) return undefined;
  return option === "--db-path" ? value : option.slice("--db-path=".length);
}

/** Whether two entries are equal. */
export function isSameEntry(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

/** Members of an entry by name; undefined: must be absent. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Edits the text of a configuration file. Everything but the entry stays byte for byte, apart from a comma that separates it from its
 * neighbour.
 */
export type Editor = {
  /**
   * The entries by name, with their values. Blank text has none.
   * @throws ConfigTextError if the client could not read the text
   */
  read(text: string): ReadonlyMap<string, unknown>;
  /**
   * The text with these members in the entry of that name, whose other members stay; a new entry comes last.
   * @throws ConfigTextError also if the text has a form that cannot be changed without touching more than the entry
   */
  set(text: string, name: string, members: Members): string;
  /** The text without the entry; the member that holds the entries stays. @throws ConfigTextError as `set` */
  remove(text: string, name: string): string;
  /** A complete text that contains only the entry. */
  create(name: string, members: Members): string;
};

/** A configuration text that cannot be read or changed; the message says where and why. */
export class ConfigTextError extends Error {
  override readonly name = "ConfigTextError";
}

/** How a configuration language is read and changed. Each throws ConfigTextError. */
export type Language<Parsed> = {
  readonly parse: (body: string) => Parsed;
  /** The members of the root by name. */
  readonly members: (parsed: Parsed) => Members;
  /** The error if the member for entries is something else. */
  readonly noSection: string;
  readonly put: (body: string, parsed: Parsed, name: string, entry: Members) => string;
  readonly take: (body: string, parsed: Parsed, name: string) => string;
  /** The error for a change that would touch more than the entry. */
  readonly unfit: string;
  readonly create: Editor["create"];
};

const BYTE_ORDER_MARK = "\uFEFF";

/** The editor of a language. @param section the member of the root that holds the entries */
export function editorOf<Parsed>(section: string, language: Language<Parsed>): Editor {
  const entriesOf = (parsed: Parsed): Members => {
    const { [section]: entries = {} } = language.members(parsed);
    if (isJsonObject(entries)) return { ...entries };
    throw new ConfigTextError(language.noSection);
  };
  /** Verifies that a change had exactly the intended effect: a member may be duplicated. */
  const proven = (changed: string, before: Parsed, entries: Members): string => {
    const expected = { ...language.members(before), [section]: entries };
    try {
      const found = { [section]: {}, ...language.members(language.parse(changed)) };
      if (isSameEntry(found, expected)) return changed;
    } catch (error) {
      if (!(error instanceof ConfigTextError)) throw error;
    }
    throw new ConfigTextError(language.unfit);
  };
  const edit = (text: string, change: (body: string, parsed: Parsed) => string): string => {
    const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
    const body = text.slice(mark.length);
    return mark + change(body, language.parse(body));
  };
  return {
    read: (text) => {
      const body = text.replace(BYTE_ORDER_MARK, "");
      return new Map(Object.entries(entriesOf(language.parse(body))));
    },
    set: (text, name, members) =>
      edit(text, (body, parsed) => {
        const entries = entriesOf(parsed);
        const entry = withMembers(entries[name], members);
        const changed = language.put(body, parsed, name, entry);
        return proven(changed, parsed, { ...entries, [name]: entry });
      }),
    remove: (text, name) =>
      edit(text, (body, parsed) => {
        const { [name]: entry, ...left } = entriesOf(parsed);
        return entry === undefined ? body : proven(language.take(body, parsed, name), parsed, left);
      }),
    create: language.create,
  };
}

/** The line ending of a text: that of its first line. */
export function lineEndingOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? "\n";
}

/** The end of the line at an offset, after its line feed. */
export function lineEndAt(body: string, offset: number): number {
  const at = body.indexOf("\n", offset);
  return at < 0 ? body.length : at + 1;
}

/** An entry after setting these members. */
export function withMembers(former: unknown, members: Members): Members {
  const merged = { ...(typeof former === "object" ? former : {}), ...members };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
