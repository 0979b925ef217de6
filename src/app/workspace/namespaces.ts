import { existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  damaged,
  openRegistry,
  packsOf,
  requireOwn,
} from "../../adapters/sqlite/workspace/registry.ts";
import { pathArgument } from "../../config/path.ts";
import type { Config } from "../../config/schema.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import type { Namespace, RegisteredNamespace } from "../../domain/owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { uuidV7 } from "../../lib/hashing.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { createConfiguredEmbedder } from "../models.ts";
import { openEngine } from "../open-engine.ts";
import { connectionOptions } from "../pack-connection.ts";
import { findKey } from "../pack-key.ts";
import { directoryLayout } from "../pack-path.ts";

/** The storage of a workspace's names: a folder of packs, or a database with schemas. */
export type Namespaces = {
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
export async function findNamespace(
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
export function openFolder(config: Config, folder: string, layout: WorkspaceLayout): Namespaces {
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
export async function openDatabase(config: Config): Promise<Namespaces> {
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
