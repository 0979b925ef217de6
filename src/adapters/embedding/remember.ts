import { SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { EmbedderUse } from "../../ports/embedder.ts";
import { createLru } from "./lru.ts";

const CACHED_VECTORS = 512;

/** Turns one text into a vector. */
export type EmbedText = (text: string) => Promise<Float32Array>;

type Counts = { -readonly [Name in keyof EmbedderUse]: EmbedderUse[Name] };

/** Counts for the questions and documents of one embedder. */
export function noUse(): Counts {
  return { asked: 0, computed: 0, failed: 0, seconds: 0 };
}

/**
 * Remembers the latest 512 vectors. Concurrent calls with equal texts share one computation, failures are not kept, and returned
 * arrays belong to the caller.
 * @param isClosed whether calls are refused with `engine_closed`
 * @param use where the calls are counted
 */
export function remembering(embed: EmbedText, isClosed: () => boolean, use: Counts): EmbedText {
  const known = createLru<Promise<Float32Array>>(CACHED_VECTORS);
  return async (text) => {
    if (isClosed()) throw new SvcError("engine_closed", "the embedder was closed");
    const key = sha256Hex(text);
    use.asked += 1;
    let vector = known.get(key);
    if (vector === undefined) {
      vector = counted(embed(text), use);
      known.set(key, vector);
      vector.catch(() => known.delete(key));
    }
    return (await vector).slice();
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
