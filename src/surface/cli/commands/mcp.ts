import { Command, Option } from "commander";
import { invalid, SvcError } from "../../../domain/errors.ts";
import type { CliContext } from "../deps.ts";
import { configWithoutKey, encryptionKeyOption } from "../options.ts";
import { stopSignal } from "../signals.ts";
import { stderrLog } from "../stderr-log.ts";

const EXAMPLES = `
Examples:
  svc mcp --db-path ./memory.pack
  claude mcp add memory -- svc mcp --db-path ~/memory.pack

The assistant starts this command itself and talks to it over stdin and stdout; messages go to stderr.`;

type McpOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly transport: string;
  readonly tools: "core" | "full";
};

/** `svc mcp`: the tool server of an assistant. */
export function mcpCommand(context: CliContext): Command {
  return new Command("mcp")
    .description("serve memories to an assistant over MCP")
    .option("--db-path <path>", "the pack; default: as configured")
    .addOption(encryptionKeyOption())
    .option("--transport <name>", "how the assistant connects: stdio", "stdio")
    .addOption(
      new Option("--tools <set>", "which tools to offer; core costs the model fewer tokens")
        .choices(["core", "full"])
        .default("full"),
    )
    .addHelpText("after", EXAMPLES)
    .action((options: McpOptions) => mcp(context, options));
}

async function mcp(context: CliContext, options: McpOptions): Promise<void> {
  requireTransport(options.transport);
  const { deps } = context;
  const config = await configWithoutKey(context, options.dbPath);
  if (Object.keys(config.mcp.user_keys).length > 0) {
    throw new SvcError(
      "invalid_config",
      "mcp.user_keys: keys of several owners need a network transport; unset it, or bind stdio to one owner with SVC_MCP_USER_ID",
      { setting: "mcp.user_keys" },
    );
  }
  const log = stderrLog("warn");
  const openEngine = async () => {
    // Standard input belongs to the assistant: nobody is asked.
    const opened = await deps.keys.find(config, { given: options.encryptionKey });
    const warn = (message: string): void => log("warn", message);
    return await deps.openEngine(opened, { createIfMissing: true, warn });
  };
  const { encryptionKey: key, tools } = options;
  await deps.serveMcp({ config, key, tools, openEngine, log }, stopSignal());
}

function requireTransport(transport: string): void {
  if (transport === "stdio") return;
  const reasons: Readonly<Record<string, string>> = {
    sse: "sse is an outdated transport and is not offered; use stdio, or svc serve for HTTP",
    "streamable-http":
      "streamable-http is not offered by this version; use stdio, or svc serve for HTTP",
  };
  throw invalid(
    "--transport",
    reasons[transport] ?? `${JSON.stringify(transport)} is not a transport; use stdio`,
  );
}
