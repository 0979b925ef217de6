import { Command, Option } from "commander";
import { workingFolder } from "../../../config/path.ts";
import { envFileIn, namedFile } from "../../../config/settings-file.ts";
import type { LogLevel } from "../../contract/core/log.ts";
import type { CliContext } from "../context.ts";
import { encryptionKeyOption, envFileOption, keyFor, wholeNumber } from "../options.ts";
import { openToServe, READ_ONLY_OPTION, serveUntilStopped } from "../serving.ts";
import { stopSignal } from "../signals.ts";
import { LOG_LEVELS, stderrLog } from "../stderr-log.ts";

const EXAMPLES = `
Examples:
  svc serve --db-path ./memory.pack
  svc serve --db-path ./memory.pack --port 9000
  svc serve --db-path ./memory.pack --mcp
  SVC_API_API_KEY=… svc serve --db-path ./memory.pack --host 0.0.0.0

Ctrl-C (or SIGTERM) finishes the requests under way and closes the pack.
Without a key only this machine may connect; an address of the network is refused.`;

type ServeOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly envFile?: string;
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  readonly allowUnauthenticatedExternalBind?: true;
  readonly mcp?: true;
  readonly readOnly?: true;
};

/** `svc serve`: the HTTP server. */
export function serveCommand(context: CliContext): Command {
  return new Command("serve")
    .description("serve memories over HTTP")
    .option("--db-path <path>", "the pack; default: as configured")
    .addOption(encryptionKeyOption())
    .addOption(envFileOption(".env in the working directory"))
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--port <number>",
      "port to listen on; 0 picks a free one",
      wholeNumber(0, 65_535),
      8000,
    )
    .addOption(
      new Option("--log-level <level>", "lowest level of messages to show")
        .choices(LOG_LEVELS)
        .default("info"),
    )
    .option(
      "--allow-unauthenticated-external-bind",
      "listen on the network without keys: everybody there may read and change all memories",
    )
    .option("--mcp", "also serve assistants, over MCP at /mcp")
    .option(...READ_ONLY_OPTION)
    .addHelpText("after", EXAMPLES)
    .action((options: ServeOptions) => serve(context, options));
}

async function serve(context: CliContext, options: ServeOptions): Promise<void> {
  const { dbPath, encryptionKey, envFile, readOnly = false } = options;
  const { config, source } = await keyFor(context, dbPath, encryptionKey, envFile);
  const log = stderrLog(options.logLevel, config.log_format);
  const warn = (message: string): void => log("warn", message);
  const stop = stopSignal();
  const server = await context.serving.http({
    config,
    settingsFile: envFile === undefined ? envFileIn(workingFolder()) : namedFile(envFile),
    host: options.host,
    port: options.port,
    allowUnauthenticatedExternalBind: options.allowUnauthenticatedExternalBind === true,
    mcp: options.mcp === true,
    keyIsKept: source.kind === "stored",
    key: encryptionKey,
    readOnly,
    openEngine: () => openToServe(config, { readOnly }, warn),
    log,
  });
  const hints = [`Open ${server.url}/docs in a browser to read and try every route`];
  if (server.inspector !== undefined) {
    hints.push(`Open ${server.inspector} to look through the memory and correct it`);
  }
  await serveUntilStopped(context, server, config, stop, hints);
}
