import { mkdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type Namespace,
  type NamespaceRegistry,
  openRegistry,
  type RegisteredNamespace,
} from "../../adapters/sqlite/workspace/registry.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config, ConfigInput } from "../../config/schema.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { findKey } from "../find-key.ts";
import { openEngine } from "../open-engine.ts";
import { askNamespaces, type WorkspaceAnswer, type WorkspaceQuestion } from "./ask-namespaces.ts";
import { EngineCache } from "./engine-cache.ts";
import { createLease, type NamespaceLease } from "./leases.ts";
import { findNamespace, settingsOf, type WorkspaceLayout } from "./namespace-packs.ts";
import { createSharedEmbedders } from "./shared-embedders.ts";

export type WorkspaceOptions = {
  /** Settings of all namespaces, over those of the environment and `.env`. They name no pack, no namespace and no database. */
  readonly config?: ConfigInput | undefined;
  /** Packs that are open at a time, at least 1. Default 4. */
  readonly maxOpen?: number | undefined;
  /** Whether each pack is one file. Has to be the same every time. Default false: a folder with its files. */
  readonly singleFilePacks?: boolean | undefined;
};

/** Many packs under names, for one program. `await using` closes it. */
export type MemoryWorkspace = AsyncDisposable & {
  /**
   * The memory of a namespace, which is made if it is missing. Leases of one namespace share its pack. Waits while as many packs
   * as may be open are in use: who holds that many must release one first.
   * @throws SvcError invalid_argument for a name with control characters, white space at an end, or more than 512 bytes; not_found
   *   with `create: false`; namespace_mismatch, workspace_damaged, workspace_closed; and what opening a pack throws
   */
  namespace(name: string, options?: { readonly create?: boolean }): Promise<NamespaceLease>;
  /** By name. */
  listNamespaces(): Promise<readonly Namespace[]>;
  /**
   * Asks several namespaces at once; each keeps a receipt of its part.
   * @throws SvcError as `retrieve` of an engine; not_found for a namespace that does not exist
   */
  retrieve(question: WorkspaceQuestion): Promise<WorkspaceAnswer>;
  /** Waits until every lease is released, then closes all packs. Idempotent. @throws AggregateError if one cannot be closed */
  close(): Promise<void>;
};

const NOT_ITS_OWN = [
  "pack_path",
  "db_path",
  "vector_path",
  "lexical_path",
  "namespace_id",
] as const;

/** Opens folders of packs. */
export const MemoryWorkspace = {
  /**
   * Opens the workspace of a folder, making it if it is missing. One workspace holds a folder at a time, in all processes.
   * @throws SvcError workspace_in_use, workspace_damaged, invalid_argument, invalid_config, storage_failed, disk_full
   */
  async open(folder: string, options: WorkspaceOptions = {}): Promise<MemoryWorkspace> {
    const { config: given = {}, maxOpen = 4, singleFilePacks = false } = options;
    if (!(Number.isInteger(maxOpen) && maxOpen >= 1)) {
      throw invalid("maxOpen", "must be a whole number of at least 1");
    }
    const config = sharedSettings(given);
    mkdirSync(resolve(folder), { recursive: true, mode: 0o700 });
    const root = realpathSync(resolve(folder));
    const registry = openRegistry(join(root, "workspace.sqlite3"));
    const layout = singleFilePacks ? "files" : "directories";
    return createWorkspace({ config, root, registry, layout, cache: new EngineCache(maxOpen) });
  },
};

function sharedSettings(given: ConfigInput): Config {
  const named = NOT_ITS_OWN.find((setting) => given[setting] !== undefined);
  if (named !== undefined)
    throw invalid("config", `must not set ${named}, which each namespace has`);
  const { config, notices } = loadConfig({
    explicit: { ...given, pack_path: "", namespace_id: undefined },
  });
  for (const notice of notices) process.emitWarning(notice, { type: "svc" });
  if (config.database_url !== undefined) {
    throw invalid("config", "must not set database_url; a workspace of packs has no server");
  }
  return config;
}

type Parts = {
  readonly config: Config;
  readonly root: string;
  readonly registry: NamespaceRegistry;
  readonly layout: WorkspaceLayout;
  readonly cache: EngineCache;
};

function createWorkspace({ config, root, registry, layout, cache }: Parts): MemoryWorkspace {
  const embedders = createSharedEmbedders();
  let closed: Promise<void> | undefined;
  const requireOpen = (): void => {
    if (closed === undefined) return;
    throw new SvcError("workspace_closed", `${root}: the workspace was closed`);
  };
  const open = async (namespace: RegisteredNamespace): Promise<MemoryEngine> => {
    const settings = settingsOf(config, root, namespace, layout);
    const { config: withKey } = await findKey(settings);
    const createIfMissing = !namespace.isInitialized;
    const engine = await openEngine(withKey, { createIfMissing, makeEmbedder: embedders.make });
    if (createIfMissing) registry.markInitialized(namespace.id);
    return engine;
  };
  const lend = async (name: string, create: boolean): Promise<NamespaceLease> => {
    requireOpen();
    const namespace = findNamespace(registry, name, create);
    const engine = await cache.take(namespace.id, () => open(namespace));
    const { id } = namespace;
    return createLease(engine, { name, id }, () => cache.giveBack(id));
  };
  const end = async (): Promise<void> => {
    try {
      await cache.close();
    } finally {
      await embedders.close();
      registry.close();
    }
  };
  const close = (): Promise<void> => {
    closed ??= end();
    return closed;
  };
  return {
    namespace: (name, { create = true } = {}) => lend(name, create),
    listNamespaces: async () => {
      requireOpen();
      return registry.list();
    },
    retrieve: async (question) =>
      await askNamespaces(question, config.packing.token_budget, async (name, input) => {
        await using lease = await lend(name, false);
        return await lease.retrieve(input);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
}
