import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { Store } from "../../../ports/store/store.ts";
import type { Clock } from "../../../ports/system.ts";
import { isOfModel, requireModel } from "../../sql/settings.ts";
import type { Worker } from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKey } from "../owner-key.ts";
import { putParts, readTextsWithoutParts } from "./parts.ts";
import { ResidentVectors, type VectorReads } from "./resident-vectors.ts";
import { LengthsCache, searchText } from "./search-text.ts";
import {
  keptEntries,
  nearNodes,
  readCosines,
  readOwnVectors,
  searchVectors,
} from "./search-vectors.ts";

export function bindSearches({ database, embedding }: Parts) {
  const reads: VectorReads = { database, embedding, resident: new ResidentVectors() };
  const lengths = new LengthsCache();
  /** In one snapshot: otherwise another process could change the model between the check and the read. */
  const readVectors = <T>(userId: string, work: (sql: Sql) => Promise<T>): Promise<T> =>
    database.snapshot(userId, async (sql) => {
      const [, found] = await Promise.all([run(sql, requireModel(embedding)), work(sql)]);
      return found;
    });
  return {
    hasModel: (identity) => database.read(ALL_OWNERS, (sql) => run(sql, isOfModel(identity))),
    searchVectors: (vector, filter, k) => searchVectors(reads, { vector, filter, k }),
    nearNodes: (vector, question, choose) => nearNodes(reads, vector, question, choose),
    readyForNear: (userId) => database.read(userId, (sql) => run(sql, requireModel(embedding))),
    cosines: (vector, userId, keys) =>
      readVectors(userId, (sql) => readCosines(sql, vector, userId, keys)),
    ownVectors: (userId, keys) => readVectors(userId, (sql) => readOwnVectors(sql, userId, keys)),
    keptEntries: (userId, ids) => database.read(userId, (sql) => keptEntries(sql, userId, ids)),
    putParts: async (texts) => {
      for (const [userId, some] of Map.groupBy(texts, (text) => text.userId)) {
        await database.write(userId, async (sql) => {
          await run(sql, requireModel(embedding));
          await putParts(sql, ownerKey(userId), some);
        });
      }
    },
    textsWithoutParts: (bytes, limit) =>
      database.read(ALL_OWNERS, (sql) => readTextsWithoutParts(sql, bytes, limit)),
    searchText: (question, filter, k, others = []) =>
      searchText({ database, lengths }, { question, filter, k, others }),
  } satisfies Partial<Store<number>>;
}

export type PostgresStoreParts = {
  readonly database: Database;
  /** The model that the caller uses. */
  readonly embedding: EmbeddingIdentity;
  readonly clock: Clock;
  /** The clock for leases. Absent: the server's. */
  readonly leaseClock?: Clock | undefined;
};

/** Shared by all parts of a store. */
export type Parts = PostgresStoreParts & { readonly worker: Worker };
