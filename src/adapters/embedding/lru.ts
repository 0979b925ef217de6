/** The `capacity` most recently used entries. */
export type Lru<V> = {
  /** The value, which becomes the most recent one. */
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** Deletes all keys that begin so. */
  deleteAll(prefix: string): void;
};

/** An empty cache of at most `capacity` entries. */
export function createLru<V>(capacity: number): Lru<V> {
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
