import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { openConnection } from "../../../../src/adapters/postgres/connection/open-connection.ts";
import {
  ResidentVectors,
  type VectorReads,
} from "../../../../src/adapters/postgres/search/resident-vectors.ts";
import { searchVectors } from "../../../../src/adapters/postgres/search/search-vectors.ts";
import { everythingOf } from "../../../../src/domain/candidate-filter.ts";
import type { MemoryNode } from "../../../../src/domain/node.ts";
import { postgresPlace } from "../../../contract/postgres-place.ts";
import { at, DIMENSION, type Memory, put, unit } from "../../../contract/samples.ts";
import { retire } from "../../../contract/store-change.ts";
import { leftOut } from "../../../left-out.ts";
import { NO_POSTGRES } from "../../../postgres/databases.ts";

const vector = fc
  .array(fc.integer({ min: -99, max: 99 }), { minLength: DIMENSION, maxLength: DIMENSION })
  .map((numbers) => unit(1, ...numbers.slice(1)));
const memory: fc.Arbitrary<Memory> = fc.record({
  vector,
  second: fc.nat(300),
  sessionId: fc.option(fc.constantFrom("one", "two"), { nil: undefined }),
  scope: fc.constantFrom("personal" as const, "agent" as const),
  userId: fc.constantFrom("ada", "ada", "ada", "bob"),
  ttlDays: fc.constantFrom(1, 400),
});
const ADA = everythingOf("ada");
const filters = fc.constantFrom(
  ADA,
  { ...ADA, scopes: ["agent" as const] },
  { ...ADA, aliveAt: at(86_400 * 30) },
  { ...ADA, knowledgeAt: at(20) },
  everythingOf("bob"),
  everythingOf("eve"),
);

if (NO_POSTGRES === undefined) {
  const place = postgresPlace();
  afterAll(() => place.remove());

  test("vectors in memory give what the server finds, whatever is written and retired meanwhile", async () => {
    const store = await place.open();
    const { embedding } = await store.manifest();
    const url = place.worker()[2] ?? "";
    const database = openConnection({
      ...JSON.parse(url),
      poolSize: 2,
      prepare: false,
      statementTimeoutMs: 60_000,
    });
    const resident = new ResidentVectors(20);
    const here: VectorReads = { database, embedding, resident };
    const there: VectorReads = { database, embedding, resident: new ResidentVectors() };
    try {
      const drawn = fc.sample(memory, { numRuns: 400, seed: 3 });
      const asked = fc.sample(
        fc.record({ vector, filter: filters, k: fc.integer({ min: 1, max: 60 }) }),
        {
          numRuns: 30,
          seed: 4,
        },
      );
      for (let from = 0; from < drawn.length; from += 100) {
        const nodes: readonly MemoryNode[] = await put(store, ...drawn.slice(from, from + 100));
        await retire(store, "archived", ...nodes.filter((_, index) => index % 9 === 4));
        for (const search of asked) {
          expect(await searchVectors(here, search)).toEqual([
            ...(await searchVectors(there, search)),
          ]);
        }
      }
      // Searches that overlap share the vectors.
      const twice = [...asked, ...asked];
      await put(store, ...drawn.slice(0, 5));
      const answers = await Promise.all(twice.map((search) => searchVectors(here, search)));
      for (const [index, search] of twice.entries()) {
        expect(answers[index]).toEqual([...(await searchVectors(there, search))]);
      }
      expect(resident.byteLength).toBeGreaterThan(0);
    } finally {
      await database.close();
      await store.close();
    }
  });
} else {
  test.skip(`vectors in memory give what the server finds${leftOut(NO_POSTGRES)}`, () => {});
}
