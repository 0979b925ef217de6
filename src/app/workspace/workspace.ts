import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  damaged,
  openRegistry,
  packsOf,
  requireOwn,
} from "../../adapters/sqlite/workspace/registry.ts";
import { loadConfig } from "../../config/load.ts";
import { pathArgument } from "../../config/path.ts";
import type { Config, ConfigInput } from "../../config/schema.ts";
import { isAddress } from "../../domain/addresses.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { Namespace, RegisteredNamespace } from "../../domain/owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import type {
  ResultCandidate,
  RetrievalResponse,
  RetrieveInput,
} from "../../engine/retrieve/api.ts";
import { uuidV7 } from "../../lib/hashing.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { Embedder } from "../../ports/models.ts";
import { createConfiguredEmbedder, identityWith } from "../models.ts";
import { methodsByTurn, openEngine, type Turn } from "../open-engine.ts";
import { connectionOptions } from "../pack-connection.ts";
import { findKey } from "../pack-key.ts";
import { directoryLayout, settingsForPath } from "../pack-path.ts";
import { EngineCache } from "./engine-cache.ts";

/** The storage of a workspace's names: a folder of packs, or a database with schemas. */
type Namespaces = {
  /** Names it to a person. */
  readonly place: string;
  find(name: string): Promise<RegisteredNamespace | undefined>;
  /** Durable once it resolves. A name registered meanwhile keeps its id. */
  register(namespace: Namespace): Promise<void>;
  markInitialized(id: Uuid): Promise<void>;
  /** By name, in code-point order. */
  list(): Promise<readonly Namespace[]>;
  /**
   * Opens the engine of a namespace, creating its pack or tables if not yet done.
   * @throws SvcError workspace_damaged if they are missing or not its own; namespace_mismatch
   */
  open(
    namespace: RegisteredNamespace,
    makeEmbedder: typeof createConfiguredEmbedder,
  ): Promise<MemoryEngine>;
  close(): Promise<void>;
};

const NAME_BYTES = 512;

/**
 * A namespace by its name; a new one is registered before its memory is created.
 * @throws SvcError invalid_argument for an impossible name; not_found unless it may be created
 */
async function findNamespace(
  namespaces: Namespaces,
  name: string,
  create: boolean,
): Promise<RegisteredNamespace> {
  requireName(name);
  const known = await namespaces.find(name);
  if (known !== undefined) return known;
  if (create) {
    await namespaces.register({ name, id: uuidV7() });
    const made = await namespaces.find(name);
    if (made !== undefined) return made;
  }
  const message = `there is no namespace ${JSON.stringify(name)} in this workspace`;
  throw new SvcError("not_found", message, { kind: "namespace", id: name });
}

function requireName(name: unknown): void {
  if (typeof name !== "string") throw invalid("name", "must be a text");
  const isPlain = name.trim() === name && name.isWellFormed() && !/\p{Cc}/u.test(name);
  const bytes = Buffer.byteLength(name);
  if (isPlain && bytes > 0 && bytes <= NAME_BYTES) return;
  throw invalid(
    "name",
    `must have 1 to ${NAME_BYTES} bytes, without control characters and without white space at either end`,
  );
}

type WorkspaceLayout = "files" | "directories";

/**
 * Opens the packs of a folder, making it if it is missing, and holds it until `close`.
 * @throws SvcError workspace_in_use, workspace_damaged, storage_failed, disk_full
 */
function openFolder(config: Config, folder: string, layout: WorkspaceLayout): Namespaces {
  const place = resolve(pathArgument("folder", folder));
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const root = realpathSync(place);
  const registry = openRegistry(root);
  return {
    place: root,
    find: async (name) => registry.find(name),
    register: async (namespace) => {
      if (registry.find(namespace.name) === undefined) registry.register(namespace);
    },
    markInitialized: async (id) => registry.markInitialized(id),
    list: async () => registry.list(),
    open: async (namespace, makeEmbedder) => {
      const { config: withKey } = await findKey(settingsOf(config, root, namespace, layout));
      const createIfMissing = !namespace.isInitialized;
      const namespaceName = namespace.name;
      const engine = await openEngine(withKey, { createIfMissing, makeEmbedder, namespaceName });
      try {
        // Again: entries added since the first check are open now.
        requireOwnFiles(root, namespace.id);
      } catch (error) {
        await engine.close();
        throw error;
      }
      return engine;
    },
    close: async () => registry.close(),
  };
}

/**
 * The settings of a namespace: the workspace's, with its own pack. A new one's folder is created.
 * @throws SvcError workspace_damaged if its pack is missing, has the other layout, is behind a link, or belongs to another user
 */
