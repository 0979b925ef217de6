import type { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { Codes } from "../../../src/adapters/native/codes.ts";
import { loadKernel, Slab } from "../../../src/adapters/native/kernel.ts";
import { kernelOn, withoutKernel } from "../../../src/adapters/sqlite/connection/kernel-on.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { promising, searchVectors } from "../../../src/adapters/sqlite/read/search-vectors.ts";
import { makeAllCodes } from "../../../src/adapters/sqlite/vectors/codes.ts";
import { exactCosines } from "../../../src/adapters/sqlite/vectors/exact.ts";
import { ResidentVectors } from "../../../src/adapters/sqlite/vectors/resident.ts";
import type { CandidateFilter } from "../../../src/domain/candidate-filter.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { Hit } from "../../../src/ports/store/search-index.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { type Memory, put, unit } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  MASTER_KEY,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { retire } from "../../contract/store-change.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { nodeKey } from "../../node-keys.ts";
import { useFolders } from "./folder.ts";
import { compact } from "./whole-packs.ts";

const { folder, open } = useFolders();

const PLACES: readonly { name: string; packIn: (folder: string) => SqlitePack }[] = [
  { name: "a pack of one file", packIn: filePack },
  { name: "an encrypted directory pack", packIn: (place) => encrypted(directoryPack(place)) },
];

/** A connection of its own to a pack. */
function connect(pack: SqlitePack): Database {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  return openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
}

type Question = {
  readonly vector: Float32Array;
  readonly filter?: CandidateFilter;
  readonly k: number;
};

function ask(
  database: Database,
  { vector, filter = ANYTHING, k }: Question,
  with_?: ResidentVectors,
) {
  return database.transaction((): Hit<number>[] =>
    searchVectors(database, vector, filter, k, with_),
  )();
}

/** Vectors in memory from which an owner has asked before. */
function warm(database: Database, userId = "ada"): ResidentVectors {
  const resident = new ResidentVectors();
  for (let count = 0; count < 2; count += 1) {
    ask(database, { vector: unit(1), filter: { ...ANYTHING, userId }, k: 1 }, resident);
  }
  return resident;
}

const direction = fc
  .array(fc.integer({ min: -9, max: 9 }), { minLength: 8, maxLength: 8 })
  .filter((numbers) => numbers.some((value) => value !== 0))
  .map((numbers) => unit(...numbers));

/** Memories around few directions, many of them equal, of two owners and scopes. */
function clustered(count: number): Memory[] {
  const centres = fc.sample(direction, { numRuns: 7, seed: 3 });
  const offsets = fc.sample(fc.integer({ min: -3, max: 3 }), { numRuns: count, seed: 4 });
  return offsets.map((offset, index) => {
    const centre = centres[index % centres.length] ?? unit(1);
    const moved = centre.map((value, at) => value + (at === index % 8 ? offset / 1000 : 0));
    return {
      vector: unit(...moved),
      userId: index % 5 === 0 ? "bob" : "ada",
      scope: index % 11 === 0 ? ("agent" as const) : ("personal" as const),
    };
  });
}

/** Retires memories, a thousand in each change. */
async function retireInGroups(store: Store, nodes: readonly MemoryNode[]): Promise<void> {
  for (let from = 0; from < nodes.length; from += 1000) {
    await retire(store, "archived", ...nodes.slice(from, from + 1000));
  }
}

describe.each(PLACES)("vectors in memory: $name", ({ packIn }) => {
  test("find exactly what the index finds, scores and ties included", async () => {
    const pack = packIn(folder());
    const store = await open(pack, { shareEncrypted: true });
    await put(store, ...clustered(700));
    const database = connect(pack);
    const resident = warm(database);
    const filters = fc.constantFrom<CandidateFilter>(
      ANYTHING,
      { ...ANYTHING, scopes: ["personal"] },
      { ...ANYTHING, scopes: ["agent"] },
      { ...ANYTHING, scopes: ["project"] },
    );

    fc.assert(
      fc.property(direction, filters, fc.integer({ min: 1, max: 90 }), (vector, filter, k) => {
        const question = { vector, filter, k };
        expect(ask(database, question, resident)).toEqual(ask(database, question));
      }),
      { numRuns: 80, seed: 8 },
    );
    expect(resident.byteLength).toBeGreaterThan(0);
    database.close();
  });

  test("follow what other connections store, replace and remove", async () => {
    const pack = packIn(folder());
    const store = await open(pack, { shareEncrypted: true });
    await put(store, { vector: unit(1), content: "first" });
    const database = connect(pack);
    const resident = warm(database);
    const scores = () =>
      ask(database, { vector: unit(1), k: 9 }, resident).map(
        ({ score }) => Math.round(score * 1e4) / 1e4,
      );
    expect(scores()).toEqual([1]);

    await put(store, { vector: unit(3, 4), content: "second" });
    expect(scores()).toEqual([1, 0.6]);

    const plan = await store.rebuild.begin(false);
    const [hit] = await store.searchVectors(unit(1), ANYTHING, 1);
    const replaced = { key: hit?.key ?? nodeKey(0), vector: unit(0, 1), contentHash: "another" };
    await store.rebuild.put(plan, [replaced]);
    await store.rebuild.end("finished");
    expect(scores()).toEqual([0.6, 0]);

    const remover = connect(pack);
    remover.query("DELETE FROM vectors WHERE node_key <> ?").run(hit?.key ?? 0);
    remover.close();
    expect(scores()).toEqual([0]);
    expect(scores()).toEqual(ask(database, { vector: unit(1), k: 9 }).map(({ score }) => score));
    database.close();
  });
});

/** Lets the pack keep codes of all owners, as it does of large ones. */
function coded(database: Database): void {
  database.transaction(() => makeAllCodes(database, 1)).immediate();
}

/** The nodes of the first owner of which the pack has a code, by the bits at the head of each row. */
function keysWithCodes(database: Database): readonly number[] {
  const rows = database
    .query<{ block: number; codes: Uint8Array }, []>(
      "SELECT block, codes FROM vector_codes WHERE owner = 1 AND block >= 0 ORDER BY block",
    )
    .all();
  return rows.flatMap(({ block, codes }) =>
    Array.from({ length: 16 }, (_, place) => place)
      .filter((place) => (((codes[place >> 3] ?? 0) >> (place & 7)) & 1) === 1)
      .map((place) => block * 16 + place),
  );
}

function vectorKeys(database: Database): readonly number[] {
  const keys =
    "SELECT node_key AS key FROM vectors WHERE owner = 1 AND revision IS NOT NULL ORDER BY node_key";
  return database
    .query<{ key: number }, []>(keys)
    .all()
    .map(({ key }) => key);
}

describe.each(PLACES)("codes of vectors: $name", ({ packIn }) => {
  const questions = fc.sample(direction, { numRuns: 12, seed: 9 });
  const filters: CandidateFilter[] = [ANYTHING, { ...ANYTHING, scopes: ["agent"] }];

  test("find what the index finds, in memory or in the pack, after every change", async () => {
    const pack = packIn(folder());
    const store = await open(pack, { shareEncrypted: true });
    const nodes = await put(store, ...clustered(300));
    const database = connect(pack);
    coded(database);
    const codesMax = 24 * 100;
    const residents = [new ResidentVectors({ exact: 0 })];
    residents.push(new ResidentVectors({ exact: 0, memory: codesMax }));
    const agree = () => {
      for (const vector of questions) {
        for (const filter of filters) {
          const question = { vector, filter, k: 40 };
          for (const resident of residents) {
            expect(ask(database, question, resident)).toEqual(ask(database, question));
          }
        }
      }
      expect(residents[0]?.vectorsOf(database, 1, 8)).toBeInstanceOf(Codes);
      expect(residents[1]?.byteLength).toBeLessThanOrEqual(codesMax);
    };
    agree();
    await put(store, ...clustered(90));
    agree();
    const plan = await store.rebuild.begin(false);
    const [hit] = await store.searchVectors(unit(1), ANYTHING, 1);
    const replaced = { key: hit?.key ?? nodeKey(0), vector: unit(0, 1), contentHash: "another" };
    await store.rebuild.put(plan, [replaced]);
    agree();
    await retire(store, "archived", ...nodes.filter((_, index) => index % 3 === 0));
    agree();
    // A new process reads them as they are in the pack, and all of them.
    residents[0] = new ResidentVectors({ exact: 0 });
    agree();
    const kept = "SELECT count(*) AS n FROM vectors WHERE owner = 1 AND revision IS NOT NULL";
    expect(residents[0]?.vectorsOf(database, 1, 8)?.count).toBe(
      database.query<{ n: number }, []>(kept).get()?.n ?? -1,
    );
    database.close();
  });

  test("keep nothing of an erased memory, and are those of the others after compacting", async () => {
    const pack = packIn(folder());
    const store = await open(pack, { shareEncrypted: true });
    const nodes = await put(store, ...clustered(60).map((one) => ({ ...one, userId: "ada" })));
    let database = connect(pack);
    coded(database);
    expect(keysWithCodes(database)).toHaveLength(60);
    const erased = nodes.filter((_, index) => index % 4 === 1);
    await store.erase(anErasure(erased));
    expect(await store.settleErasures(5000)).toBe(true);
    const left = keysWithCodes(database);
    expect(left).toEqual(vectorKeys(database));
    expect(left).toHaveLength(45);
    database.close();
    await store.close();

    await compact(pack);
    database = connect(pack);
    expect(keysWithCodes(database)).toEqual(vectorKeys(database));
    const resident = new ResidentVectors({ exact: 0 });
    expect(resident.vectorsOf(database, 1, 8)).toBeInstanceOf(Codes);
    for (const vector of questions) {
      const question = { vector, k: 20 };
      expect(ask(database, question, resident)).toEqual(ask(database, question));
    }
    database.close();
  });

  test("that are not those of all vectors are not used", async () => {
    const pack = packIn(folder());
    await put(await open(pack, { shareEncrypted: true }), ...clustered(300));
    const database = connect(pack);
    coded(database);
    database.run("DELETE FROM vector_codes WHERE block = 7");
    const resident = new ResidentVectors({ exact: 1000 });
    expect(resident.vectorsOf(database, 1, 8)).toBeUndefined();
    expect(resident.vectorsOf(database, 1, 8)).toBeInstanceOf(Slab);
    database.close();
  });
});

describe("codes that a build without codes has left behind", () => {
  const codesIn = (database: Database) =>
    database.query("SELECT owner, block, codes FROM vector_codes WHERE block >= -1").all();

  test.each([
    [
      "a vector replaced",
      "UPDATE vectors SET embedding = (SELECT embedding FROM vectors WHERE node_key = 8) WHERE node_key = 7",
    ],
    ["a vector removed", "DELETE FROM vectors WHERE node_key = 7"],
  ])("are noticed, and made anew by a question: %s", async (_, statement) => {
    const pack = filePack(folder());
    const first = await open(pack);
    await put(first, ...clustered(300).map((memory) => ({ ...memory, userId: "ada" })));
    await first.close();
    const database = connect(pack);
    coded(database);
    database.transaction(() => {
      database.run(statement);
      database.run("UPDATE vector_revision SET value = value + 1");
      database.run(
        "UPDATE vectors SET revision = (SELECT value FROM vector_revision) WHERE node_key = 7",
      );
    })();
    const stale = codesIn(database);
    const store = await open(pack, { vectorLimits: { memory: 2 ** 20, exact: 100 } });
    for (let count = 0; count < 2; count += 1) {
      const found: readonly Hit<number>[] = await store.searchVectors(unit(0, 1), ANYTHING, 20);
      expect(found).toEqual(ask(database, { vector: unit(0, 1), k: 20 }));
    }
    // Waits for the writes before it.
    await put(store, { userId: "bob" });
    const mended = codesIn(database);
    expect(mended).not.toEqual(stale);
    coded(database);
    const ofAda = (rows: unknown[]) =>
      rows.filter((row) => typeof row === "object" && Reflect.get(row ?? {}, "owner") === 1);
    expect(ofAda(mended)).toEqual(ofAda(codesIn(database)));
    database.close();
  });
});

test("codes are those of the vectors after kill -9 of the process that writes them", async () => {
  const pack = filePack(folder());
  const first = await open(pack);
  await put(first, ...clustered(100).map((memory) => ({ ...memory, userId: "ada" })));
  await first.close();
  const database = connect(pack);
  coded(database);
  database.close();
  for (const lines of [1, 3, 6]) {
    const writer = Bun.spawn([
      process.execPath,
      join(import.meta.dir, "codes-writer.ts"),
      JSON.stringify(pack),
      String(lines * 100_000),
    ]);
    let seen = "";
    for await (const chunk of writer.stdout) {
      seen += new TextDecoder().decode(chunk);
      if (seen.split("\n").length > lines) writer.kill("SIGKILL");
    }
    await writer.exited;
    const after = connect(pack);
    const resident = new ResidentVectors({ exact: 0 });
    const codes = resident.vectorsOf(after, 1, 8);
    expect(codes).toBeInstanceOf(Codes);
    const vectors = after
      .query<{ n: number }, []>("SELECT count(*) AS n FROM vectors WHERE revision IS NOT NULL")
      .get();
    expect(codes?.count).toBe(vectors?.n ?? -1);
    for (const vector of [unit(1), unit(1, 3, 2, 1)]) {
      expect(ask(after, { vector, k: 40 }, resident)).toEqual(ask(after, { vector, k: 40 }));
    }
    after.close();
  }
});

describe("codes of vectors", () => {
  test("of 5,000 find 99.5 % of the nearest 50", () => {
    const kernel = loadKernel();
    if (kernel === undefined) throw new Error("the search library was not compiled");
    const vectors = Array.from({ length: 5_000 }, (_, index) => scattered(index + 1));
    const mean = new Float32Array(384).fill(0.001);
    const codes = new Codes(kernel, { mean, limit: 0.05 }, 0);
    for (const [key, vector] of vectors.entries()) codes.put([key], vector);
    const found = Array.from({ length: 20 }, (_, index) => {
      const question = scattered(10_000 + index, vectors[index * 25]);
      const nearest = vectors
        .map((vector, key) => ({ key, score: cosine(vector, question) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, 50);
      const likely = codes.likely(question, 600).sort((a, b) => b.score - a.score);
      const first = likely
        .slice(0, 150)
        .map(({ key }) => ({ key, score: cosine(vectors[key] ?? question, question) }))
        .sort((a, b) => b.score - a.score);
      const compared = new Set([...first, ...promising(likely, first, 50)].map(({ key }) => key));
      return nearest.filter(({ key }) => compared.has(key)).length;
    });
    expect(found.reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(0.995 * 20 * 50);
  });

  test("change and leave by their keys", () => {
    const kernel = loadKernel();
    if (kernel === undefined) throw new Error("the search library was not compiled");
    const codes = new Codes(kernel, { mean: new Float32Array(8), limit: 0.3 }, 0);
    const keys = Array.from({ length: 200 }, (_, index) => index);
    const vectors = keys.map((key) => unit(...(key % 2 === 0 ? [1, 2] : [-1, 2])));
    codes.put(keys, Float32Array.from(vectors.flatMap((vector) => [...vector])));
    codes.put([4, 300], Float32Array.from([...unit(-1, -2), ...unit(-1, -2)]));
    const near = () =>
      codes
        .likely(unit(-1, -2), 2)
        .map(({ key }) => key)
        .sort((a, b) => a - b);
    expect(near()).toEqual([4, 300]);
    codes.remove([300, ...keys.filter((key) => key !== 4 && key !== 5)]);
    expect({ near: near(), count: codes.count }).toEqual({ near: [4, 5], count: 2 });
    codes.keepOnly(new Set([5]));
    expect(near()).toEqual([5]);
  });
});

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, left, right] = [0, 0, 0];
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    product += value * other;
    left += value * value;
    right += other * other;
  }
  return product / Math.sqrt(left * right);
}

/** A vector of 384 numbers from a seed; with `beside`, at a cosine of about 0.85 to that one. */
function scattered(seed: number, beside?: Float32Array): Float32Array {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return Float32Array.from({ length: 384 }, (_, index) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const value = state / 2 ** 32 - 0.5;
    return beside === undefined ? value : 0.6 * value + (beside[index] ?? 0);
  });
}

