import { Command, Option } from "commander";
import { NO_CREATE } from "../../../assistants/server-entry.ts";
import type { Config } from "../../../config/schema.ts";
import type { SettingsFile } from "../../../config/settings-file.ts";
import { invalid } from "../../../domain/errors.ts";
import type { ToolSet } from "../../contract/core/operation.ts";
import type { CliContext } from "../context.ts";
import {
  mcpConfig,
  mcpSettingsFile,
  openWithKey,
  requireKeysFor,
  TRANSPORTS,
  type TransportName,
} from "../mcp-memory.ts";
import { DEFAULT_TOOLS, FLAGS, TOOL_SETS } from "../mcp-options.ts";
import {
  encryptionKeyOption,
  envFileOption,
  keyRequest,
  packToServe,
  wholeNumber,
} from "../options.ts";
import { stopSignal } from "../signals.ts";
import { stderrLog } from "../stderr-log.ts";
import { openToServe, READ_ONLY_OPTION, serveUntilStopped } from "./serve.ts";

const DEFAULT_PORT = 8000;

type McpOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly envFile?: string;
  readonly transport: string;
  readonly port?: number;
  readonly tools: ToolSet;
  readonly readOnly?: true;
  readonly create: boolean;
};

export function mcpCommand(context: CliContext): Command {
  return new Command("mcp")
    .description("serve memories to an assistant over MCP")
    .option(`${FLAGS.dbPath} <path>`, "the pack; default: as configured")
    .addOption(encryptionKeyOption())
    .addOption(envFileOption(".env next to a pack with an absolute path"))
    .option("--transport <name>", `how the assistant connects: ${TRANSPORTS.join(" or ")}`, "stdio")
    .option(
      "--port <number>",
      `port for streamable-http; 0 picks a free one (default: ${DEFAULT_PORT})`,
      wholeNumber(0, 65_535),
    )
    .addOption(
      new Option(`${FLAGS.tools} <set>`, "which tools to offer; core costs the model fewer tokens")
        .choices(TOOL_SETS)
        .default(DEFAULT_TOOLS),
    )
    .option(...READ_ONLY_OPTION)
    .option(
      NO_CREATE,
      "refuse a missing pack, as the entries of svc connect do, in place of making one",
    )
    .addHelpText(
      "after",
      `
Examples:
  svc mcp --db-path ./memory.pack
  claude mcp add --scope user memory -- svc mcp --db-path ~/memory.pack
  SVC_MCP_USER_KEYS='{"anna":"…"}' svc mcp --db-path ./memory.pack --transport streamable-http

The assistant starts this command itself and talks to it over stdin and stdout; messages go to stderr.
With streamable-http it connects to http://127.0.0.1:8000/mcp and shows the key of its owner.`,
    )
    .action((options: McpOptions) => mcp(context, options));
}

async function mcp(context: CliContext, options: McpOptions): Promise<void> {
  const transport = readTransport(options.transport);
  if (transport === "stdio" && options.port !== undefined) {
    throw invalid("--port", "belongs to --transport streamable-http; stdio has no port");
  }
  const dbPath = packToServe(options.dbPath, options.envFile, true);
  const file = mcpSettingsFile(dbPath, options.envFile);
  const config = mcpConfig(dbPath, file);
  requireKeysFor(transport, config);
  const serve = transport === "stdio" ? overStdio : overHttp;
  await serve(context, options, config, file);
}

async function overStdio(
  context: CliContext,
  options: McpOptions,
  config: Config,
  settingsFile: SettingsFile | undefined,
): Promise<void> {
  const log = stderrLog("warn", config.log_format);
  const { encryptionKey: key, tools, readOnly = false, create } = options;
  const openEngine = async () => await openWithKey(config, { key, readOnly, create }, log);
  const serve = { config, settingsFile, key, readOnly, tools, openEngine, log };
  await context.serving.mcp(serve, stopSignal());
}

async function overHttp(
  context: CliContext,
  options: McpOptions,
  config: Config,
  settingsFile: SettingsFile | undefined,
): Promise<void> {
  const { findKey } = await import("../../../app/pack-key.ts");
  const { encryptionKey: key, tools, readOnly = false, create, port = DEFAULT_PORT } = options;
  const { config: opened } = await findKey(config, keyRequest(key));
  const log = stderrLog("warn", config.log_format);
  const stop = stopSignal();
  const server = await context.serving.mcpHttp({
    config: opened,
    settingsFile,
    key,
    readOnly,
    tools,
    port,
    openEngine: () => openToServe(opened, { readOnly, create }, (message) => log("warn", message)),
    log,
  });
  await serveUntilStopped(context, server, config, stop);
}

function readTransport(name: string): TransportName {
  const transport = TRANSPORTS.find((known) => known === name);
  if (transport !== undefined) return transport;
  throw invalid(
    "--transport",
    name === "sse"
      ? "sse is an outdated transport and is not offered; use stdio or streamable-http"
      : `${JSON.stringify(name)} is not a transport; use ${TRANSPORTS.join(" or ")}`,
  );
}
