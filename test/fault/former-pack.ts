import { createRandom, sentence } from "../../scripts/bench/sentences.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import type { EmbeddingIdentity } from "../../src/ports/models.ts";
import { at, put } from "../contract/samples.ts";
import { openSqlitePack } from "../contract/sqlite-pack.ts";

/** A model of other vectors than the program's own. */
export const FORMER: EmbeddingIdentity = { model: "former", version: "1", dimension: 16 };

/** Makes a pack file with `count` memories of the owner `_cli`, whose vectors are of another model. */
export async function makeFormerPack(path: string, count: number): Promise<void> {
  const store = await openSqlitePack({ layout: { kind: "file", path } }, { embedding: FORMER });
  const random = createRandom(3);
  const vector = new Float32Array(FORMER.dimension).fill(0.25);
  await put(
    store,
    ...Array.from({ length: count }, (_, second) => ({
      userId: "_cli",
      content: sentence(random, second),
      sessionId: second % 3 === 0 ? "s" : undefined,
      updatedAt: at(second),
      // Made in the past: with an end of retention they would be archived under the hands of a test.
      ttlDays: undefined,
      second,
      vector,
    })),
  );
  await store.close();
}

/** How far the rebuild of a pack file has come. */
export type Progress = {
  /** Vectors that wait to be put in place. */
  readonly staged: number;
  /** Vectors in place, by model. */
  readonly models: Readonly<Record<string, number>>;
  /** The model of which the manifest speaks. */
  readonly model: string;
};

/** Looks into a pack file that another process may be rebuilding. */
export function progressOf(path: string): Progress {
  const database = openDatabase({
    layout: { kind: "file", path },
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 5000,
  });
  try {
    return database.transaction(() => {
      const staged = database
        .query<{ n: number }, []>("SELECT count(*) AS n FROM vector_staging")
        .get();
      const models = database
        .query<{ model: string; n: number }, []>(
          "SELECT model, count(*) AS n FROM vector_model JOIN vectors ON revision IS NOT NULL GROUP BY 1",
        )
        .all();
      const manifest = database
        .query<{ embedding_model: string }, []>("SELECT embedding_model FROM pack_manifest")
        .get();
      return {
        staged: staged?.n ?? 0,
        models: Object.fromEntries(models.map(({ model, n }) => [model, n])),
        model: manifest?.embedding_model ?? "",
      };
    })();
  } finally {
    database.close();
  }
}
