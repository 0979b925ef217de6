import { statSync } from "node:fs";
import { createChronoDateReader } from "../adapters/dates/chrono.ts";
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { createSystemClock } from "../adapters/system/clock.ts";
import { createIdSource } from "../adapters/system/ids.ts";
import { systemUserName } from "../adapters/system/user-name.ts";
import { createCl100kTokenizer } from "../adapters/tokens/cl100k.ts";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, isSameEmbedding } from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import { hasFormerNames, useStoredNames } from "../domain/owner.ts";
import { createEngine } from "../engine/engine.ts";
import type { ExtractionProvider } from "../engine/extract/api.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import type { Embedder, EmbeddingIdentity } from "../ports/models.ts";
import type { Owners } from "../ports/store/store.ts";
import {
  configuredModel,
  createConfiguredEmbedder,
  identityWith,
  isHosted,
  modelFor,
  modelOfPack,
  modelToRenew,
  type UsableModel,
} from "./configured-embedder.ts";
import { toEngineSettings } from "./engine-settings.ts";
import { modelWarning, textsLeave } from "./model-warning.ts";
import { requirePlaceForNew } from "./new-pack-place.ts";
import { openConfiguredStore } from "./open-store.ts";
import { createOptionalModels } from "./optional-models.ts";
import { fetchOtherModel } from "./other-models.ts";
import { databaseOf, layoutOf } from "./pack-path.ts";
import { VERSION } from "./version.ts";

export type OpenOptions = {
  /** False: a missing pack is refused and nothing is created. Default true. */
  readonly createIfMissing?: boolean | undefined;
  /** Whether the vectors will be recomputed, so that no warning about another model is needed. Default false. */
  readonly renewsVectors?: boolean | undefined;
  /** True: nothing is written, even if it could be. Default: only if this user cannot write the pack. */
  readonly readOnly?: boolean | undefined;
  /** Default: the configured one. The engine closes it. */
  readonly embedder?: Embedder | undefined;
  /** Makes the embedder for the model of the pack. Default: one of this engine's own. */
  readonly makeEmbedder?: typeof createConfiguredEmbedder | undefined;
  /** Extracts from messages. Default: the configured model, if the settings turn extraction on. */
  readonly extractionProvider?: ExtractionProvider | undefined;
  /** The name of the namespace of `namespace_id`: its pack keeps it, and is refused under another one. Default: any. */
  readonly namespaceName?: string | undefined;
  /** Of a database: the schemas in which names are looked up; tables are made in the first one. Default: those of the user. */
  readonly searchPath?: readonly string[] | undefined;
  /** Receives warnings for a person; never memory text. Default: none. */
  readonly warn?: ((message: string) => void) | undefined;
};

/**
 * Opens the configured pack and everything that works on it. The caller closes the engine, which closes all of it. A pack that
 * this user cannot write is opened for reading: writes fail with `pack_read_only`, and no receipt is kept. The embedding model is
 * loaded by the first call that needs it.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_read_only, encryption_failed, pack_in_use, pack_damaged,
 *   storage_failed, storage_busy, disk_full
 */
export async function openEngine(config: Config, options: OpenOptions = {}): Promise<MemoryEngine> {
  return (await openWithModel(config, options)).engine;
}

/** An engine, and whether the pack has been given another model that could be used instead. */
export type OpenedEngine = {
  readonly engine: MemoryEngine;
  readonly isOutdated: () => Promise<boolean>;
};

