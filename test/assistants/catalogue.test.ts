import { describe, expect, test } from "bun:test";
import {
  CLIENT_NAMES,
  type ClientName,
  type ConfigScope,
  findClient,
  placesOf,
  type Surroundings,
} from "../../src/assistants/catalogue.ts";

const LINUX: Surroundings = {
  platform: "linux",
  environment: {},
  home: "/home/ada",
  folder: "/home/ada/project",
};
const MAC: Surroundings = { ...LINUX, platform: "darwin", home: "/Users/ada" };
const WINDOWS: Surroundings = {
  platform: "win32",
  environment: {
    APPDATA: "C:\\Users\\ada\\AppData\\Roaming",
    LOCALAPPDATA: "C:\\Users\\ada\\AppData\\Local",
  },
  home: "C:\\Users\\ada",
  folder: "D:\\project",
};

function files(name: ClientName, scope: ConfigScope, here: Surroundings): readonly string[] {
  return placesOf(findClient(name)!, scope, here).map(({ file }) => file);
}

const PACKAGED = "C:\\Users\\ada\\AppData\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache";

/** Where VS Code keeps the files of extensions, below its own folder. */
const STORAGE = "Code/User/globalStorage";

/** What the makers of each client document. */
const USER: Readonly<Record<ClientName, { linux: string[]; mac: string[]; windows: string[] }>> = {
  "claude-code": {
    linux: ["/home/ada/.claude.json"],
    mac: ["/Users/ada/.claude.json"],
    windows: ["C:\\Users\\ada\\.claude.json"],
  },
  "claude-desktop": {
    linux: ["/home/ada/.config/Claude/claude_desktop_config.json"],
    mac: ["/Users/ada/Library/Application Support/Claude/claude_desktop_config.json"],
    windows: [
      `${PACKAGED}\\Roaming\\Claude\\claude_desktop_config.json`,
      "C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
    ],
  },
  cursor: {
    linux: ["/home/ada/.cursor/mcp.json"],
    mac: ["/Users/ada/.cursor/mcp.json"],
    windows: ["C:\\Users\\ada\\.cursor\\mcp.json"],
  },
  vscode: {
    linux: ["/home/ada/.config/Code/User/mcp.json"],
    mac: ["/Users/ada/Library/Application Support/Code/User/mcp.json"],
    windows: ["C:\\Users\\ada\\AppData\\Roaming\\Code\\User\\mcp.json"],
  },
  codex: {
    linux: ["/home/ada/.codex/config.toml"],
    mac: ["/Users/ada/.codex/config.toml"],
    windows: ["C:\\Users\\ada\\.codex\\config.toml"],
  },
  gemini: {
    linux: ["/home/ada/.gemini/settings.json"],
    mac: ["/Users/ada/.gemini/settings.json"],
    windows: ["C:\\Users\\ada\\.gemini\\settings.json"],
  },
  windsurf: {
    linux: [
      "/home/ada/.config/devin/mcp_config.json",
      "/home/ada/.codeium/windsurf/mcp_config.json",
    ],
    mac: [
      "/Users/ada/.config/devin/mcp_config.json",
      "/Users/ada/.codeium/windsurf/mcp_config.json",
    ],
    windows: [
      "C:\\Users\\ada\\AppData\\Roaming\\devin\\mcp_config.json",
      "C:\\Users\\ada\\.codeium\\windsurf\\mcp_config.json",
    ],
  },
  zed: {
    linux: ["/home/ada/.config/zed/settings.json"],
    mac: ["/Users/ada/.config/zed/settings.json"],
    windows: ["C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json"],
  },
  kiro: {
    linux: ["/home/ada/.kiro/settings/mcp.json"],
    mac: ["/Users/ada/.kiro/settings/mcp.json"],
    windows: ["C:\\Users\\ada\\.kiro\\settings\\mcp.json"],
  },
  "copilot-cli": {
    linux: ["/home/ada/.copilot/mcp-config.json"],
    mac: ["/Users/ada/.copilot/mcp-config.json"],
    windows: ["C:\\Users\\ada\\.copilot\\mcp-config.json"],
  },
  opencode: {
    linux: [
      "/home/ada/.config/opencode/opencode.json",
      "/home/ada/.config/opencode/opencode.jsonc",
    ],
    mac: [
      "/Users/ada/.config/opencode/opencode.json",
      "/Users/ada/.config/opencode/opencode.jsonc",
    ],
    windows: [
      "C:\\Users\\ada\\.config\\opencode\\opencode.json",
      "C:\\Users\\ada\\.config\\opencode\\opencode.jsonc",
    ],
  },
  cline: {
    linux: [
      "/home/ada/.cline/data/settings/cline_mcp_settings.json",
      `/home/ada/.config/${STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`,
    ],
    mac: [
      "/Users/ada/.cline/data/settings/cline_mcp_settings.json",
      `/Users/ada/Library/Application Support/${STORAGE}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json`,
    ],
    windows: [
      "C:\\Users\\ada\\.cline\\data\\settings\\cline_mcp_settings.json",
      `C:\\Users\\ada\\AppData\\Roaming\\${STORAGE.replaceAll("/", "\\")}\\saoudrizwan.claude-dev\\settings\\cline_mcp_settings.json`,
    ],
  },
  roo: {
    linux: [`/home/ada/.config/${STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json`],
    mac: [
      `/Users/ada/Library/Application Support/${STORAGE}/rooveterinaryinc.roo-cline/settings/mcp_settings.json`,
    ],
    windows: [
      `C:\\Users\\ada\\AppData\\Roaming\\${STORAGE.replaceAll("/", "\\")}\\rooveterinaryinc.roo-cline\\settings\\mcp_settings.json`,
    ],
  },
  goose: {
    linux: ["/home/ada/.config/goose/config.yaml"],
    mac: ["/Users/ada/.config/goose/config.yaml"],
    windows: ["C:\\Users\\ada\\AppData\\Roaming\\Block\\goose\\config\\config.yaml"],
  },
  continue: {
    linux: ["/home/ada/.continue/mcpServers/mcp.json"],
    mac: ["/Users/ada/.continue/mcpServers/mcp.json"],
    windows: ["C:\\Users\\ada\\.continue\\mcpServers\\mcp.json"],
  },
  amp: {
    linux: ["/home/ada/.config/amp/settings.json"],
    mac: ["/Users/ada/.config/amp/settings.json"],
    windows: ["C:\\Users\\ada\\.config\\amp\\settings.json"],
  },
  "lm-studio": {
    linux: ["/home/ada/.lmstudio/mcp.json", "/home/ada/.cache/lm-studio/mcp.json"],
    mac: ["/Users/ada/.lmstudio/mcp.json", "/Users/ada/.cache/lm-studio/mcp.json"],
    windows: ["C:\\Users\\ada\\.lmstudio\\mcp.json", "C:\\Users\\ada\\.cache\\lm-studio\\mcp.json"],
  },
};

