import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  type Bounds,
  type Kernel,
  loadKernel,
  type Rows,
} from "../../../src/adapters/native/kernel.ts";
import { kernelOn } from "../../../src/adapters/sqlite/connection/kernel-on.ts";
import {
  BOUND,
  COLUMN_WEIGHTS,
  raisedBound,
  weightedFrequency,
} from "../../../src/domain/search/bm25.ts";
import { compileDriver, whyNoSanitizers } from "./sanitized.ts";

function kernel(): Kernel {
  const loaded = loadKernel();
  if (loaded === undefined) throw new Error("the search library was not compiled");
  return loaded;
}

function rowsFor(vectors: Float32Array, dimension: number, mean: Float32Array): Rows {
  const count = vectors.length / dimension;
  return {
    mean,
    rows: new Int8Array(vectors.length),
    scales: new Float32Array(count),
    errors: new Float32Array(count),
    count,
    dimension,
  };
}

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

/** A dimension, vectors of it with some direction, and a question. */
const collections = fc.integer({ min: 1, max: 70 }).chain((dimension) => {
  const vector = fc
    .array(fc.float({ min: -9, max: 9, noNaN: true }), {
      minLength: dimension,
      maxLength: dimension,
    })
    .filter((values) => values.some((value) => Math.abs(value) > 1e-3));
  return fc.record({
    vectors: fc.array(vector, { minLength: 1, maxLength: 40 }),
    question: vector,
    mean: vector,
  });
});

describe("signatures", () => {
  const bitsOf = (row: ArrayLike<number>): string =>
    Array.from(row, (value) => (value > 0 ? "1" : "0")).join("");
  const agreement = (a: string, b: string): number =>
    [...a].filter((bit, index) => bit === b[index]).length;
  const rowsOf = fc.integer({ min: 1, max: 200 }).chain((dimension) => {
    const row = fc.array(fc.integer({ min: -2, max: 2 }), {
      minLength: dimension,
      maxLength: dimension,
    });
    return fc.record({
      rows: fc.array(row, { minLength: 1, maxLength: 60 }),
      question: row,
      wanted: fc.integer({ min: 1, max: 70 }),
    });
  });

  test("find the rows with the most signs in common, and all that share the last place", () => {
    fc.assert(
      fc.property(rowsOf, ({ rows, question, wanted }) => {
        const dimension = question.length;
        const words = Math.ceil(dimension / 64);
        const signed = (values: readonly number[][]): BigUint64Array => {
          const into = new BigUint64Array(values.length * words);
          kernel().sign(Int8Array.from(values.flat()), dimension, into);
          return into;
        };
        const room = {
          agreements: new Uint16Array(rows.length),
          found: new Int32Array(rows.length),
        };
        const found = kernel().alike(signed(rows), signed([question]), wanted, room);

        const same = rows.map((row) => agreement(bitsOf(row), bitsOf(question)));
        const least = same.toSorted((a, b) => b - a)[Math.min(wanted, rows.length) - 1] ?? 0;
        expect([...found]).toEqual(same.flatMap((count, index) => (count >= least ? [index] : [])));
      }),
      { numRuns: 300, seed: 5 },
    );
  });

  test("lead to the same cosines of some rows as of all", () => {
    const dimension = 70;
    const vectors = Float32Array.from({ length: 30 * dimension }, (_, i) => Math.sin(i * i));
    const mean = new Float32Array(dimension);
    const rows = rowsFor(vectors, dimension, mean);
    expect(kernel().quantise(vectors, rows, 0)).toBe(30);
    const question = kernel().question(vectors.subarray(0, dimension), mean);
    if (question === undefined) throw new Error("the question has a direction");
    const all = new Float32Array(30);
    kernel().score(rows, question, all);
    const positions = Int32Array.of(29, 0, 7);
    const some = new Float32Array(3);
    kernel().scoreSome(rows, positions, question, some);
    expect([...some]).toEqual([...positions].map((position) => all[position] ?? Number.NaN));
  });
});

