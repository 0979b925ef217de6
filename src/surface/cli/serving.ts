import { existsSync } from "node:fs";
import { relative } from "node:path";
import { databaseOf, mainFileOf, placeWord } from "../../app/pack-path.ts";
import { VERSION } from "../../app/version.ts";
import { workingFolder } from "../../config/path.ts";
import type { Config } from "../../config/schema.ts";
import { SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { CliContext, RunningServer } from "./context.ts";
import { aborted } from "./signals.ts";
import { stderrLog } from "./stderr-log.ts";

/** The option of the commands that serve a pack. */
export const READ_ONLY_OPTION = [
  "--read-only",
  "write nothing (automatic if the pack cannot be written)",
] as const;

export type ServeAs = {
  /** Whether nothing may be written. */
  readonly readOnly: boolean;
  /** Whether a missing pack is made, if that may be written. Default true. */
  readonly create?: boolean | undefined;
};

/**
 * Opens the memory of a server. @param create false where the pack was there before
 * @throws SvcError not_found if it is not there then; as `openOrMake` and `openFollowing`
 */
export async function openToServe(
  config: Config,
  { readOnly, create = true }: ServeAs,
  warn: (message: string) => void,
): Promise<MemoryEngine> {
  if (create && !readOnly) {
    const { openOrMake } = await import("../../packs/create-pack.ts");
    return await openOrMake(config, warn);
  }
  if (!create) requireWhereItWas(config);
  const { openFollowing } = await import("../../app/open-engine.ts");
  return await openFollowing(config, { createIfMissing: false, readOnly, warn });
}

/** A pack that was connected and is gone: whoever stores must not get a second memory. */
function requireWhereItWas(config: Config): void {
  if (databaseOf(config) !== undefined) return;
  const path = mainFileOf(config);
  if (existsSync(path)) return;
  const message = `${path}: this assistant was connected to the pack that was here, and it was moved or removed. Move it back, or connect where it is now: svc connect <client> --db-path <pack>`;
  throw new SvcError("not_found", message, { kind: "pack", id: path });
}

/** How a server speaks to whoever started it: to a person, or into a structured log. */
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
