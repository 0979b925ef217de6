import { loadConfig } from "../../config/load.ts";
import type { Config, ConfigInput } from "../../config/schema.ts";
import { isAddress } from "../../domain/addresses.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { Namespace, RegisteredNamespace } from "../../domain/owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { settingsForPath } from "../pack-path.ts";
import { askNamespaces, type WorkspaceAnswer, type WorkspaceQuestion } from "./ask-namespaces.ts";
import { EngineCache } from "./engine-cache.ts";
import { createLease, type NamespaceLease } from "./leases.ts";
import { openFolder } from "./namespace-packs.ts";
import { openDatabase } from "./namespace-schemas.ts";
import { findNamespace, type Namespaces } from "./namespaces.ts";
import { createSharedEmbedders } from "./shared-embedders.ts";

export type WorkspaceOptions = {
  /** Settings of all namespaces, over those of the environment and `.env`. They name no pack, no namespace and no database. */
  readonly config?: ConfigInput | undefined;
  /** Namespaces that are open at a time, at least 1. Default 4. In a database each has `database_pool_size` connections at most. */
  readonly maxOpen?: number | undefined;
  /**
   * Milliseconds for which nobody may have used what is held before who waits for it is refused. Default 2000; more where leases are
   * held while something else takes long.
   */
  readonly waitMs?: number | undefined;
  /** Whether each pack is one file. Has to be the same every time. Default false: a folder with its files. Of a database unset. */
  readonly singleFilePacks?: boolean | undefined;
};

/** Many packs, or schemas of a database, under names, for one program. `await using` closes it. */
export type MemoryWorkspace = AsyncDisposable & {
  /**
   * The memory of a namespace, which is made if it is missing. Leases of one namespace share it. Waits while as many as may be
   * open are in use: who holds that many must release one first, and is refused once nobody has used them for `waitMs`.
   * @throws SvcError invalid_argument for a name with control characters, white space at an end, or more than 512 bytes; not_found
   *   with `create: false`; namespace_mismatch, workspace_damaged, workspace_full, workspace_closed; and what opening a pack throws
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
   * @throws SvcError workspace_full once nobody has used what is held for `waitMs`: the workspace is open as before; AggregateError if one
   *   cannot be closed
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