describe("rows of bytes", () => {
  test("give cosines that are off by no more than they say, whatever mean is taken off", () => {
    fc.assert(
      fc.property(collections, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
        const dimension = given.question.length;
        const all = Float32Array.from(given.vectors.flat());
        const question = Float32Array.from(given.question);
        const length = Math.hypot(...given.mean);
        const mean = Float32Array.from(given.mean, (value) => (share * value) / length);
        const rows = rowsFor(all, dimension, mean);

        expect(kernel().quantise(all, rows, 0)).toBe(rows.count);
        const asked = kernel().question(question, mean);
        const scores = new Float32Array(rows.count);
        if (asked === undefined) throw new Error("the question has a direction");
        kernel().score(rows, asked, scores);

        for (const [index, score] of scores.entries()) {
          const exact = cosine(all.subarray(index * dimension, (index + 1) * dimension), question);
          const bound = (rows.errors[index] ?? 0) * (1 + asked.error) + 2 * asked.error + 1e-5;
          expect(Math.abs(score - exact)).toBeLessThanOrEqual(bound);
          expect(rows.errors[index]).toBeLessThan(0.02 * Math.sqrt(dimension) + 0.02);
        }
      }),
      { numRuns: 300, seed: 5 },
    );
  });

  test.each([
    { name: "only zeros", value: 0 },
    { name: "something that is no number", value: Number.NaN },
    { name: "something infinite", value: Number.POSITIVE_INFINITY },
  ])("are not made of $name", ({ value }) => {
    const vectors = new Float32Array([1, 2, value, value, 3, 4]);
    const mean = new Float32Array(2);
    const rows = rowsFor(vectors, 2, mean);

    expect(kernel().quantise(vectors, rows, 0)).toBe(1);
    expect(kernel().question(vectors.subarray(2, 4), mean)).toBeUndefined();
  });
});

describe("a selection", () => {
  test("holds every row that its error lets be among the best, and none that cannot be", () => {
    const scored = fc.array(
      fc.record({
        score: fc.float({ min: -1, max: 1, noNaN: true }),
        error: fc.float({ min: 0, max: Math.fround(0.3), noNaN: true }),
      }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(scored, fc.integer({ min: 1, max: 70 }), (rows, wanted) => {
        const scores = Float32Array.from(rows, ({ score }) => score);
        const errors = Float32Array.from(rows, ({ error }) => error);
        const bounds = { slack: 0.25, count: rows.length, wanted };

        const { found, threshold } = kernel().select(scores, errors, bounds);

        const errorOf = (index: number) => 0.25 + 1.25 * (errors[index] ?? 0);
        const least = [...scores.keys()].map((index) => (scores[index] ?? 0) - errorOf(index));
        const expected =
          wanted >= rows.length
            ? Number.NEGATIVE_INFINITY
            : (least.toSorted((a, b) => b - a)[wanted - 1] ?? 0);
        expect(threshold).toBe(expected);
        expect([...found]).toEqual(
          [...scores.keys()].filter((index) => (scores[index] ?? 0) + errorOf(index) >= expected),
        );
      }),
      { numRuns: 300, seed: 6 },
    );
  });
});

describe("joined bounds", () => {
  test("add up what each word lets a document reach", () => {
    const start = { keys: new Float64Array([1, 5]), most: new Float32Array([0.5, 2]) };
    const word = { keys: new Float64Array([0, 5, 9]), frequencies: new Float32Array([1, 3, 1]) };

    const joined = kernel().join(start, word, { rarity: 2, growth: 2, least: 1 });

    expect([...joined.keys]).toEqual([0, 1, 5, 9]);
    expect([...joined.most].map((value) => Math.round(value * 1e4) / 1e4)).toEqual([2, 0.5, 5, 2]);
    for (const [index, least] of [2, 0.5, 5, 2].entries()) {
      expect(joined.most[index]).toBeGreaterThanOrEqual(least);
    }
  });
});

describe("BM25 in the library", () => {
  test("bounds documents bit for bit as the rule of the domain does", () => {
    const word = fc.record({
      rarity: fc.double({ min: 1e-6, max: 20, noNaN: true }),
      frequencies: fc.dictionary(
        fc.integer({ min: 1, max: 60 }).map(String),
        fc.integer({ min: 1, max: 400 }),
      ),
    });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 8 }), (words) => {
        let joined: Bounds = { keys: new Float64Array(0), most: new Float32Array(0) };
        const expected = new Map<number, number>();
        for (const { rarity, frequencies } of words) {
          // An object lists such names as numbers, in ascending order.
          const keys = Object.keys(frequencies).map(Number);
          const halves = Object.values(frequencies).map((count) => count / 2);
          const postings = {
            keys: Float64Array.from(keys),
            frequencies: Float32Array.from(halves),
          };
          joined = kernel().join(joined, postings, { rarity, ...BOUND });
          for (const [index, key] of keys.entries()) {
            const bound = expected.get(key) ?? 0;
            expected.set(key, raisedBound(bound, rarity, halves[index] ?? 0));
          }
        }

        expect(new Map([...joined.keys].map((key, index) => [key, joined.most[index]]))).toEqual(
          new Map([...expected].sort(([a], [b]) => a - b)),
        );
      }),
      { numRuns: 500, seed: 8 },
    );
  });

  test("weighs the occurrences in each column bit for bit as the rule of the domain does", () => {
    const count = fc.integer({ min: 0, max: 9 });
    const documents = fc.array(fc.record({ own: count, previous: count, next: count }), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(documents, (given) => {
        using database = new Database(":memory:");
        expect(kernelOn(database)).toBeDefined();
        database.run("CREATE VIRTUAL TABLE t USING fts5 (own, previous, next)");
        const insert = database.query(
          "INSERT INTO t (rowid, own, previous, next) VALUES (?, ?, ?, ?)",
        );
        for (const [index, { own, previous, next }] of given.entries()) {
          insert.run(
            index,
            ...[own, previous, next].map((times) => `other ${"word ".repeat(times)}`),
          );
        }
        const { own, previous, next } = COLUMN_WEIGHTS;
        const walk = database.query<unknown, number[]>(
          "SELECT 1 FROM t WHERE t MATCH 'word' AND svckernel_gather(t, -1, ?, ?, ?)",
        );

        const gathered = kernel().gather(() => walk.all(own, previous, next));

        const expected = given
          .map((document, key) => ({ key, frequency: weightedFrequency(document) }))
          .filter(({ frequency }) => frequency > 0);
        expect([...gathered.keys]).toEqual(expected.map(({ key }) => key));
        expect([...gathered.frequencies]).toEqual(expected.map(({ frequency }) => frequency));
      }),
      { numRuns: 50, seed: 8 },
    );
  });
});

