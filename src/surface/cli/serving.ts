import { relative } from "node:path";
import { databaseOf } from "../../app/pack-path.ts";
import { placeWord } from "../../app/place-word.ts";
import { VERSION } from "../../app/version.ts";
import { workingFolder } from "../../config/path.ts";
import type { Config } from "../../config/schema.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type { CliContext, RunningServer } from "./context.ts";
import { aborted } from "./signals.ts";
import { stderrLog } from "./stderr-log.ts";

/** The option of the commands that serve a pack. */
export const READ_ONLY_OPTION = [
  "--read-only",
  "write nothing (automatic if the pack cannot be written)",
] as const;

/** Opens the memory of a server; a missing pack is created, unless nothing may be written. */
export async function openToServe(
  config: Config,
  readOnly: boolean,
  warn: (message: string) => void,
): Promise<MemoryEngine> {
  const { openOrMake } = await import("../../packs/create-pack.ts");
  if (!readOnly) return await openOrMake(config, warn);
  const { openFollowing } = await import("../../app/following-engine.ts");
  return await openFollowing(config, { createIfMissing: false, readOnly, warn });
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
