import { statSync } from "node:fs";
import { mainPath, type PackLayout } from "../adapters/sqlite/connection/layout.ts";
import { chooseModel } from "../app/models.ts";
import { type Keyed, keptKey, type NewKey, withNewKey } from "../app/new-key.ts";
import { openEngine, openFollowing } from "../app/open-engine.ts";
import { findKey } from "../app/pack-key.ts";
import { databaseOf, layoutOf, requirePlaceForNew } from "../app/pack-path.ts";
import type { Config } from "../config/schema.ts";
import { parseOptionalUserId } from "../domain/arguments.ts";
import { SvcError } from "../domain/errors.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import { shellWord } from "../lib/text.ts";
import { notePassphrase } from "./key-custody.ts";

type MadePack = Keyed & {
  readonly owner: string | undefined;
  /** One sentence about the embedding model; undefined for the default one. */
  readonly model: string | undefined;
};

/**
 * Creates the configured pack, which must not exist yet. A kept key is saved first, so that no crash leaves a pack without its key.
 * @param owner owner of the pack. Default: the system user
 * @throws SvcError invalid_argument, encryption_failed, pack_in_use if another process creates it, storage_failed, disk_full
 */
export async function createPack(
  config: Config,
  newKey: NewKey,
  owner?: string | undefined,
): Promise<MadePack> {
  parseOptionalUserId(owner);
  requirePlaceForNew(config);
  const { config: chosen, told } = await chooseModel(config);
  return await withNewKey(chosen, newKey, mainPath(layoutOf(config)), async (keyed) => {
    const engine = await openEngine(keyed.config);
    const claimed = await engine.claimPack(owner).finally(() => engine.close());
    await noteChosen(keyed.config, layoutOf(config), newKey);
    return { ...keyed, owner: claimed, model: told };
  });
}

/**
 * Opens the configured pack for a server. A missing one is created as `svc init` does, unless the settings say how; `warn` is called, and
 * `madeAt` is the path.
 * @throws SvcError as `createPack` and `openEngine`
 */
export async function openOrMake(
  config: Config,
  warn: (message: string) => void,
): Promise<MemoryEngine & { readonly madeAt?: string }> {
  if (databaseOf(config) !== undefined) return await openFollowing(config, { warn });
  const layout = layoutOf(config);
  const path = mainPath(layout);
  const isMissing = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (!isMissing) return await openFollowing(config, { warn });
  if (config.encryption_enabled !== undefined) {
    const { config: chosen, told } = await chooseModel(config, warn);
    if (told !== undefined) warn(`${path}: ${told}`);
    return { ...(await openFollowing(chosen, { warn })), madeAt: path };
  }
  try {
    const made = await createPack(config, keptKey(config));
    if (made.model !== undefined) warn(`${path}: ${made.model}`);
    warn(
      `made ${path}, encrypted; its key is kept in ${made.keptIn}. If you lose the key, you lose the pack; back it up with: svc key export ${shellWord(path)}`,
    );
    return { ...(await openFollowing(made.config, { warn })), madeAt: path };
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "pack_in_use") throw error;
    // Another process has created it meanwhile, after saving its key.
    return await openFollowing((await findKey(config)).config, { warn });
  }
}

/** Records in a finished pack if its key comes from a passphrase. */
export async function noteChosen(
  config: Config,
  layout: PackLayout,
  newKey: NewKey,
): Promise<void> {
  if (newKey.kind === "chosen") await notePassphrase(config, layout, newKey.key);
}
