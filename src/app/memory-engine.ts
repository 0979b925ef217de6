import { statSync } from "node:fs";
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { loadConfig } from "../config/load.ts";
import type { Config, ConfigInput } from "../config/schema.ts";
import { SvcError } from "../domain/errors.ts";
import type { ExtractionProvider } from "../engine/extract/api.ts";
import type { MemoryEngine as EngineFacade } from "../engine/memory-engine.ts";
import { keptKey, withNewKey } from "./new-key.ts";
import { openEngine } from "./open-engine.ts";
import { findKey } from "./pack-key.ts";
import { databaseOf, layoutOf, requirePlaceForNew } from "./pack-path.ts";

/** What a program passes to its engine besides settings. */
export type EngineExtras = {
  /** Reads ingested messages instead of the model in the settings. Turns extraction on. */
  readonly extractionProvider?: ExtractionProvider | undefined;
  /**
   * True: a missing pack is made encrypted, with a key kept on this machine, as `svc init` does. Has no effect on a pack that is there, a
   * database, and where the settings have `encryption_enabled`. Default false: it is made as the settings say.
   */
  readonly keepKey?: boolean | undefined;
};

/** An open memory. See the methods for their contracts. `await using` closes it. */
export type MemoryEngine = EngineFacade & AsyncDisposable;

/** Opens memories in your own program. */
export const MemoryEngine = {
  /**
   * Opens the configured pack, and creates it if it is missing. Close it when you are done. The key of an encrypted pack comes from the
   * settings, else from this machine's key store; there is no prompt.
   * @param settings values that override the environment and `.env`, for example `{ pack_path: "./memory.pack" }`.
   * @param extras options that settings cannot express
   * @throws SvcError invalid_config before anything is opened; not_a_pack, pack_too_new, pack_read_only, storage_failed, storage_busy or
   * disk_full from opening; encryption_failed if a kept key would be lost before its pack
   */
  async create(settings: ConfigInput = {}, extras: EngineExtras = {}): Promise<MemoryEngine> {
    const { config, notices } = loadConfig({ explicit: settings });
    for (const notice of notices) process.emitWarning(notice, { type: "svc" });
    const engine =
      (extras.keepKey === true ? await makeEncrypted(config, extras) : undefined) ??
      (await openEngine((await findKey(config)).config, extras));
    return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
  },
};

/** Makes the configured pack with a kept key; undefined if it is there, or the settings say how it is made. */
async function makeEncrypted(
  config: Config,
  extras: EngineExtras,
): Promise<EngineFacade | undefined> {
  if (databaseOf(config) !== undefined || config.encryption_enabled !== undefined) return undefined;
  const path = mainPath(layoutOf(config));
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0) return undefined;
  try {
    requirePlaceForNew(config);
    return await withNewKey(config, keptKey(config), path, (keyed) =>
      openEngine(keyed.config, extras),
    );
  } catch (error) {
    // Another process has made it meanwhile, after saving its key.
    if (error instanceof SvcError && error.code === "pack_in_use") return undefined;
    throw error;
  }
}
