import { SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import { createLru } from "./lru.ts";

const CACHED_VECTORS = 512;

/** Turns one text into a vector. */
export type EmbedText = (text: string) => Promise<Float32Array>;

/**
 * Remembers the latest 512 vectors. Concurrent calls with equal texts share one computation, failures are not kept, and returned
 * arrays belong to the caller.
 * @param isClosed whether calls are refused with `engine_closed`
 */
export function remembering(embed: EmbedText, isClosed: () => boolean): EmbedText {
  const known = createLru<Promise<Float32Array>>(CACHED_VECTORS);
  return async (text) => {
    if (isClosed()) throw new SvcError("engine_closed", "the embedder was closed");
    const key = sha256Hex(text);
    let vector = known.get(key);
    if (vector === undefined) {
      vector = embed(text);
      known.set(key, vector);
      vector.catch(() => known.delete(key));
    }
    return (await vector).slice();
  };
}
