/** The memory of `svc mcp`, and who may use it. */
import { settingsForPath } from "../../app/pack-path.ts";
import type { Config } from "../../config/schema.ts";
import {
  fileBesidePack,
  namedFile,
  type SettingsFile,
  unreadFile,
} from "../../config/settings-file.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { printError } from "../../lib/standard-output.ts";
import type { Log } from "../contract/core/log.ts";
import { openToServe, type ServeAs } from "./commands/serve.ts";
import { configWithoutKey } from "./options.ts";
import { stderrLog } from "./stderr-log.ts";

export const TRANSPORTS = ["stdio", "streamable-http"] as const;
export type TransportName = (typeof TRANSPORTS)[number];

/**
 * The settings file that `svc mcp` reads: the named one, else the one next to the pack. The working directory is ignored: an assistant
 * starts it in the folder it works on, which may belong to someone else.
 */
export function mcpSettingsFile(
  dbPath: string | undefined,
  envFile: string | undefined,
): SettingsFile | undefined {
  if (envFile !== undefined) return namedFile(envFile);
  return fileBesidePack(dbPath, dbPath ? settingsForPath(dbPath) : {});
}

/** The configuration of `svc mcp`, without the key of its pack. Warnings and notices go to stderr. */
export function mcpConfig(dbPath: string | undefined, file: SettingsFile | undefined): Config {
  const config = configWithoutKey({ output: { note } }, dbPath, file ?? null);
  const unread = unreadFile(file);
  if (unread !== undefined) {
    note(`Warning: ${unread} is not read by svc mcp; to use it, name it with --env-file`);
  }
  return config;
}

/**
 * Opens the memory for a client on stdin and stdout as specified on a command line, with all settings.
 * @param how `key` as given on the command line
 * @throws SvcError `invalid_config` if the settings are unusable, and any error of opening a pack
 */
export async function openNamedMemory(
  dbPath: string,
  { key, create }: { readonly key: string | undefined; readonly create: boolean },
): Promise<MemoryEngine> {
  const config = mcpConfig(dbPath, mcpSettingsFile(dbPath, undefined));
  requireKeysFor("stdio", config);
  return await openWithKey(config, { key, readOnly: false, create }, stderrLog("warn"));
}

/** Commands' output listens to its streams; this is called again after each failure. */
function note(line: string): void {
  printError(`${line}\n`);
}

/** Opens the configured memory for a client on stdin and stdout. `key` is as given on the command line. */
export async function openWithKey(
  config: Config,
  { key, ...how }: ServeAs & { readonly key: string | undefined },
  log: Log,
): Promise<MemoryEngine> {
  // Standard input belongs to the assistant: there is no prompt.
  const { findKey } = await import("../../app/pack-key.ts");
  const { config: opened } = await findKey(config, { given: key });
  const warn = (message: string): void => log("warn", message);
  return await openToServe(opened, how, warn);
}

/** Clients on stdio send no key; over a network all must. */
export function requireKeysFor(transport: TransportName, { mcp: settings }: Config): void {
  const hasKeys = Object.keys(settings.user_keys).length > 0;
  if (hasKeys === (transport === "streamable-http")) return;
  const complaint = hasKeys
    ? "keys of several owners need --transport streamable-http; unset it, or bind stdio to one owner with SVC_MCP_USER_ID"
    : `streamable-http needs a key for each owner, for example SVC_MCP_USER_KEYS='{"anna":"a long random key"}'`;
  throw new SvcError("invalid_config", `mcp.user_keys: ${complaint}`, {
    setting: "mcp.user_keys",
  });
}