function settingsOf(
  config: Config,
  root: string,
  { id, isInitialized }: RegisteredNamespace,
  layout: WorkspaceLayout,
): Config {
  const folder = join(packsOf(root), id);
  requireOwnFiles(root, id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "memory.pack");
  const { databasePath, vectorPath, lexicalPath } = directoryLayout(folder);
  const [own, other] = layout === "files" ? [file, databasePath] : [databasePath, file];
  if (existsSync(other)) {
    throw damaged(other, "has the other layout than the workspace was opened for");
  }
  if (isInitialized && !existsSync(own)) throw damaged(own, "is missing");
  return {
    ...config,
    pack_path: layout === "files" ? file : undefined,
    db_path: databasePath,
    vector_path: vectorPath,
    lexical_path: lexicalPath,
    namespace_id: id satisfies Uuid,
  };
}

/** Checks everything in the folder of a namespace, and the folders above it. @throws SvcError workspace_damaged */
function requireOwnFiles(root: string, id: Uuid): void {
  const folder = join(packsOf(root), id);
  for (const path of [packsOf(root), folder]) requireOwn(path, root, "folder");
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    requireOwn(path, root, entry.isDirectory() ? "folder" : "file");
  }
}

/**
 * Opens the namespaces of a database, making their registry if it is missing.
 * @throws SvcError workspace_damaged, unsupported, storage_failed, storage_busy, storage_unavailable
 */
async function openDatabase(config: Config): Promise<Namespaces> {
  // Only processes with a database need its driver.
  const { openCatalog } = await import("../../adapters/postgres/workspace/catalog.ts");
  const { searchPath, ...catalog } = await openCatalog(connectionOptions(config));
  return {
    ...catalog,
    open: async ({ id, name, isInitialized }, makeEmbedder) =>
      await openEngine(
        { ...config, namespace_id: id },
        {
          createIfMissing: !isInitialized,
          makeEmbedder,
          namespaceName: name,
          searchPath: searchPath(id),
        },
      ),
  };
}

export type WorkspaceOptions = {
  /** Settings of all namespaces, overriding the environment and `.env`. They name no pack, namespace or database. */
  readonly config?: ConfigInput | undefined;
  /** Maximum open namespaces, at least 1. Default 4. In a database each has at most `database_pool_size` connections. */
  readonly maxOpen?: number | undefined;
  /**
   * Milliseconds without use of held namespaces after which a waiting call is rejected. Default 2000; more if leases are held during other
   * long work.
   */
  readonly waitMs?: number | undefined;
  /** Whether each pack is one file. Must always be the same. Default false: a folder with its files. Unset for a database. */
  readonly singleFilePacks?: boolean | undefined;
};

/** Many packs, or schemas of a database, under names, for one program. `await using` closes it. */
export type MemoryWorkspace = AsyncDisposable & {
  /**
   * The memory of a namespace, which is made if it is missing. Leases of one namespace share it. Waits while the maximum number is in use:
   * a holder of all must release one first, and is rejected once they have been idle for `waitMs`.
   * @throws SvcError invalid_argument for a name with control characters, white space at an end, or more than 512 bytes; not_found with
   * `create: false`; namespace_mismatch, workspace_damaged, workspace_full, workspace_closed; and what opening a pack throws
   */
  namespace(name: string, options?: { readonly create?: boolean }): Promise<NamespaceLease>;
  /** By name. */
  listNamespaces(): Promise<readonly Namespace[]>;
  /**
   * Asks several namespaces at once; each keeps a receipt of its part.
   * @throws SvcError as `retrieve` of an engine; not_found for a namespace that does not exist
   */
  retrieve(question: WorkspaceQuestion): Promise<WorkspaceAnswer>;
  /**
   * Waits until every lease is released, then closes all of them. Idempotent.
   * @throws SvcError workspace_full once held namespaces have been idle for `waitMs`: the workspace stays open; AggregateError if one
   * cannot be closed
   */
  close(): Promise<void>;
};

const WAIT_MS = 2000;

const NOT_ITS_OWN = [
  "pack_path",
  "db_path",
  "vector_path",
  "lexical_path",
  "namespace_id",
  "database_url",
] as const;

