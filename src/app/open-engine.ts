import { createChronoDateReader } from "../adapters/dates/chrono.ts";
import { createFootageReader } from "../adapters/footage/footage-reader.ts";
import {
  createLanguageModel,
  createVisionModel,
} from "../adapters/language-model/create-language-model.ts";
import type { PostgresStoreOptions } from "../adapters/postgres/open-store.ts";
import { createLocalReranker } from "../adapters/rerank/local-reranker.ts";
import { progressLines } from "../adapters/rerank/model-files.ts";
import { createSourceReader } from "../adapters/sources/reader.ts";
import { mainPath } from "../adapters/sqlite/connection/layout.ts";
import { isFilled } from "../adapters/sqlite/connection/pack-files.ts";
import { isReadOnlyPack, openReadOnlyStore } from "../adapters/sqlite/open-read-only.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../adapters/sqlite/open-store.ts";
import { pastIndexes } from "../adapters/sqlite/past-index.ts";
import { createIdSource, createSystemClock, systemUserName } from "../adapters/system/system.ts";
import { createCl100kTokenizer } from "../adapters/tokens/cl100k.ts";
import { isWaiting } from "../capture/state.ts";
import { capturedIds } from "../capture/sweep.ts";
import type { Config } from "../config/schema.ts";
import { DEFAULT_MODEL, isSameEmbedding } from "../domain/embedding-models.ts";
import { SvcError } from "../domain/errors.ts";
import type { EngineDeps } from "../engine/deps.ts";
import { createEngine } from "../engine/engine.ts";
import type { ExtractionProvider } from "../engine/extract/api.ts";
import type { MemoryEngine } from "../engine/memory-engine.ts";
import type { Embedder, EmbeddingIdentity } from "../ports/models.ts";
import type { PackLock, Store } from "../ports/store/store.ts";
import type { Clock } from "../ports/system.ts";
import { toEngineSettings } from "./engine-settings.ts";
import {
  configuredModel,
  createConfiguredEmbedder,
  fetchOtherModel,
  identityWith,
  isHosted,
  modelFor,
  modelOfPack,
  modelToRenew,
  modelWarning,
  textsLeave,
  type UsableModel,
} from "./models.ts";
import { connectionOptions, opening } from "./pack-connection.ts";
import { keyTextOf } from "./pack-key.ts";
import { argumentOf, databaseOf, layoutOf, mainFileOf, requirePlaceForNew } from "./pack-path.ts";
import { VERSION } from "./version.ts";

export type OpenOptions = {
  /** False: a missing pack is an error and nothing is created. Default true. */
  readonly createIfMissing?: boolean | undefined;
  /** Whether the vectors will be recomputed, so that no warning about another model is needed. Default false. */
  readonly renewsVectors?: boolean | undefined;
  /** True: nothing is written, even if it could be. Default: only if this user cannot write the pack. */
  readonly readOnly?: boolean | undefined;
  /** Default: the configured one. The engine closes it. */
  readonly embedder?: Embedder | undefined;
  /** Creates the embedder for the pack's model. Default: a separate one for this engine. */
  readonly makeEmbedder?: typeof createConfiguredEmbedder | undefined;
  /** Extracts from messages. Default: the configured model, if the settings turn extraction on. */
  readonly extractionProvider?: ExtractionProvider | undefined;
  /** The name of the namespace of `namespace_id`: its pack records it, and is rejected under another one. Default: any. */
  readonly namespaceName?: string | undefined;
  /** For a database: the schemas in which names are looked up; tables are created in the first one. Default: those of the user. */
  readonly searchPath?: readonly string[] | undefined;
  /** Receives warnings for a person; never memory text. Default: none. */
  readonly warn?: ((message: string) => void) | undefined;
};

/**
 * Opens the configured pack with all its parts. The caller closes the engine, which closes all of it. A pack that this user cannot write is
 * opened for reading: writes fail with `pack_read_only`, and no receipt is kept. The embedding model is loaded by the first call that needs
 * it.
 * @throws SvcError not_found, not_a_pack, pack_too_new, pack_read_only, encryption_failed, pack_in_use, pack_damaged, storage_failed,
 * storage_busy, disk_full
 */
export async function openEngine(config: Config, options: OpenOptions = {}): Promise<MemoryEngine> {
  return (await openWithModel(config, options)).engine;
}

/** An engine, and whether the pack has been given another model that could be used instead. */
type OpenedEngine = {
  readonly engine: MemoryEngine;
  readonly isOutdated: () => Promise<boolean>;
};

