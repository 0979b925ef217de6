import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, posix, resolve, win32 } from "node:path";
import { OWN_FOLDERS, type OwnFolder } from "../capture/own-folders.ts";
import { workingFolder } from "../config/path.ts";
import { invalid } from "../domain/errors.ts";
import { shellWord } from "../lib/text.ts";

/** The supported assistants, in the order in which they are listed. */
export const CLIENT_NAMES = [
  "claude-code",
  "claude-desktop",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "windsurf",
  "zed",
  "kiro",
  "copilot-cli",
  "opencode",
  "cline",
  "roo",
  "goose",
  "continue",
  "amp",
  "lm-studio",
] as const;
export type ClientName = (typeof CLIENT_NAMES)[number];

/** The scope of a configuration: the user everywhere, or everyone who works in a folder. */
export const CONFIG_SCOPES = ["user", "project"] as const;
export type ConfigScope = (typeof CONFIG_SCOPES)[number];

/** How a client stores its servers. */
export type ConfigForm = {
  readonly language: "json" | "toml" | "yaml";
  /** The member of the file's root that holds the servers by name. */
  readonly section: string;
  /** What an entry calls a program that it starts, and a server over HTTP; undefined: it names no transport. */
  readonly types?: readonly [string, string];
  /** The members for the program, its arguments (undefined: in one list with it) and variables; default `command`, `args`, `env`. */
  readonly names?: readonly [string, string | undefined, string];
  /** What else an entry needs. @param name that of the server */
  readonly more?: (name: string) => Readonly<Record<string, unknown>>;
};

/** How an entry of a client names a server over HTTP. */
export type RemoteForm = {
  readonly address: "url" | "httpUrl" | "serverUrl" | "uri";
  /** What stands before the name of a variable in a header, and `}` behind it; undefined: a member of the entry names that of the key. */
  readonly prefix: string | undefined;
  /** The member with the list of variables that it may use. */
  readonly lists?: string;
};

/** A file that a client reads. */
export type Place = {
  /** Absolute path. */
  readonly file: string;
  /** The closest folder above it that does not belong to the client. */
  readonly base: string;
};

export type Client = {
  readonly name: ClientName;
  /** Its display name. */
  readonly title: string;
  readonly form: ConfigForm;
  /** A text says why it cannot use a server over HTTP without a key in its file. */
  readonly remote: RemoteForm | string;
  /** Possible folders of the user's configuration: the first existing one, else the first. */
  readonly user: (folders: Folders) => readonly Place[];
  /** Its file below a project's folder, if it reads one. */
  readonly project: readonly string[] | undefined;
  /** Where nothing reliably reaches its context without being asked: the user's file of rules, or that it reads AGENTS.md of projects alone. */
  readonly rule?: "project" | ((folders: Folders) => Place);
  /** The name that `svc connect` gives the server where the client has another one called `memory`. */
  readonly serverName?: string;
};

/** Folders by the conventions of a platform. */
export type Folders = {
  readonly home: string;
  /** Of graphical programs. */
  readonly applications: string;
  /** Of command-line programs, and of graphical ones that follow their convention. */
  readonly settings: string;
  /** Of programs that follow the XDG specification on every platform. */
  readonly xdg: string;
  /** Of Windows programs, for this machine. */
  readonly local: string;
  readonly isLinux: boolean;
  readonly isWindows: boolean;
  /** A folder named by a variable; undefined if it is unset or empty. */
  readonly named: (variable: string) => string | undefined;
  readonly place: (base: string, ...path: readonly string[]) => Place;
};

const MCP_SERVERS: ConfigForm = { language: "json", section: "mcpServers" };
/** Claude Desktop's name among the packages of Windows, whose files are in their own folder. */
const CLAUDE_PACKAGE = "Claude_pzs8sxrjxfjjc";

const COPILOT: OwnFolder = { variable: "COPILOT_HOME", folder: ".copilot" };
const CONTINUE: OwnFolder = { variable: "CONTINUE_GLOBAL_DIR", folder: ".continue" };

const HEADERS_AS_THEY_ARE =
  "sends headers as its file has them, so that the key itself would have to be in it";

