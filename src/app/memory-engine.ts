import { loadConfig } from "../config/load.ts";
import type { ConfigInput } from "../config/schema.ts";
import type { ExtractionProvider } from "../engine/extract/api.ts";
import type { MemoryEngine as EngineFacade } from "../engine/memory-engine.ts";
import { openEngine } from "./open-engine.ts";
import { findKey } from "./pack-key.ts";

/** What a program passes to its engine besides settings. */
export type EngineExtras = {
  /** Reads ingested messages instead of the model in the settings. Turns extraction on. */
  readonly extractionProvider?: ExtractionProvider | undefined;
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
   * disk_full from opening
   */
  async create(settings: ConfigInput = {}, extras: EngineExtras = {}): Promise<MemoryEngine> {
    const { config, notices } = loadConfig({ explicit: settings });
    for (const notice of notices) process.emitWarning(notice, { type: "svc" });
    const engine = await openEngine((await findKey(config)).config, extras);
    return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
  },
};