/** Opens folders of packs, and databases with schemas. */
export const MemoryWorkspace = {
  /**
   * Opens the workspace of a folder, making it if it is missing. One workspace holds a folder at a time, in all processes; a database
   * may be held by many.
   * @param place the folder, or the address of a PostgreSQL database of its own: `postgres://user:password@host:port/database`
   * @throws SvcError workspace_in_use, workspace_damaged, invalid_argument, invalid_config, storage_failed, disk_full; of a database
   *   also unsupported, storage_busy, storage_unavailable
   */
  async open(place: string, options: WorkspaceOptions = {}): Promise<MemoryWorkspace> {
    const { config: given = {}, maxOpen = 4, waitMs = WAIT_MS, singleFilePacks = false } = options;
    if (!(Number.isInteger(maxOpen) && maxOpen >= 1)) {
      throw invalid("maxOpen", "must be a whole number of at least 1");
    }
    if (!(waitMs >= 0)) throw invalid("waitMs", "must be a number of at least 0");
    const isDatabase = isAddress(place);
    if (isDatabase && options.singleFilePacks !== undefined) {
      throw invalid("singleFilePacks", "is about packs, and a database has none");
    }
    const config = sharedSettings(place, given);
    const layout = singleFilePacks ? "files" : "directories";
    const namespaces = isDatabase ? await openDatabase(config) : openFolder(config, place, layout);
    return createWorkspace({ config, namespaces, cache: new EngineCache(maxOpen, waitMs) });
  },
};

function sharedSettings(place: string, given: ConfigInput): Config {
  const named = NOT_ITS_OWN.find((setting) => given[setting] !== undefined);
  if (named !== undefined) {
    throw invalid("config", `must not set ${named}, which comes from the workspace`);
  }
  const own = isAddress(place) ? settingsForPath(place) : { pack_path: "" };
  const { config, notices } = loadConfig({
    explicit: { ...given, ...own, namespace_id: undefined },
  });
  for (const notice of notices) process.emitWarning(notice, { type: "svc" });
  if (config.database_url !== undefined && !isAddress(place)) {
    throw invalid("config", "must not set database_url; a workspace of packs has no server");
  }
  return config;
}

type Parts = {
  readonly config: Config;
  readonly namespaces: Namespaces;
  readonly cache: EngineCache;
};

