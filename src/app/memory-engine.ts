import { loadConfig } from "../config/load.ts";
import type { ConfigInput } from "../config/schema.ts";
import type { MemoryEngine as EngineFacade } from "../engine/memory-engine.ts";
import { findKey } from "./find-key.ts";
import { openEngine } from "./open-engine.ts";

/** A memory that is open. See the methods for what each promises. `await using` closes it. */
export type MemoryEngine = EngineFacade & AsyncDisposable;

/** Opens memories in a program of your own. */
export const MemoryEngine = {
  /**
   * Opens the pack that the settings name, and creates it when it is missing. Close it when you are done. The key of an
   * encrypted pack comes from the settings, else from this machine's key store; nobody is asked for it.
   * @param settings values that win over the environment and `.env`, for example `{ pack_path: "./memory.pack" }`.
   * @throws SvcError invalid_config before anything is opened; not_a_pack, pack_too_new, pack_read_only,
   * storage_failed, storage_busy or disk_full from opening
   */
  async create(settings: ConfigInput = {}): Promise<MemoryEngine> {
    const { config, notices } = loadConfig({ explicit: settings });
    for (const notice of notices) process.emitWarning(notice, { type: "svc" });
    const engine = await openEngine((await findKey(config)).config);
    return { ...engine, [Symbol.asyncDispose]: () => engine.close() };
  },
};
