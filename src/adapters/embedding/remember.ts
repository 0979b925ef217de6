import { SvcError } from "../../domain/errors.ts";
import { sha256Hex } from "../../lib/hashing.ts";
import type { Embedder, EmbedderUse } from "../../ports/models.ts";
import { createLru } from "./lru.ts";

const CACHED_VECTORS = 512;

/** Turns one text into a vector. */
export type EmbedText = (text: string) => Promise<Float32Array>;

type Remembering = {
  readonly embed: Embedder["embedDocument"];
  readonly forget: (of: string) => void;
};

type Counts = { -readonly [Name in keyof EmbedderUse]: EmbedderUse[Name] };

/** Counts for the questions and documents of one embedder. */
export function noUse(): Counts {
  return { asked: 0, computed: 0, failed: 0, seconds: 0 };
}

/**
 * Remembers the latest 512 vectors, each for its owner alone: how quick a call is tells nobody what others have. Concurrent calls of
 * one owner with equal texts share one computation, failures are not kept, and returned arrays belong to the caller.
 * @param isClosed whether calls are refused with `engine_closed`
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
