import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { relative } from "node:path";
import { Command, Option } from "commander";
import { databaseOf, mainFileOf, placeWord } from "../../../app/pack-path.ts";
import { VERSION } from "../../../app/version.ts";
import { surroundings } from "../../../assistants/catalogue.ts";
import { workingFolder } from "../../../config/path.ts";
import type { Config } from "../../../config/schema.ts";
import { envFileIn, namedFile } from "../../../config/settings-file.ts";
import { SvcError } from "../../../domain/errors.ts";
import type { MemoryEngine } from "../../../engine/memory-engine.ts";
import type { LogLevel } from "../../contract/core/log.ts";
import type { CliContext, RunningServer, Users } from "../context.ts";
import {
  configOfPack,
  encryptionKeyOption,
  envFileOption,
  keyFor,
  keyRequest,
  onePack,
  PACK_ARGUMENT,
  packOption,
  packToServe,
  wholeNumber,
} from "../options.ts";
import { aborted, stopSignal } from "../signals.ts";
import { LOG_LEVELS, stderrLog } from "../stderr-log.ts";

type ServeOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly envFile?: string;
  readonly host: string;
  readonly port: number;
  readonly logLevel: LogLevel;
  readonly allowUnauthenticatedExternalBind?: true;
  readonly mcp?: true;
  readonly whileUsed?: string;
  readonly readOnly?: true;
};

export function serveCommand(context: CliContext): Command {
  return new Command("serve")
    .description("serve memories over HTTP")
    .option(
      "--db-path <path>",
      "the pack; default: the configured one, else ./memory.pack, else that of svc init",
    )
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
      "listen on the network without keys: everyone there may read and change all memories",
    )
    .option("--mcp", "also serve assistants, over MCP at /mcp")
    .option(
      "--while-used <socket>",
      "tell programs that connect to this socket the address and a key, and end with the last of them",
    )
    .option(...READ_ONLY_OPTION)
    .addHelpText(
      "after",
      `
Examples:
  svc serve --db-path ./memory.pack
  svc serve --db-path ./memory.pack --port 9000
  svc serve --db-path ./memory.pack --mcp
  SVC_API_API_KEY=… svc serve --db-path ./memory.pack --host 0.0.0.0

Ctrl-C (or SIGTERM) finishes the requests under way and closes the pack.
Without a key only this machine may connect; an address of the network is refused.`,
    )
    .action(async (options: ServeOptions) => {
      if (options.whileUsed === undefined) await serve(context, options);
      else await serveUsers(context, options, options.whileUsed);
    });
}

/** Serves programs that start and share the server; a failure is a line of JSON, for the one that started it. */
async function serveUsers(
  context: CliContext,
  options: ServeOptions,
  address: string,
): Promise<void> {
  let users: Users | undefined;
  try {
    users = await context.serving.users(address);
    await serve(context, options, users);
  } catch (error) {
    if (error instanceof SvcError) {
      context.output.note(JSON.stringify({ code: error.code, detail: error.message }));
    }
    throw error;
  } finally {
    users?.leave();
  }
}

