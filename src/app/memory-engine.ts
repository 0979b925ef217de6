import { loadConfig } from "../config/load.ts";
import type { ConfigInput } from "../config/schema.ts";
import type { MemoryEngine as EngineFacade } from "../engine/engine.ts";
import { openEngine } from "./open-engine.ts";

/** A memory that is open. See the methods for what each promises. */
export type MemoryEngine = EngineFacade;

/** Opens memories in a program of your own. */
export const MemoryEngine = {
  /**
   * Opens the pack that the settings name, and creates it when it is missing. Close it when you are done.
   * @param settings values that win over the environment and `.env`, for example `{ pack_path: "./memory.pack" }`.
   * @throws SvcError invalid_config before anything is opened; not_a_pack, pack_too_new, pack_read_only,
   * storage_failed, storage_busy or disk_full from opening
   */
  async create(settings: ConfigInput = {}): Promise<EngineFacade> {
    const { config } = loadConfig({ explicit: settings });
    return await openEngine(config);
  },
};