describe("lists of words read beside FTS5", () => {
  const WORDS = ["a", "ab", "abc", "b", "running", "words", "Zürich", "茶", "2024", "z"];
  const [LOW, HIGH, MASK] = [0, 2 ** 50, 2 ** 50 - 1];
  const columns = "lexical_documents, ?, ?, ?, ?, 1, 0.5, 0.5";

  function openIndex(pageSize: number): Database {
    const database = new Database(":memory:");
    expect(kernelOn(database)).toBeDefined();
    database.run(
      `CREATE VIRTUAL TABLE lexical_documents USING fts5 (own, previous, next, content='', contentless_delete=1,
         tokenize="porter unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc'")`,
    );
    database.run(
      `INSERT INTO lexical_documents (lexical_documents, rank) VALUES ('pgsz', ${pageSize})`,
    );
    return database;
  }

  function listsOf(database: Database, words: readonly string[], low = LOW, high = HIGH) {
    const read = database.query<{ done: number }, (string | number)[]>(
      `SELECT svckernel_lists(${columns}) AS done FROM lexical_documents LIMIT 1`,
    );
    return kernel()
      .lists(words.length, () => read.get(words.join("\n"), low, high, MASK)?.done === 1)
      ?.map(({ keys, frequencies }) => ({ keys: [...keys], frequencies: [...frequencies] }));
  }

  function walked(database: Database, word: string, low = LOW, high = HIGH) {
    const walk = database.query(
      `SELECT 1 FROM lexical_documents WHERE lexical_documents MATCH ? AND rowid BETWEEN ? AND ?
         AND svckernel_gather(lexical_documents, ?, 1, 0.5, 0.5)`,
    );
    const { keys, frequencies } = kernel().gather(() => walk.all(`"${word}"`, low, high, MASK));
    return { keys: [...keys], frequencies: [...frequencies] };
  }

  const text = fc
    .array(fc.constantFrom(...WORDS), { maxLength: 40 })
    .map((words) => words.join(" "));
  const change = fc.record({
    row: fc.oneof(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 0, max: 20 }).map((key) => 2 ** 40 + key),
      fc.integer({ min: 0, max: 9 }).map((key) => 2 ** 33 + key),
    ),
    kind: fc.constantFrom("put", "put", "put", "remove", "merge", "optimize"),
    texts: fc.tuple(text, text, text),
  });

  type Change = { readonly row: number; readonly kind: string; readonly texts: readonly string[] };

  function apply(database: Database, { row, kind, texts }: Change) {
    if (kind === "put") {
      database
        .query(
          "INSERT OR REPLACE INTO lexical_documents (rowid, own, previous, next) VALUES (?, ?, ?, ?)",
        )
        .run(row, ...texts);
    } else if (kind === "remove") {
      database.query("DELETE FROM lexical_documents WHERE rowid = ?").run(row);
    } else {
      const rank = kind === "merge" ? ", rank) VALUES ('merge', -4)" : ") VALUES ('optimize')";
      database.run(`INSERT INTO lexical_documents (lexical_documents${rank}`);
    }
  }

  test("are FTS5's own after any changes, on pages of any size", () => {
    const runs = fc.record({
      pageSize: fc.constantFrom(32, 64, 200, 4050),
      changes: fc.array(change, { minLength: 1, maxLength: 120 }),
      perCommit: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(runs, ({ pageSize, changes, perCommit }) => {
        using database = openIndex(pageSize);
        for (let from = 0; from < changes.length; from += perCommit) {
          database.transaction(() => {
            for (const one of changes.slice(from, from + perCommit)) apply(database, one);
          })();
        }
        const rows = database.query("SELECT 1 FROM lexical_documents_docsize").all().length;
        for (const [low, high] of [
          [LOW, HIGH],
          [20, 2 ** 35],
          [2 ** 40, 2 ** 41],
        ] as const) {
          const found = listsOf(database, [...WORDS, "nothing"], low, high);
          if (rows === 0) continue;
          expect(found).toEqual(
            [...WORDS, "nothing"].map((word) => walked(database, word, low, high)),
          );
        }
      }),
      { numRuns: 150, seed: 21 },
    );
  });

  test("go over many pages", () => {
    using database = openIndex(64);
    database.transaction(() => {
      for (let row = 1; row <= 3000; row += 1) {
        apply(database, { row, kind: "put", texts: [`ab ${"b ".repeat(row % 90)}`, "z", "ab"] });
      }
    })();
    const words = ["ab", "b", "z"];
    expect(listsOf(database, words)).toEqual(words.map((word) => walked(database, word)));
  });

  test("are left to FTS5 where a part claims more pages of deletions than there can be", () => {
    using sound = openIndex(4050);
    apply(sound, { row: 1, kind: "put", texts: ["ab", "", ""] });
    apply(sound, { row: 2, kind: "put", texts: ["ab", "", ""] });
    const { block } = sound
      .query<{ block: Uint8Array }, []>("SELECT block FROM lexical_documents_data WHERE id = 10")
      .get()!;
    const damaged = block.slice();
    // Levels, parts, writes; a level: merging, parts; its first part, whose fifth field is taken for three bytes. The second part goes.
    const [parts, inLevel, deadPages] = [9, 12, 18];
    expect([block[parts], block[inLevel], block[deadPages]]).toEqual([2, 2, 0]);
    damaged.set([1], parts);
    damaged.set([1], inLevel);
    damaged.set([0x9f, 0xff, 0x7f], deadPages);
    const bytes = sound.serialize();
    const at = bytes.indexOf(Buffer.from(block));
    bytes.set(damaged, at);
    using database = Database.deserialize(bytes);
    expect(kernelOn(database)).toBeDefined();
    expect(listsOf(sound, ["ab"])).toBeDefined();
    expect(listsOf(database, ["ab"])).toBeUndefined();
  });

  test("are left to FTS5 inside of a transaction that has written, and for what is not one word", () => {
    using database = openIndex(4050);
    apply(database, { row: 1, kind: "put", texts: ["ab", "", ""] });
    expect(listsOf(database, ["ab"])).toBeDefined();
    expect(listsOf(database, ["ab!b"])).toBeUndefined();
    database.run("BEGIN");
    apply(database, { row: 2, kind: "put", texts: ["ab", "", ""] });
    expect(listsOf(database, ["ab"])).toBeUndefined();
    database.run("ROLLBACK");
    expect(listsOf(database, ["ab"])).toEqual([{ keys: [1], frequencies: [1] }]);
  });
});

const lacking = whyNoSanitizers();
const leftOut = lacking === undefined ? "" : `: left out, ${lacking}`;

test.skipIf(lacking !== undefined)(
  `no function reads or writes beside its arrays${leftOut}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-kernel-"));
    try {
      const program = join(folder, "rank-driver");
      const source = join(import.meta.dir, "kernel/rank-driver.c");
      compileDriver({ library: "svckernel", source }, program);
      const child = Bun.spawnSync([program]);
      expect(`${child.stdout}${child.stderr}`.trim()).toBe("sound");
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
