import { expect, test } from "bun:test";
import { similarClients } from "../../src/assistants/catalogue.ts";

test.each([
  ["claude", ["claude-code", "claude-desktop"]],
  ["Claude Code", ["claude-code"]],
  ["claude_desktop", ["claude-desktop"]],
  ["VSCode", ["vscode"]],
  ["vs-code", ["vscode"]],
  ["code", ["vscode"]],
  ["gemini-cli", ["gemini"]],
  ["devin", ["windsurf"]],
  ["copilot", ["vscode", "copilot-cli"]],
  ["curser", []],
  ["emacs", []],
  ["", []],
  ["--", []],
  ["__proto__", []],
] as const)("%s may mean %j", (name, expected) => {
  expect(similarClients(name)).toEqual([...expected]);
});
