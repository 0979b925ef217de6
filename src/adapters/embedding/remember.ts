import { SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Embedder, EmbedderUse } from "../../ports/models.ts";

const CACHED_VECTORS = 512;

export type EmbedText = (text: string) => Promise<Float32Array>;

type Remembering = {
  readonly embed: Embedder["embedDocument"];
  readonly forget: (of: string) => void;
};

type Counts = { -readonly [Name in keyof EmbedderUse]: EmbedderUse[Name] };

export function noUse(): Counts {
  return { asked: 0, computed: 0, failed: 0, seconds: 0 };
}

/**
 * Caches the latest 512 vectors, per owner: the speed of a call reveals nothing about other owners' texts. Concurrent calls of one owner
 * with equal texts share one computation, failures are not cached, and returned arrays belong to the caller.
 * @param isClosed whether calls are rejected with `engine_closed`
 * @param use where the calls are counted
 */
export function remembering(embed: EmbedText, isClosed: () => boolean, use: Counts): Remembering {
  const known = createLru<Promise<Float32Array>>(CACHED_VECTORS);
  return {
    embed: async (text, of) => {
      if (isClosed()) throw new SvcError("engine_closed", "the embedder was closed");
      use.asked += 1;
      if (of === undefined) return await counted(embed(text), use);
      const key = `${sha256Hex(of)} ${sha256Hex(text)}`;
      let vector = known.get(key);
      if (vector === undefined) {
        vector = counted(embed(text), use);
        known.set(key, vector);
        vector.catch(() => known.delete(key));
      }
      return (await vector).slice();
    },
    forget: (of) => known.deleteAll(`${sha256Hex(of)} `),
  };
}

async function counted(vector: Promise<Float32Array>, use: Counts): Promise<Float32Array> {
  use.computed += 1;
  const started = performance.now();
  try {
    return await vector;
  } catch (error) {
    use.failed += 1;
    throw error;
  } finally {
    use.seconds += (performance.now() - started) / 1000;
  }
}

/** The `capacity` most recently used entries. */
type Lru<V> = {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** Deletes all keys with this prefix. */
  deleteAll(prefix: string): void;
};

function createLru<V>(capacity: number): Lru<V> {
  // A Map iterates in insertion order: the first key is the least recently used.
  const entries = new Map<string, V>();
  return {
    get: (key) => {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set: (key, value) => {
      entries.delete(key);
      entries.set(key, value);
      const oldest = entries.keys().next();
      if (entries.size > capacity && oldest.done !== true) entries.delete(oldest.value);
    },
    delete: (key) => {
      entries.delete(key);
    },
    deleteAll: (prefix) => {
      for (const key of entries.keys()) if (key.startsWith(prefix)) entries.delete(key);
    },
  };
}

/** A unit vector. @throws RangeError if it is zero, or has a number that is not finite */
export function unitLength(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  const norm = Math.sqrt(sum);
  if (!Number.isFinite(norm) || norm === 0) throw new RangeError("the model gave no finite vector");
  return vector.map((value) => value / norm);
}