describe.each([...CLIENT_NAMES])("%s", (name) => {
  test("is looked for where its makers say, on each platform", () => {
    expect(files(name, "user", LINUX)).toEqual(USER[name].linux);
    expect(files(name, "user", MAC)).toEqual(USER[name].mac);
    expect(files(name, "user", WINDOWS)).toEqual(USER[name].windows);
  });

  test("has files below folders that are not its own", () => {
    for (const { file, base } of placesOf(findClient(name)!, "user", LINUX)) {
      expect(["/home/ada", "/home/ada/.config"]).toContain(base);
      expect(file.startsWith(`${base}/`)).toBeTrue();
    }
  });
});

test.each([
  ["claude-code", ["/home/ada/project/.mcp.json"]],
  ["claude-desktop", []],
  ["cursor", ["/home/ada/project/.cursor/mcp.json"]],
  ["vscode", ["/home/ada/project/.vscode/mcp.json"]],
  ["codex", ["/home/ada/project/.codex/config.toml"]],
  ["gemini", ["/home/ada/project/.gemini/settings.json"]],
  ["windsurf", ["/home/ada/project/.devin/mcp_config.json"]],
  ["zed", ["/home/ada/project/.zed/settings.json"]],
  ["kiro", ["/home/ada/project/.kiro/settings/mcp.json"]],
  ["copilot-cli", []],
  ["opencode", ["/home/ada/project/opencode.json"]],
  ["cline", []],
  ["roo", ["/home/ada/project/.roo/mcp.json"]],
  ["goose", []],
  ["continue", ["/home/ada/project/.continue/mcpServers/mcp.json"]],
  ["amp", ["/home/ada/project/.amp/settings.json"]],
  ["lm-studio", []],
] as const)("%s reads %j of a project", (name, expected) => {
  expect(files(name, "project", LINUX)).toEqual([...expected]);
});

test.each([
  { name: "claude-code", set: { CLAUDE_CONFIG_DIR: "/etc/c" }, file: "/etc/c/.claude.json" },
  { name: "codex", set: { CODEX_HOME: "/etc/codex" }, file: "/etc/codex/config.toml" },
  { name: "codex", set: { CODEX_HOME: "own" }, file: "/home/ada/project/own/config.toml" },
  { name: "codex", set: { CODEX_HOME: "" }, file: "/home/ada/.codex/config.toml" },
  { name: "copilot-cli", set: { COPILOT_HOME: "/c" }, file: "/c/mcp-config.json" },
  { name: "gemini", set: { GEMINI_CLI_HOME: "/g" }, file: "/g/.gemini/settings.json" },
  { name: "cline", set: { CLINE_DIR: "/c" }, file: "/c/data/settings/cline_mcp_settings.json" },
  { name: "continue", set: { CONTINUE_GLOBAL_DIR: "/c" }, file: "/c/mcpServers/mcp.json" },
  { name: "opencode", set: { XDG_CONFIG_HOME: "/x" }, file: "/x/opencode/opencode.json" },
  { name: "vscode", set: { XDG_CONFIG_HOME: "/x" }, file: "/x/Code/User/mcp.json" },
  { name: "vscode", set: { XDG_CONFIG_HOME: "x" }, file: "/home/ada/.config/Code/User/mcp.json" },
  { name: "vscode", set: { VSCODE_PORTABLE: "/p" }, file: "/p/user-data/User/mcp.json" },
  { name: "zed", set: { XDG_CONFIG_HOME: "/x" }, file: "/x/zed/settings.json" },
  {
    name: "zed",
    set: { XDG_CONFIG_HOME: "/x", FLATPAK_XDG_CONFIG_HOME: "/f" },
    file: "/f/zed/settings.json",
  },
  { name: "windsurf", set: { XDG_CONFIG_HOME: "/x" }, file: "/x/devin/mcp_config.json" },
  {
    name: "claude-desktop",
    set: { XDG_CONFIG_HOME: "/x" },
    file: "/x/Claude/claude_desktop_config.json",
  },
] as const)("$name with $set reads $file", ({ name, set, file }) => {
  expect(files(name, "user", { ...LINUX, environment: set })[0]).toBe(file);
});

test("an unknown name finds no client", () => {
  expect(findClient("emacs")).toBeUndefined();
  expect(findClient("__proto__")).toBeUndefined();
});
