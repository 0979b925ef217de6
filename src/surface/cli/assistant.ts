import { realpathSync } from "node:fs";
import { SELF } from "../../assistants/catalogue.ts";
import type { ServerCommand } from "../../assistants/server-entry.ts";
import { shellWord } from "../../lib/text.ts";

const [command, ...REST] = SELF;

/**
 * Lines that connect assistants to a pack, by command or ready to be pasted.
 * @param pack absolute path
 * @param server how an assistant starts this program. Default: so that it makes the pack if it is missing
 */
export function assistantLines(
  pack: string,
  server: Omit<ServerCommand, "command"> = { args: [...REST, "mcp", "--db-path", pack], env: {} },
): readonly string[] {
  const { args, env } = server;
  const variables = Object.entries(env);
  const entry = { command, args, ...(variables.length > 0 && { env }) };
  const json = { mcpServers: { memory: entry } };
  const set = variables.flatMap(([name, value]) => ["--env", shellWord(`${name}=${value}`)]);
  return [
    "Connect an assistant (svc connect --help lists them):",
    `  svc connect claude-code --db-path ${shellWord(pack)}`,
    "",
    "Or by hand, in Claude Code:",
    // The option for variables consumes everything up to the next option.
    `  ${["claude mcp add", ...set, "--scope user memory --", ...[command, ...args].map(shellWord)].join(" ")}`,
    "",
    "Any other assistant (its MCP configuration):",
    ...JSON.stringify(json, null, 2)
      .split("\n")
      .map((line) => `  ${line}`),
  ];
}

/** Whether the word `svc` starts this very program at a prompt. */
export function isOnPath(): boolean {
  const [program, ...rest] = SELF;
  const found = Bun.which("svc");
  return rest.length === 0 && found !== null && realpathSync(found) === realpathSync(program);
}