async function serve(
  context: CliContext,
  options: ServeOptions,
  users?: Users | undefined,
): Promise<void> {
  const { dbPath, encryptionKey, envFile, readOnly = false } = options;
  const { config, source } = await keyFor(
    context,
    packToServe(dbPath, envFile),
    encryptionKey,
    envFile,
  );
  const log = stderrLog(options.logLevel, config.log_format);
  const warn = (message: string): void => log("warn", message);
  const asked = stopSignal();
  const stop = users === undefined ? asked : AbortSignal.any([asked, users.gone]);
  const server = await context.serving.http({
    config,
    settingsFile: envFile === undefined ? envFileIn(workingFolder()) : namedFile(envFile),
    host: options.host,
    port: options.port,
    allowUnauthenticatedExternalBind: options.allowUnauthenticatedExternalBind === true,
    mcp: options.mcp === true,
    onlyKey: users?.key,
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
  users?.ready(server.url);
  await serveUntilStopped(context, server, config, stop, hints);
}

/** The option of commands that serve a pack. */
export const READ_ONLY_OPTION = [
  "--read-only",
  "write nothing (automatic if the pack cannot be written)",
] as const;

export type ServeAs = {
  /** Whether nothing may be written. */
  readonly readOnly: boolean;
  /** Whether a missing pack is made, if writable. Default true. */
  readonly create?: boolean | undefined;
};

/**
 * Opens the memory of a server.
 * @param create false if the pack existed before
 * @throws SvcError not_found if it no longer exists; as `openOrMake` and `openFollowing`
 */
export async function openToServe(
  config: Config,
  { readOnly, create = true }: ServeAs,
  warn: (message: string) => void,
): Promise<MemoryEngine> {
  if (create && !readOnly) {
    const { openOrMake } = await import("../../../packs/create-pack.ts");
    return await openOrMake(config, warn);
  }
  if (!create) requireWhereItWas(config);
  const { openFollowing } = await import("../../../app/open-engine.ts");
  return await openFollowing(config, { createIfMissing: false, readOnly, warn });
}

/** A connected pack that no longer exists: writers must not get a second memory. */
function requireWhereItWas(config: Config): void {
  if (databaseOf(config) !== undefined) return;
  const path = mainFileOf(config);
  if (existsSync(path)) return;
  const message = `${path}: this assistant was connected to the pack that was here, and it was moved or removed. Move it back, or connect where it is now: svc connect <client> --db-path <pack>`;
  throw new SvcError("not_found", message, { kind: "pack", id: path });
}

/** How a server reports to whoever started it: to a person, or as a structured log. */
function teller({ output }: CliContext, config: Config): (text: string) => void {
  if (config.log_format === "text") return (text) => output.note(text);
  const log = stderrLog("info", config.log_format);
  return (text) => log("info", text);
}

/** Reports where a server listens, waits for the request to stop it, and shuts it down cleanly. */
export async function serveUntilStopped(
  context: CliContext,
  server: RunningServer,
  config: Config,
  stop: AbortSignal,
  /** Additional messages once it listens. */
  hints: readonly string[] = [],
): Promise<void> {
  const tell = teller(context, config);
  tell(`svc ${VERSION} listening on ${server.url}  ${placeWord(config)} ${packName(config)}`);
  for (const hint of hints) tell(hint);
  await aborted(stop);
  tell("svc is stopping: finishing the requests under way");
  await server.stop();
  tell("svc stopped");
}

/** The pack as a person would type it: relative if it is below the working directory; a database without its password. */
export function packName(config: Config): string {
  const database = databaseOf(config);
  if (database !== undefined) return database;
  const path = config.pack_path ?? config.db_path;
  const near = relative(workingFolder(), path);
  return near.startsWith("..") ? path : `./${near}`;
}

type OpenOptions = {
  readonly dbPath?: string;
  readonly encryptionKey?: string;
  readonly readOnly?: true;
  readonly browser: boolean;
};

export function openCommand(context: CliContext): Command {
  return new Command("open")
    .description("look through a pack in a browser: find, understand, correct")
    .argument("[pack]", PACK_ARGUMENT)
    .addOption(packOption())
    .addOption(encryptionKeyOption())
    .option(...READ_ONLY_OPTION)
    .option("--no-browser", "print the link instead of opening a browser")
    .addHelpText(
      "after",
      `
Examples:
  svc open                             the configured pack, else ./memory.pack
  svc open ./memory.pack
  svc open ./memory.pack --read-only
  svc open --no-browser                print the link instead

Shows the memories in a browser: find, ask, correct, archive. Only this machine can reach the page, and only with the link, which
works once and for two minutes. Ctrl-C ends it. Assistants may use the pack meanwhile.`,
    )
    .action((pack: string | undefined, options: OpenOptions) =>
      open(context, onePack(pack, options.dbPath), options),
    );
}

async function open(
  context: CliContext,
  pack: string | undefined,
  { encryptionKey, readOnly, browser }: OpenOptions,
): Promise<void> {
  const { output, serving } = context;
  const { findKey } = await import("../../../app/pack-key.ts");
  const { openFollowing } = await import("../../../app/open-engine.ts");
  const request = keyRequest(encryptionKey);
  const { config, source } = await findKey(configOfPack(context, pack), request);
  const log = stderrLog("warn");
  const warn = (message: string): void => log("warn", message);
  const stop = stopSignal();
  const server = await serving.inspect({
    config,
    settingsFile: envFileIn(workingFolder()),
    key: encryptionKey,
    keyIsKept: source.kind === "stored",
    readOnly: readOnly === true,
    openEngine: () => openFollowing(config, { createIfMissing: false, readOnly, warn }),
    log,
    onSessionEnded: () =>
      output.note(
        "The link was used a second time, so the page was locked: someone else may have read it. Start svc open again.",
      ),
  });
  output.note(`svc ${VERSION} shows ${packName(config)} at ${server.url}`);
  const link = server.link();
  const isShown = browser && (await openInBrowser(link));
  output.note(
    isShown
      ? "Your browser opens it. If not, this link does, once and for two minutes:"
      : "Open this link in a browser; it works once and for two minutes:",
  );
  output.note(`  ${link}`);
  output.note("Ctrl-C ends it.");
  await aborted(stop);
  await server.stop();
  output.note("svc stopped");
}

/** Milliseconds in which a starter that cannot open it fails. */
const SETTLE_MS = 1000;

/** Opens an address in the person's browser. @returns whether a starter was found and has not failed */
async function openInBrowser(address: string): Promise<boolean> {
  const { platform, environment, folder } = surroundings();
  const starter = starterFor(platform, environment);
  if (starter === undefined) return false;
  const [command, ...args] = starter;
  // In its own process group: the Ctrl-C that ends us must not end the browser.
  const child = spawn(command, [...args, address], {
    cwd: folder,
    env: withoutKeys(environment),
    detached: true,
    stdio: "ignore",
  });
  child.unref();
  return await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(true), SETTLE_MS);
    const settle = (isStarted: boolean): void => {
      clearTimeout(timer);
      resolve(isStarted);
    };
    child.once("error", () => settle(false));
    child.once("exit", (code) => settle(code === 0));
  });
}

/** The environment without our settings and the keys of providers. */
export function withoutKeys(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  const entries = Object.entries(environment).filter(([name]) => !/^SVC_|_API_KEY$/i.test(name));
  return Object.fromEntries(entries);
}

/** The program of the system that opens an address; undefined if no one would see the browser. */
export function starterFor(
  platform: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly [string, ...string[]] | undefined {
  if (platform === "darwin") return ["open"];
  // The empty word is the title of the window.
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  const hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].some(
    (name) => (environment[name] ?? "") !== "",
  );
  return hasDisplay ? ["xdg-open"] : undefined;
}
