import { invalid, SvcError } from "../../domain/errors.ts";
import type { Namespace, RegisteredNamespace } from "../../domain/owner.ts";
import type { MemoryEngine } from "../../engine/memory-engine.ts";
import { uuidV7 } from "../../lib/new-uuid.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { createConfiguredEmbedder } from "../configured-embedder.ts";

/** What lies behind the names of a workspace: a folder of packs, or a database with schemas. */
export type Namespaces = {
  /** Names it to a person. */
  readonly place: string;
  find(name: string): Promise<RegisteredNamespace | undefined>;
  /** Durable when it ends. A name that has been registered meanwhile keeps its id. */
  register(namespace: Namespace): Promise<void>;
  markInitialized(id: Uuid): Promise<void>;
  /** By name, in the order of code points. */
  list(): Promise<readonly Namespace[]>;
  /**
   * Opens the engine of a namespace, and makes its pack or tables unless that was done.
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
 * A namespace by its name; a new one is registered before its memory is made.
 * @throws SvcError invalid_argument for a name that none can have; not_found unless it may be made
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