async function openWithModel(config: Config, options: OpenOptions): Promise<OpenedEngine> {
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
    const settings = toEngineSettings(config, { model: isHosted(model) ? undefined : model });
    const warning = renewsVectors
      ? textsLeave(config, model)
      : modelWarning(config, opened.place, embedding);
    if (warning !== undefined) warn(warning);
    const engine = createEngine({
      store,
      packLock: opened.packLock,
      pastIndex: pastIndexes(clock),
      embedder,
      tokenizer: createCl100kTokenizer(),
      sources: { ...createSourceReader(process.env), capturedId: capturedIds() },
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
    const isOutdated = async (): Promise<boolean> => {
      const { embedding: stored } = await store.manifest();
      const usable = modelOfPack(config, stored);
      const isUsable = usable && isSameEmbedding(stored, identityWith(config, usable));
      return isUsable === true && !isSameEmbedding(stored, embedder.identity);
    };
    if (!opened.isReadOnly) await takeInTurns(engine, config);
    return { engine, isOutdated };
  } catch (error) {
    await embedder.close();
    await store.close();
    throw error;
  }
}

/** Stores what assistants' hooks kept for this pack while no process could. What cannot be stored now waits for the next opening. */
async function takeInTurns(engine: MemoryEngine, config: Config): Promise<void> {
  const mainFile = mainFileOf(config);
  if (!isWaiting(mainFile)) return;
  const { takeIn } = await import("../capture/receive.ts");
  await takeIn(engine, mainFile).catch(() => undefined);
}

async function embedderOf(
  config: Config,
  model: UsableModel,
  { embedder, makeEmbedder = createConfiguredEmbedder, warn = () => {} }: OpenOptions,
): Promise<Embedder> {
  return embedder ?? (await makeEmbedder(config, model, warn));
}

/**
 * The model of a pack about to be created or rebuilt; for an existing one, any, since it has its own.
 * @throws SvcError model_failed if the model is needed and unavailable
 */
async function firstModel(
  config: Config,
  given: {
    readonly renewsVectors: boolean;
    readonly warn: (message: string) => void;
  },
): Promise<UsableModel> {
  const { renewsVectors, warn } = given;
  try {
    await fetchOtherModel(config, warn);
    return configuredModel(config);
  } catch (error) {
    const isNeeded = renewsVectors || !hasPackFile(config);
    if (isNeeded || !(error instanceof SvcError && error.code === "model_failed")) throw error;
    return DEFAULT_MODEL;
  }
}

/** Whether the pack's vectors determine the model. For a database this is unknown before it is opened. */
function hasPackFile(config: Config): boolean {
  if (databaseOf(config) !== undefined) return false;
  return isFilled(mainPath(layoutOf(config)));
}

/** The running code as recorded in a receipt: names and versions, no secrets. */
function featuresOf(embedding: EmbeddingIdentity): Readonly<Record<string, string>> {
  return {
    svc: VERSION,
    runtime: `bun ${Bun.version}`,
    embedding_model: embedding.model,
    embedding_version: embedding.version,
    embedding_dimension: String(embedding.dimension),
  };
}

/** An open store, and what differs between a pack and a database. */
type OpenedStore = {
  readonly store: Store;
  readonly packLock: PackLock;
  /** Names the store to a person. */
  readonly place: string;
  readonly isReadOnly: boolean;
  /** How it searches, as receipts record it. */
  readonly searches: Readonly<Record<"vector_search" | "lexical_search", string>>;
};

type Shared = Pick<
  SqliteStoreOptions & PostgresStoreOptions,
  "createIfMissing" | "embedding" | "modelFor" | "softwareVersion" | "scoringVersion" | "clock"
> & {
  readonly namespaceName?: string | undefined;
  /** For a database: the schemas in which names are looked up. */
  readonly searchPath?: readonly string[] | undefined;
};

/** Opens the configured pack, or the configured database. @param readOnly default: only if the files cannot be written */
async function openConfiguredStore(
  config: Config,
  shared: Shared,
  readOnly: boolean | undefined,
): Promise<OpenedStore> {
  const database = databaseOf(config);
  if (database !== undefined) return await openDatabase(config, shared, readOnly === true);
  const layout = layoutOf(config);
  const isReadOnly = readOnly ?? isReadOnlyPack(layout);
  const { namespace } = opening(config);
  const store = await (isReadOnly ? openReadOnlyStore : openSqliteStore)({
    ...shared,
    layout,
    synchronous: config.synchronous,
    writeQueueSize: config.write_queue_size,
    vectorLimits: {
      memory: config.vector_memory_mb * 2 ** 20,
      exact: config.vector_exact_max,
    },
    busyTimeoutMs: config.busy_timeout_ms,
    encryptionKey: keyTextOf(config),
    namespace: namespace && { ...namespace, name: shared.namespaceName },
  });
  const searches = { vector_search: "exact cosine", lexical_search: "bm25, fts5" };
  return { store, packLock: store, place: mainPath(layout), isReadOnly, searches };
}

async function openDatabase(
  config: Config,
  shared: Shared,
  isReadOnly: boolean,
): Promise<OpenedStore> {
  // Only processes with a database need its driver.
  const { openPostgresStore } = await import("../adapters/postgres/open-store.ts");
  const place = databaseOf(config) ?? "";
  const { namespace } = opening(config);
  const argument = argumentOf(config) ?? "";
  const store = await openPostgresStore({
    ...shared,
    ...connectionOptions(config),
    rowSecurity: config.database_row_security,
    partitions: config.database_partitions,
    namespace: namespace && { ...namespace, name: shared.namespaceName },
    isReadOnly,
  });
  const refuse = async (): Promise<never> => {
    throw new SvcError("unsupported", `${place}: a database has no key, and so is not locked`, {
      path: place,
    });
  };
  const searches = { vector_search: "exact cosine", lexical_search: "bm25, posting blocks" };
  return {
    store,
    packLock: { lock: refuse, unlock: refuse },
    place: argument,
    isReadOnly,
    searches,
  };
}

type OptionalModels = Pick<
  EngineDeps,
  "reranker" | "languageModel" | "extractionModel" | "summaryModel" | "visionModel" | "footage"
>;

/**
 * The models enabled by settings. None is loaded, downloaded or used before the first call that needs it.
 * @param warn receives the progress of downloads
 * @throws SvcError invalid_config for a malformed model name
 */
function createOptionalModels(
  config: Config,
  clock: Clock,
  warn: (line: string) => void,
): OptionalModels {
  const { models, extraction } = config;
  const local = {
    threads: models.threads,
    hubUrl: models.hub_url,
    downloadTimeoutMs: Math.ceil(models.download_timeout * 1000),
    stallTimeoutMs: Math.ceil(models.download_stall_timeout * 1000),
    onProgress: progressLines(warn),
  };
  return {
    reranker: config.enable_reranker
      ? createLocalReranker({ ...local, model: config.reranker_model })
      : undefined,
    languageModel: config.enable_query_reformulation ? languageModel(extraction) : undefined,
    extractionModel: config.isExtractionOn === true ? languageModel(extraction) : undefined,
    summaryModel: config.isExtractionOn === true ? languageModel(extraction) : undefined,
    visionModel: config.vision.enabled ? visionModel(config.vision) : undefined,
    footage: config.vision.enabled
      ? createFootageReader({ clock, environment: process.env })
      : undefined,
  };
}

function visionModel(given: Config["vision"]): ReturnType<typeof createVisionModel> {
  const { provider, model, api_key, base_url } = given;
  return createVisionModel({
    ...{ provider, model },
    apiKey: api_key?.reveal(),
    baseUrl: base_url,
  });
}

function languageModel(
  group: Config["extraction"],
): ReturnType<typeof createLanguageModel> | undefined {
  const { provider, model } = group;
  if (provider === undefined || model === undefined) return undefined;
  return createLanguageModel({
    provider,
    model,
    apiKey: group.api_key?.reveal(),
    baseUrl: group.base_url,
    reasoningEffort: group.reasoning_effort,
  });
}

/**
 * Like `openEngine`, for a long-running process: if another process gives the pack another model, the engine is reopened with it, after the
 * first retrieval that could not compare vectors. Calls wait meanwhile.
 * @throws SvcError as `openEngine`
 */
export async function openFollowing(
  config: Config,
  options: Omit<OpenOptions, "embedder"> = {},
): Promise<MemoryEngine> {
  const open = () => openWithModel(config, { ...options, createIfMissing: false });
  const first = await openWithModel(config, options);
  let current: Promise<OpenedEngine> = Promise.resolve(first);
  let isClosing = false;
  let isLooking = false;

  /** The engine; reopened if that failed the last time. */
  const engine = async (): Promise<MemoryEngine> => {
    current = current.catch(open);
    return (await current).engine;
  };
  const renewed = async (old: OpenedEngine): Promise<OpenedEngine> => {
    // A process can open the files of an encrypted pack only once.
    await old.engine.close();
    return await open();
  };
  const follow = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const old = await current;
      const isOutdated = await old.isOutdated();
      if (isOutdated && !isClosing) current = renewed(old);
    } catch {
      // Locked, closed or damaged: the next retrieval checks again.
    } finally {
      isLooking = false;
    }
  };

  return {
    ...methodsByTurn(first.engine, async () => ({ engine: await engine(), end: () => {} })),
    retrieve: async (input) => {
      const result = await (await engine()).retrieve(input);
      if (result.metadata.embeddingMismatch) await follow();
      return result;
    },
    close: async () => {
      isClosing = true;
      await (await engine()).close();
    },
  };
}

export type Turn = {
  readonly engine: MemoryEngine;
  /** Called once, when the call has ended; a walk ends with its last memory, or when abandoned. */
  end(): void;
};

/** Every method of an engine, by name, on the engine that `turn` returns for the call. @param shape an engine with the same methods */
export function methodsByTurn(shape: MemoryEngine, turn: () => Turn | Promise<Turn>): MemoryEngine {
  const passing =
    (name: string) =>
    async (...args: readonly unknown[]): Promise<unknown> => {
      const { engine, end } = await turn();
      try {
        return await Reflect.get(engine, name)(...args);
      } finally {
        end();
      }
    };
  const passed = Object.keys(shape).map((name) => [name, passing(name)] as const);
  return {
    // SAFETY: each method by name, with its own arguments and result; the only one that returns no promise is below.
    ...(Object.fromEntries(passed) as unknown as MemoryEngine),
    iterNodes: async function* (query) {
      const { engine, end } = await turn();
      try {
        yield* engine.iterNodes(query);
      } finally {
        end();
      }
    },
  };
}