const CLIENTS: Readonly<Record<ClientName, Omit<Client, "name">>> = {
  "claude-code": {
    title: "Claude Code",
    form: { ...MCP_SERVERS, types: ["stdio", "http"] },
    remote: { address: "url", prefix: "${" },
    user: ({ home, named, place }) => [place(named("CLAUDE_CONFIG_DIR") ?? home, ".claude.json")],
    project: [".mcp.json"],
  },
  "claude-desktop": {
    title: "Claude Desktop",
    form: MCP_SERVERS,
    remote: "starts programs from its file and reaches no server by it",
    user: ({ applications, local, isWindows, place }) => {
      const name = "claude_desktop_config.json";
      const packaged = [CLAUDE_PACKAGE, "LocalCache", "Roaming", "Claude", name];
      return [
        ...(isWindows ? [place(local, "Packages", ...packaged)] : []),
        place(applications, "Claude", name),
      ];
    },
    project: undefined,
  },
  cursor: {
    title: "Cursor",
    form: MCP_SERVERS,
    remote: { address: "url", prefix: "${env:" },
    user: ({ home, place }) => [place(home, ".cursor", "mcp.json")],
    project: [".cursor", "mcp.json"],
    rule: "project",
  },
  vscode: {
    title: "VS Code",
    form: { language: "json", section: "servers", types: ["stdio", "http"] },
    remote: { address: "url", prefix: "${env:" },
    user: (folders) => [ofCode(folders, "mcp.json")],
    project: [".vscode", "mcp.json"],
  },
  codex: {
    title: "Codex",
    form: { language: "toml", section: "mcp_servers" },
    remote: { address: "url", prefix: undefined },
    user: (folders) => [ownPlace(folders, OWN_FOLDERS.codex, "config.toml")],
    project: [".codex", "config.toml"],
  },
  gemini: {
    title: "Gemini CLI",
    form: MCP_SERVERS,
    remote: { address: "httpUrl", prefix: "${" },
    user: (folders) => [ownPlace(folders, OWN_FOLDERS.gemini, "settings.json")],
    project: [".gemini", "settings.json"],
  },
  windsurf: {
    title: "Windsurf (Devin Desktop)",
    form: MCP_SERVERS,
    remote: { address: "serverUrl", prefix: "${env:" },
    // It was renamed; earlier versions read the second one.
    user: ({ home, settings, place }) => [
      place(settings, "devin", "mcp_config.json"),
      place(home, ".codeium", "windsurf", "mcp_config.json"),
    ],
    project: [".devin", "mcp_config.json"],
    rule: "project",
  },
  zed: {
    title: "Zed",
    form: { language: "json", section: "context_servers" },
    remote: HEADERS_AS_THEY_ARE,
    user: ({ settings, isLinux, isWindows, named, place }) => {
      const sandbox = isLinux ? named("FLATPAK_XDG_CONFIG_HOME") : undefined;
      return [place(sandbox ?? settings, isWindows ? "Zed" : "zed", "settings.json")];
    },
    project: [".zed", "settings.json"],
    rule: "project",
  },
  kiro: {
    title: "Kiro",
    form: MCP_SERVERS,
    remote: { address: "url", prefix: "${" },
    user: ({ home, place }) => [place(home, ".kiro", "settings", "mcp.json")],
    rule: ({ home, place }) => place(home, ".kiro", "steering", "AGENTS.md"),
    project: [".kiro", "settings", "mcp.json"],
  },
  "copilot-cli": {
    title: "GitHub Copilot CLI",
    form: { ...MCP_SERVERS, types: ["stdio", "http"] },
    remote: { address: "url", prefix: "${" },
    user: (folders) => [ownPlace(folders, COPILOT, "mcp-config.json")],
    rule: (folders) => ownPlace(folders, COPILOT, "copilot-instructions.md"),
    // It reads the file that Claude Code has for a project.
    project: undefined,
  },
  opencode: {
    title: "OpenCode",
    form: {
      language: "json",
      section: "mcp",
      types: ["local", "remote"],
      names: ["command", undefined, "environment"],
    },
    remote: { address: "url", prefix: "{env:" },
    user: ({ xdg, place }) => [
      place(xdg, "opencode", "opencode.json"),
      place(xdg, "opencode", "opencode.jsonc"),
    ],
    project: ["opencode.json"],
  },
  cline: {
    title: "Cline",
    form: { ...MCP_SERVERS, types: ["stdio", "streamableHttp"] },
    remote: { address: "url", prefix: "${env:" },
    // Earlier versions keep it with the extension.
    user: (folders) => [
      ownPlace(
        folders,
        { variable: "CLINE_DIR", folder: ".cline" },
        "data/settings/cline_mcp_settings.json",
      ),
      ofExtension(folders, "saoudrizwan.claude-dev", "cline_mcp_settings.json"),
    ],
    rule: ({ home, place }) => place(home, ".agents", "AGENTS.md"),
    project: undefined,
  },
  roo: {
    title: "Roo Code",
    form: { ...MCP_SERVERS, types: ["stdio", "streamable-http"] },
    remote: { address: "url", prefix: "${env:" },
    user: (folders) => [ofExtension(folders, "rooveterinaryinc.roo-cline", "mcp_settings.json")],
    rule: ({ home, place }) => place(home, ".roo", "rules", "svc.md"),
    project: [".roo", "mcp.json"],
  },
  goose: {
    title: "goose",
    form: {
      language: "yaml",
      section: "extensions",
      types: ["stdio", "streamable_http"],
      names: ["cmd", "args", "envs"],
      more: (name) => ({ enabled: true, name, description: "Long-term memory", timeout: 300 }),
    },
    remote: { address: "uri", prefix: "${", lists: "env_keys" },
    user: (folders) => [ofGoose(folders, "config.yaml")],
    rule: (folders) => ofGoose(folders, ".goosehints"),
    project: undefined,
    serverName: "svc",
  },
  continue: {
    title: "Continue",
    form: { ...MCP_SERVERS, types: ["stdio", "http"] },
    remote: "takes keys from its own store of secrets, not from variables",
    user: (folders) => [ownPlace(folders, CONTINUE, "mcpServers/mcp.json")],
    rule: (folders) => ownPlace(folders, CONTINUE, "rules/svc.md"),
    project: [".continue", "mcpServers", "mcp.json"],
  },
  amp: {
    title: "Amp",
    form: { language: "json", section: "amp.mcpServers" },
    remote: { address: "url", prefix: "${" },
    user: ({ xdg, place }) => [place(xdg, "amp", "settings.json")],
    rule: ({ xdg, place }) => place(xdg, "amp", "AGENTS.md"),
    project: [".amp", "settings.json"],
  },
  "lm-studio": {
    title: "LM Studio",
    form: MCP_SERVERS,
    remote: HEADERS_AS_THEY_ARE,
    user: ({ home, place }) => [
      place(home, ".lmstudio", "mcp.json"),
      place(home, ".cache", "lm-studio", "mcp.json"),
    ],
    project: undefined,
  },
};