/** Like `openEngine`. */
export async function openWithModel(config: Config, options: OpenOptions): Promise<OpenedEngine> {
  const { createIfMissing = true, renewsVectors = false, warn = () => {} } = options;
  const clock = createSystemClock();
  const ids = createIdSource();
  if (createIfMissing && !hasPackFile(config)) requirePlaceForNew(config);
  let model = await firstModel(config, { renewsVectors, warn });
  const identity = () => options.embedder?.identity ?? identityWith(config, model);
  const shared = {
    createIfMissing,
    namespaceName: options.namespaceName,
    searchPath: options.searchPath,
    embedding: identity(),
    modelFor: (stored: EmbeddingIdentity, begun: EmbeddingIdentity | undefined) => {
      model = renewsVectors ? modelToRenew(config, stored, begun) : modelFor(config, stored);
      return identity();
    },
    softwareVersion: VERSION,
    scoringVersion: toEngineSettings(config).scoringVersion,
    clock,
    warn,
  };
  const opened = await openConfiguredStore(config, shared, options.readOnly);
  const { store } = opened;
  const embedder = await embedderOf(config, model, options);
  try {
    const { embedding } = await store.manifest();
    const reader = await nameReader(store.owners);
    const settings = toEngineSettings(config, {
      model: isHosted(model) ? undefined : model,
    });
    const warning = renewsVectors
      ? textsLeave(config, model)
      : modelWarning(config, opened.place, embedding);
    if (warning !== undefined) warn(warning);
    const created = createEngine({
      store,
      readNames: reader,
      packLock: opened.packLock,
      embedder,
      tokenizer: createCl100kTokenizer(),
      dates: createChronoDateReader({ languages: settings.temporalLanguages, warn }),
      clock,
      ids,
      settings,
      isReadOnly: opened.isReadOnly,
      features: { ...featuresOf(embedder.identity), ...opened.searches },
      ...createOptionalModels(config, clock, warn),
      ...(options.extractionProvider !== undefined && {
        extractionModel: options.extractionProvider,
      }),
      personName: systemUserName(process.env),
      warn,
    });
    const engine = {
      ...created,
      close: async () => {
        await created.close();
        await forgetNames(store.owners);
      },
    };
    const isOutdated = async (): Promise<boolean> => {
      const { embedding: stored } = await store.manifest();
      const usable = modelOfPack(config, stored);
      const isUsable = usable && isSameEmbedding(stored, identityWith(config, usable));
      return isUsable === true && !isSameEmbedding(stored, embedder.identity);
    };
    return { engine, isOutdated };
  } catch (error) {
    await forgetNames(store.owners);
    await embedder.close();
    await store.close();
    throw error;
  }
}

/** Names of owners in each pack and database that is open. */
const namesIn = new Map<Owners, readonly string[]>();

/**
 * Reads the names of the owners that some have in another form than they are given.
 * @returns what reads them again before a call, as somebody else may rename them; undefined if there is none
 */
async function nameReader(owners: Owners): Promise<(() => Promise<void>) | undefined> {
  const isFormer = () => hasFormerNames(namesIn.get(owners) ?? []);
  await readNames(owners);
  if (!isFormer()) return undefined;
  await readAllNames();
  return async () => {
    // Of a pack that cannot be read the call says so.
    if (isFormer()) await readNames(owners).catch(() => undefined);
  };
}

async function readNames(owners: Owners): Promise<void> {
  namesIn.set(owners, await owners.unusualNames());
  useStoredNames([...namesIn.values()].flat());
}

async function readAllNames(): Promise<void> {
  await Promise.allSettled([...namesIn.keys()].map(readNames));
}

async function forgetNames(owners: Owners): Promise<void> {
  const isFormer = hasFormerNames(namesIn.get(owners) ?? []);
  namesIn.delete(owners);
  // Meanwhile others may have taken such a name over.
  if (isFormer) await readAllNames();
  useStoredNames([...namesIn.values()].flat());
}

async function embedderOf(
  config: Config,
  model: UsableModel,
  { embedder, makeEmbedder = createConfiguredEmbedder, warn = () => {} }: OpenOptions,
): Promise<Embedder> {
  return embedder ?? (await makeEmbedder(config, model, warn));
}

/**
 * The model of a pack that is about to be made or rebuilt; of another one, any, since that has its own.
 * @throws SvcError model_failed if the model is needed and cannot be had
 */
async function firstModel(
  config: Config,
  {
    renewsVectors,
    warn,
  }: {
    readonly renewsVectors: boolean;
    readonly warn: (message: string) => void;
  },
): Promise<UsableModel> {
  try {
    await fetchOtherModel(config, warn);
    return configuredModel(config);
  } catch (error) {
    const isNeeded = renewsVectors || !hasPackFile(config);
    if (isNeeded || !(error instanceof SvcError && error.code === "model_failed")) throw error;
    return DEFAULT_MODEL;
  }
}

/** Whether the vectors of the pack say which model is needed. Of a database nobody knows before it is opened. */
function hasPackFile(config: Config): boolean {
  if (databaseOf(config) !== undefined) return false;
  return (statSync(mainPath(layoutOf(config)), { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** The running code as recorded in a receipt: names and versions, no secrets. */
export function featuresOf(embedding: EmbeddingIdentity): Readonly<Record<string, string>> {
  return {
    svc: VERSION,
    runtime: `bun ${Bun.version}`,
    embedding_model: embedding.model,
    embedding_version: embedding.version,
    embedding_dimension: String(embedding.dimension),
  };
}