function createWorkspace({ config, namespaces, cache }: Parts): MemoryWorkspace {
  const embedders = createSharedEmbedders();
  let closed: Promise<void> | undefined;
  const requireOpen = (): void => {
    if (closed === undefined) return;
    throw new SvcError("workspace_closed", `${namespaces.place}: the workspace was closed`);
  };
  const reading = new Set<Promise<unknown>>();
  const inRegistry = async <T>(read: () => Promise<T>): Promise<T> => {
    requireOpen();
    const answer = read();
    reading.add(answer);
    try {
      return await answer;
    } finally {
      reading.delete(answer);
    }
  };
  const open = async (namespace: RegisteredNamespace): Promise<MemoryEngine> => {
    const engine = await namespaces.open(namespace, embedders.make);
    if (namespace.isInitialized) return engine;
    try {
      await namespaces.markInitialized(namespace.id);
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  };
  const lend = async (name: string, create: boolean): Promise<NamespaceLease> => {
    const namespace = await inRegistry(() => findNamespace(namespaces, name, create));
    const engine = await cache.take(namespace, () => open(namespace));
    const { id } = namespace;
    return createLease(
      engine,
      { name, id },
      () => cache.use(),
      () => cache.giveBack(id),
    );
  };
  const closeRest = async (): Promise<void> => {
    await Promise.allSettled(reading);
    await embedders.close();
    await namespaces.close();
  };
  const end = async (): Promise<void> => {
    try {
      await cache.close();
    } catch (error) {
      if (error instanceof SvcError) closed = undefined;
      else await closeRest();
      throw error;
    }
    await closeRest();
  };
  const close = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  return {
    namespace: (name, { create = true } = {}) => lend(name, create),
    listNamespaces: () => inRegistry(() => namespaces.list()),
    retrieve: async (question) =>
      await askNamespaces(question, config.packing.token_budget, async (name, input) => {
        await using lease = await lend(name, false);
        return await lease.retrieve(input);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A question to several namespaces. */
export type WorkspaceQuestion = Omit<RetrieveInput, "weights"> & {
  /** The weight of each namespace asked, above 0: its share of the token budget, and a factor on its scores. */
  readonly namespaces: Readonly<Record<string, number>>;
};

export type WorkspaceResult = {
  readonly namespace: string;
  /** The score in its own pack times the weight of the namespace. */
  readonly score: number;
  readonly candidate: ResultCandidate;
};

export type WorkspaceAnswer = {
  /** Of all namespaces, best first, ties in the order in which these were named; at most `limit`. */
  readonly results: readonly WorkspaceResult[];
  /** The answer of each namespace, with its own context, in the order in which they were named. */
  readonly responses: ReadonlyMap<string, RetrievalResponse>;
};

/**
 * Asks every namespace and orders all results by weighted score.
 * @param tokenBudget of the question without one
 * @throws SvcError invalid_argument without a namespace, or for a weight that is not above 0
 */
async function askNamespaces(
  { namespaces, ...input }: WorkspaceQuestion,
  tokenBudget: number,
  ask: (name: string, input: RetrieveInput) => Promise<RetrievalResponse>,
): Promise<WorkspaceAnswer> {
  const weighted = Object.entries(namespaces);
  if (weighted.length === 0) throw invalid("namespaces", "must name at least one");
  for (const [name, weight] of weighted) {
    if (!(Number.isFinite(weight) && weight > 0)) {
      throw invalid("namespaces", `must have a weight above 0 for ${JSON.stringify(name)}`);
    }
  }
  const whole = weighted.reduce((sum, [, weight]) => sum + weight, 0);
  const budget = input.tokenBudget ?? tokenBudget;
  const answers = await Promise.all(
    weighted.map(async ([name, weight]) => {
      const share = { ...input, tokenBudget: Math.floor((budget * weight) / whole) };
      return [name, weight, await ask(name, share)] as const;
    }),
  );
  const results = answers
    .flatMap(([namespace, weight, { results: own }]) =>
      own.map((candidate) => ({ namespace, candidate, score: candidate.compositeScore * weight })),
    )
    .sort((a, b) => b.score - a.score);
  return {
    results: results.slice(0, input.limit ?? results.length),
    responses: new Map(answers.map(([name, , response]) => [name, response])),
  };
}

/** Methods of an engine reserved to the workspace. */
type OfWorkspace = "close" | "lock" | "unlock";

/** The memory of one namespace until it is released; then every method rejects with workspace_closed. `await using` releases it. */
export type NamespaceLease = Omit<MemoryEngine, OfWorkspace> &
  AsyncDisposable & {
    readonly namespace: Namespace;
    /** Waits for running calls, then gives the engine back. A walk counts as running until it ends. Idempotent. */
    release(): Promise<void>;
  };

/**
 * @param use called at the start of each call; returns a function to call at its end
 * @param giveBack called once, when nothing of the lease is running any more
 */
function createLease(
  engine: MemoryEngine,
  namespace: Namespace,
  use: () => () => void,
  giveBack: () => void,
): NamespaceLease {
  const running = new Set<Promise<void>>();
  let released: Promise<void> | undefined;
  const begin = (): Turn => {
    if (released !== undefined) {
      const message = `the namespace ${JSON.stringify(namespace.name)} was released; ask the workspace for it again`;
      throw new SvcError("workspace_closed", message);
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    const used = use();
    const end = (): void => {
      used();
      running.delete(promise);
      resolve();
    };
    return { engine, end };
  };
  const { close: _close, lock: _lock, unlock: _unlock, ...offered } = methodsByTurn(engine, begin);
  const drain = async (): Promise<void> => {
    while (running.size > 0) await Promise.all(running);
    giveBack();
  };
  const release = (): Promise<void> => {
    released ??= drain();
    return released;
  };
  return {
    ...offered,
    namespace,
    release,
    [Symbol.asyncDispose]: release,
  };
}

/** Embedders shared by several engines: one per model. */
type SharedEmbedders = {
  /** Like `createConfiguredEmbedder`; closing one leaves the others open. */
  readonly make: typeof createConfiguredEmbedder;
  /** Once no engine uses them any more. */
  close(): Promise<void>;
};

/** @param create creates a missing one */
export function createSharedEmbedders(create = createConfiguredEmbedder): SharedEmbedders {
  const made = new Map<string, Promise<Embedder>>();
  return {
    make: async (config, model, warn) => {
      const { model: name, version, dimension } = identityWith(config, model);
      const key = JSON.stringify([name, version, dimension]);
      const making = made.get(key) ?? create(config, model, warn);
      made.set(key, making);
      // The next pack tries again.
      making.catch(() => made.delete(key));
      const embedder = await making;
      // An owner of the same name in another pack is another person.
      const pack = crypto.randomUUID();
      const here = (of: string | undefined) => (of === undefined ? undefined : `${pack} ${of}`);
      return {
        ...embedder,
        embedDocument: (text, of) => embedder.embedDocument(text, here(of)),
        embedQuery: (text, of) => embedder.embedQuery(text, here(of)),
        forget: (of) => embedder.forget?.(`${pack} ${of}`),
        close: async () => {},
      };
    },
    close: async () => {
      for (const embedder of made.values()) await (await embedder).close();
    },
  };
}