/** A client by its name; undefined if unknown. */
export function findClient(name: string): Client | undefined {
  const known = CLIENT_NAMES.find((client) => client === name);
  return known === undefined ? undefined : { name: known, ...CLIENTS[known] };
}

/** The files that a client may read, the preferred one first. Empty: it has no file for that scope. */
export function placesOf(client: Client, scope: ConfigScope, here: Surroundings): readonly Place[] {
  const folders = foldersOf(here);
  if (scope === "user") return client.user(folders);
  return client.project === undefined ? [] : [folders.place(here.folder, ...client.project)];
}

export function foldersOf({ platform, environment, home, folder }: Surroundings): Folders {
  const path = platform === "win32" ? win32 : posix;
  const named = (variable: string): string | undefined => {
    const value = environment[variable];
    return value === undefined || value.trim() === "" ? undefined : path.resolve(folder, value);
  };
  /** The XDG specification tells programs to ignore relative paths. */
  const given = environment["XDG_CONFIG_HOME"];
  const dotConfig = path.join(home, ".config");
  const roaming = named("APPDATA") ?? path.join(home, "AppData", "Roaming");
  const isLinux = platform !== "win32" && platform !== "darwin";
  const linux = given !== undefined && path.isAbsolute(given) ? given : dotConfig;
  const mac = path.join(home, "Library", "Application Support");
  return {
    home,
    applications: byPlatform(platform, { win32: roaming, darwin: mac, others: linux }),
    settings: byPlatform(platform, { win32: roaming, darwin: dotConfig, others: linux }),
    xdg: linux,
    local: named("LOCALAPPDATA") ?? path.join(home, "AppData", "Local"),
    isLinux,
    isWindows: platform === "win32",
    named,
    place: (base, ...parts) => ({ base, file: path.join(base, ...parts) }),
  };
}

