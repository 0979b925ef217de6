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
import type { RegisteredNamespace } from "../../domain/owner.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { findKey } from "../find-key.ts";
import { openEngine } from "../open-engine.ts";
import { directoryLayout } from "../pack-path.ts";
import type { Namespaces } from "./namespaces.ts";

/** The layout of all packs of a workspace. */
export type WorkspaceLayout = "files" | "directories";

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
        // Again: what was put there since the first look is open now.
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
 * The settings of a namespace: those of the workspace, with its own pack. The folder of a new one is made.
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

/** Checks all that lies in the folder of a namespace, and the folders above it. @throws SvcError workspace_damaged */
function requireOwnFiles(root: string, id: Uuid): void {
  const folder = join(packsOf(root), id);
  for (const path of [packsOf(root), folder]) requireOwn(path, root, "folder");
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    requireOwn(path, root, entry.isDirectory() ? "folder" : "file");
  }
}
