/** What an assistant runs to reach a pack: the executable's absolute path, then its arguments. */
function serverCommand(self: readonly string[], pack: string): readonly string[] {
  return [...self, "mcp", "--db-path", pack];
}

/** Lines that connect assistants to a pack, by command or ready to be pasted. @param pack absolute path. */
export function assistantLines(
  self: readonly [string, ...string[]],
  pack: string,
): readonly string[] {
  const [command = "", ...args] = serverCommand(self, pack);
  const json = { mcpServers: { memory: { command, args } } };
  return [
    "Connect an assistant (svc connect --help lists them):",
    `  svc connect claude-code --db-path ${shellWord(pack)}`,
    "",
    "Or by hand, in Claude Code:",
    `  claude mcp add memory -- ${[command, ...args].map(shellWord).join(" ")}`,
    "",
    "Any other assistant (its MCP configuration):",
    ...JSON.stringify(json, null, 2)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}

/** A word as a POSIX shell reads it back. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