/** A file of the user of VS Code. */
function ofCode({ applications, named, place }: Folders, ...path: readonly string[]): Place {
  const portable = named("VSCODE_PORTABLE");
  return portable === undefined
    ? place(applications, "Code", "User", ...path)
    : place(portable, "user-data", "User", ...path);
}

function ofGoose({ settings, isWindows, place }: Folders, file: string): Place {
  return place(settings, ...(isWindows ? ["Block", "goose", "config"] : ["goose"]), file);
}

function ofExtension(folders: Folders, extension: string, file: string): Place {
  return ofCode(folders, "globalStorage", extension, "settings", file);
}

/** A file in the folder that a variable names, else in a folder of the home folder. */
export function ownPlace(
  { home, named, place }: Folders,
  { variable, folder, isAround }: OwnFolder,
  file: string,
): Place {
  const own = named(variable);
  return own === undefined || isAround ? place(own ?? home, folder, file) : place(own, file);
}

function byPlatform(
  platform: string,
  folders: { readonly win32: string; readonly darwin: string; readonly others: string },
): string {
  if (platform === "win32") return folders.win32;
  return platform === "darwin" ? folders.darwin : folders.others;
}

/** Other names that people use for a client, reduced to letters and digits. */
const OTHER_NAMES: Readonly<Partial<Record<ClientName, readonly string[]>>> = {
  vscode: ["visualstudiocode", "code", "copilot"],
  codex: ["openai", "chatgpt"],
  gemini: ["google"],
  windsurf: ["codeium", "cascade"],
  "copilot-cli": ["copilot", "githubcopilot"],
};

/** Minimum letters for a partial name. */
const PART_MIN = 3;

/** The clients that an unknown name may mean, in catalogue order. */
export function similarClients(name: string): readonly ClientName[] {
  const wanted = plain(name);
  const namesOf = (client: ClientName): readonly string[] => [
    plain(client),
    plain(findClient(client)?.title ?? ""),
    ...(OTHER_NAMES[client] ?? []),
  ];
  const same = CLIENT_NAMES.filter((client) => namesOf(client).includes(wanted));
  if (same.length > 0) return same;
  return CLIENT_NAMES.filter((client) =>
    namesOf(client).some((known) => isPart(wanted, known) || isPart(known, wanted)),
  );
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

function isPart(part: string, whole: string): boolean {
  return part.length >= PART_MIN && whole.includes(part);
}

/** The name that `svc connect` gives the server in a client's configuration. */
export function serverNameFor(client: string): string {
  return findClient(client)?.serverName ?? "memory";
}

/** A client by its name. @throws SvcError invalid_argument that names similar ones */
export function requireClient(name: string): Client {
  const client = findClient(name);
  if (client !== undefined) return client;
  throw invalid(
    "client",
    `${JSON.stringify(name)} is not a client that svc knows; ${advice(name)}`,
  );
}

function advice(name: string): string {
  const similar = similarClients(name);
  const print = `svc connect ${name.trim() === "" ? "other" : shellWord(name)} --print`;
  if (similar.length > 0) return `did you mean ${similar.join(" or ")}?`;
  return `choose one of ${CLIENT_NAMES.join(", ")}, or see what to put into any other with: ${print}`;
}

/** The command line that starts this program again, beginning with the executable's absolute path. */
export const SELF: readonly [string, ...string[]] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [process.execPath, resolve(import.meta.dir, "../main.ts")];

/**
 * The command line for entries that assistants keep: the program as it is found on the PATH, which stays when a new version is put behind a
 * link, else as it runs.
 */
export function lastingSelf({
  environment,
}: Pick<Surroundings, "environment">): readonly [string, ...string[]] {
  const [program, ...rest] = SELF;
  if (rest.length > 0) return SELF;
  const found = Bun.which("svc", { PATH: environment["PATH"] ?? "" });
  const isThis =
    found !== null && isAbsolute(found) && realpathSync(found) === realpathSync(program);
  return isThis ? [found] : SELF;
}

/** What determines where assistants' files are. */
export type Surroundings = {
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly platform: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. */
  readonly home: string;
  /** The working directory, which is the current project. Absolute. */
  readonly folder: string;
};

export function surroundings(): Surroundings {
  const { platform, env: environment } = process;
  return { platform, environment, home: homedir(), folder: workingFolder() };
}
