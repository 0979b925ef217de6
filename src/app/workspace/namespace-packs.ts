import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  damaged,
  type NamespaceRegistry,
  type RegisteredNamespace,
  refuseLink,
} from "../../adapters/sqlite/workspace/registry.ts";
import type { Config } from "../../config/schema.ts";
import { invalid, SvcError } from "../../domain/errors.ts";
import { uuidV7 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import { directoryLayout } from "../pack-path.ts";

/** The layout of all packs of a workspace. */
export type WorkspaceLayout = "files" | "directories";

const NAME_BYTES = 512;

/**
 * A namespace by its name; a new one is registered before its pack is made.
 * @throws SvcError invalid_argument for a name that none can have; not_found unless it may be made
 */
export function findNamespace(
  registry: NamespaceRegistry,
  name: string,
  create: boolean,
): RegisteredNamespace {
  requireName(name);
  const known = registry.find(name);
  if (known !== undefined) return known;
  if (!create) {
    const message = `there is no namespace ${JSON.stringify(name)} in this workspace`;
    throw new SvcError("not_found", message, { kind: "namespace", id: name });
  }
  const made = { name, id: uuidV7() };
  registry.register(made);
  return { ...made, isInitialized: false };
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

/**
 * The settings of a namespace: those of the workspace, with its own pack. The folder of a new one is made.
 * @throws SvcError workspace_damaged if its pack is missing, has the other layout, or is behind a symbolic link
 */
export function settingsOf(
  config: Config,
  root: string,
  { id, isInitialized }: RegisteredNamespace,
  layout: WorkspaceLayout,
): Config {
  const packs = join(root, "packs");
  const folder = join(packs, id);
  for (const path of [packs, folder]) refuseLink(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  refuseLinksIn(folder);
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

function refuseLinksIn(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) refuseLink(join(entry.parentPath, entry.name));
  }
}
