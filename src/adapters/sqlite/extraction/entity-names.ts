import type { Database } from "bun:sqlite";
import { nameKey } from "../../../domain/extraction/plan/context.ts";
import { ask } from "../connection/ask.ts";
import { ACTIVE } from "../write/turns.ts";

/** The names of the entities that a connection has seen. Neither a name nor a key ever changes; what else does is not in here. */
type Names = {
  /** Keys of nodes by name, ascending. */
  readonly keys: Map<string, number[]>;
  /** Up to which key the nodes were read. */
  upTo: number;
};

const NAMES = new WeakMap<Database, Names>();

type EntityRow = { readonly key: number; readonly content: string };

/**
 * Keys of entities by their names in the form of `nameKey`, of any owner, some of them no longer active. SQLite cannot compare
 * letters of all languages in any case, so the names are kept in memory: read once, and later only the new ones. They are not kept by
 * owner, who may change: the caller drops those of others. That takes a microsecond each, before or after a language model that takes
 * a thousand times as long, so that nobody can tell whether others have a name.
 */
export function entitiesNamed(database: Database, names: readonly string[]): readonly number[] {
  const known = NAMES.get(database);
  const seen = known ?? { keys: new Map<string, number[]>(), upTo: 0 };
  if (known === undefined) NAMES.set(database, seen);
  const upTo = ask<number>(database, "SELECT max(key) FROM nodes") ?? 0;
  if (upTo > seen.upTo) {
    for (const { key, content } of readEntities(database, seen.upTo)) {
      const name = nameKey(content);
      const keys = seen.keys.get(name);
      if (keys === undefined) seen.keys.set(name, [key]);
      else keys.push(key);
    }
    seen.upTo = upTo;
  }
  return names.flatMap((name) => seen.keys.get(name) ?? []);
}

function readEntities(database: Database, after: number): readonly EntityRow[] {
  // The index has all that is asked of active entities, the table what was written last.
  const from =
    after === 0
      ? `nodes INDEXED BY nodes_entities WHERE lifecycle_state IN ${ACTIVE} AND key > ?`
      : "nodes WHERE key > ?";
  return database
    .query<EntityRow, [number]>(`SELECT key, content FROM ${from} AND node_type = 'entity'`)
    .all(after);
}