describe("near vectors", () => {
  test("of 5,000 are the nearest, with exact cosines, in 99 of 100 cases", () => {
    const kernel = loadKernel();
    if (kernel === undefined) throw new Error("the search library was not compiled");
    const slab = new Slab(kernel, 384, 0);
    const vectors = Array.from({ length: 5_000 }, (_, index) => scattered(index + 1));
    for (const [key, vector] of vectors.entries()) slab.append([key], vector);
    const nearest = Array.from({ length: 200 }, (_, index) => {
      const original = vectors[index * 25];
      return slab.nearby(scattered(10_000 + index, original), 8)?.[0]?.key === index * 25;
    });
    expect(nearest.filter(Boolean).length).toBeGreaterThanOrEqual(198);
    slab.remove([0, 25, 50]);
    const keysNear = (seed: number, row: number) =>
      slab.nearby(scattered(seed, vectors[row]), 8)?.map(({ key }) => key);
    expect(keysNear(10_001, 25)).not.toContain(25);
    expect(keysNear(10_003, 75)?.[0]).toBe(75);
  });
});

describe("vectors in memory", () => {
  test("are read on an owner's second question only", async () => {
    const pack = filePack(folder());
    await put(await open(pack), { vector: unit(1) }, { vector: unit(1), userId: "bob" });
    const database = connect(pack);
    const resident = new ResidentVectors();
    const sizes = [1, 2].map(() => {
      ask(database, { vector: unit(1), k: 1 }, resident);
      return resident.byteLength;
    });

    expect(sizes[0]).toBe(0);
    expect(sizes[1]).toBeGreaterThan(0);
    resident.clear();
    expect(resident.byteLength).toBe(0);
    database.close();
  });

  test("keep to their budget: the owner who has not asked for longest makes room", async () => {
    const pack = filePack(folder());
    const store = await open(pack);
    const owners = ["ada", "bob", "eve"];
    for (const userId of owners) {
      await put(store, ...Array.from({ length: 100 }, () => ({ vector: unit(1), userId })));
    }
    const database = connect(pack);
    const one = warm(database).byteLength;
    const resident = new ResidentVectors({ memory: 2 * one });
    for (const userId of [...owners, ...owners, "ada"]) {
      const question = { vector: unit(1), filter: { ...ANYTHING, userId }, k: 200 };
      expect(ask(database, question, resident)).toEqual(ask(database, question));
      expect(resident.byteLength).toBeLessThanOrEqual(2 * one);
    }
    const tiny = new ResidentVectors({ memory: 80 });
    for (let count = 0; count < 3; count += 1) {
      expect(ask(database, { vector: unit(1), k: 200 }, tiny)).toHaveLength(100);
    }
    expect(tiny.byteLength).toBe(0);
    database.close();
  });

  test("of a single owner keep to the budget too, also when there are ever more", async () => {
    const pack = filePack(folder());
    const store = await open(pack);
    const database = connect(pack);
    const resident = new ResidentVectors({ memory: 5000 });
    const sizes: number[] = [];
    for (let count = 0; count < 40; count += 1) {
      await put(store, ...clustered(10));
      const question = { vector: unit(1), k: 5 };
      expect(ask(database, question, resident)).toEqual(ask(database, question));
      sizes.push(resident.byteLength);
    }

    expect(Math.max(...sizes)).toBeLessThanOrEqual(5000);
    expect(Math.max(...sizes)).toBeGreaterThan(3000);
    expect(sizes.at(-1)).toBe(0);
    database.close();
  });

  test("read large owners as the index keeps them, and many changes at once", async () => {
    const pack = filePack(folder());
    const store = await open(pack);
    await put(store, ...clustered(200), ...clustered(6300));
    const database = connect(pack);
    const resident = warm(database);
    const agree = () => {
      for (const k of [1, 50]) {
        const question = { vector: unit(1, 2, 3), k };
        expect(ask(database, question, resident)).toEqual(ask(database, question));
      }
    };
    agree();
    await put(store, ...clustered(6400));
    agree();
    database.close();
  }, 120_000);

  test("meet thousands that another process has retired in three looks at most, and miss none that is left", async () => {
    const pack = filePack(folder());
    const [store, other] = [await open(pack), await open(pack)];
    const nodes = await put(store, ...clustered(6000));
    const database = connect(pack);
    const resident = warm(database);
    const compare = spyOn(Slab.prototype, "compare");
    try {
      for (const step of [
        { name: "one", gone: nodes.slice(0, 1) },
        { name: "most", gone: nodes.slice(1).filter((_, index) => index % 20 !== 0) },
        { name: "all", gone: nodes.slice(1).filter((_, index) => index % 20 === 0) },
      ]) {
        await retireInGroups(other, step.gone);
        for (const filter of [ANYTHING, { ...ANYTHING, scopes: ["agent" as const] }]) {
          for (const k of [1, 50, 400]) {
            const question = { vector: unit(1, 2, 3), filter, k };
            compare.mockClear();
            expect({ ...step, hits: ask(database, question, resident) }).toEqual({
              ...step,
              hits: ask(database, question),
            });
            expect(compare.mock.calls.length).toBeLessThanOrEqual(3);
          }
        }
      }
      expect(compare.mock.calls.length).toBeGreaterThan(0);
    } finally {
      compare.mockRestore();
      database.close();
    }
  }, 120_000);

  test("stay out of questions and vectors without a direction", async () => {
    const pack = filePack(folder());
    await put(await open(pack), { vector: unit(1) }, { vector: new Float32Array(8) });
    const database = connect(pack);
    const resident = warm(database);

    expect(resident.byteLength).toBe(0);
    expect(ask(database, { vector: unit(1), k: 1 }, resident)).toHaveLength(1);
    database.close();
  });

  test("are not held without the library, and cosines are the same to the last bit", async () => {
    const pack = filePack(folder());
    await put(await open(pack), ...clustered(60));
    const [database, plain] = [connect(pack), connect(pack)];
    withoutKernel(plain);
    const keys = Array.from({ length: 60 }, (_, index) => index + 1);
    const vector = unit(3, 1, 4, 1, 5);
    const byKey = (hits: Hit<number>[]) => hits.sort((a, b) => a.key - b.key);

    expect(kernelOn(plain)).toBeUndefined();
    expect(warm(plain).byteLength).toBe(0);
    const expected = byKey(exactCosines(plain, vector, 1, keys));
    expect(byKey(exactCosines(database, vector, 1, keys))).toEqual(expected);
    expect(expected.length).toBeGreaterThan(9);
    for (const each of [database, plain]) each.close();
  });
});
