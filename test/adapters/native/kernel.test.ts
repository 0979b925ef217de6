import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type Kernel, loadKernel, type Rows } from "../../../src/adapters/native/kernel.ts";
import { kernelOn } from "../../../src/adapters/sqlite/connection/kernel-on.ts";
import {
  B,
  COLUMN_WEIGHTS,
  K1,
  share,
  weightedFrequency,
} from "../../../src/domain/search/bm25.ts";
import { lean } from "../../../src/domain/search/turns.ts";
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

describe("vectors that are searched", () => {
  const halves = (dimension: number) =>
    fc
      .array(fc.float({ min: -2, max: 2, noNaN: true }), {
        minLength: dimension,
        maxLength: dimension,
      })
      .map((numbers) => new Float16Array(numbers));
  const rows = fc.integer({ min: 1, max: 150 }).chain((dimension) =>
    fc.record({
      own: halves(dimension),
      previous: fc.option(halves(dimension)),
      next: fc.option(halves(dimension)),
      question: halves(dimension),
      weight: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  );

  test("are the mixed ones to the last bit, with their cosines", () => {
    const database = new Database(":memory:");
    if (kernelOn(database) === undefined) throw new Error("the search library was not compiled");
    const read = database.query<
      { vectors: Uint8Array; score: number | null },
      (number | Uint8Array | Float32Array | null)[]
    >(
      `SELECT svckernel_vectors(?1, ?2, ?3, ?4, ?5) AS vectors,
         (SELECT svckernel_cosine(?6, ?2, ?3, ?4, ?5)) AS score`,
    );
    fc.assert(
      fc.property(rows, ({ own, previous, next, question, weight }) => {
        const beside = [previous, next].map((half) => half && new Float32Array(half));
        const mixed = lean(
          new Float32Array(own),
          beside.map((vector) => vector ?? undefined),
          weight,
        );
        const asked = new Float32Array(question);
        const vectors = [own, previous, next].map(bytesOf);
        const row = read.get(own.length, weight, ...vectors, asked);
        expect(Buffer.from(row?.vectors ?? []).toHex()).toBe(Buffer.from(mixed.buffer).toHex());
        // A zero vector is like nothing.
        expect(row?.score).toBeCloseTo(cosine(asked, mixed) || 0, 6);
      }),
      { numRuns: 400, seed: 12 },
    );
    database.close();
  });

  test("of 32 bits are what is searched, and another dimension is an error", () => {
    const database = new Database(":memory:");
    kernelOn(database);
    const own = new Float32Array([3, 4]);
    const vectors = (dimension: number, own: Float32Array) =>
      database
        .query<{ vectors: Uint8Array }, [number, Float32Array]>(
          "SELECT svckernel_vectors(?, 0.5, ?, x'0000', NULL) AS vectors",
        )
        .get(dimension, own)?.vectors;
    expect(vectors(2, own)).toEqual(new Uint8Array(own.buffer));
    expect(() => vectors(3, own)).toThrow("another dimension");
    database.close();
  });
});

function bytesOf(numbers: Float16Array | null): Uint8Array | null {
  return numbers && new Uint8Array(numbers.buffer);
}

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

describe("words ranked beside FTS5", () => {
  const WORDS = ["a", "ab", "abc", "b", "running", "words", "Zürich", "茶", "2024", "z"];
  const [LOW, HIGH, MASK] = [0, 2 ** 50, 2 ** 50 - 1];
  const RULES = Float64Array.of(K1, B, 12.5);
  const WEIGHTS = Object.values(COLUMN_WEIGHTS).join(", ");
  const lists = (structure: string) =>
    `SELECT svckernel_lists(lexical_documents, ${structure}, ?, ${WEIGHTS}) AS done FROM lexical_documents LIMIT 1`;
  const READ = lists("(SELECT block FROM lexical_documents_data WHERE id = 10)");

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

  const numbers = (database: Database, sql: string, ...values: (number | Float64Array)[]) => {
    const { answer } = database.query<{ answer: Uint8Array }, typeof values>(sql).get(...values)!;
    return [...new Float64Array(answer.slice().buffer)];
  };

  /** How many documents hold each word, and the score of each that holds any; the words weigh 1, 2, 3 and so on. */
  function answerOf(
    database: Database,
    count: number,
    [low, high]: readonly [number, number] = [LOW, HIGH],
  ) {
    const holding = numbers(database, "SELECT svckernel_holding(?, ?) AS answer", low, high);
    const ranking = Float64Array.from({ length: 2 * count }, (_, at) =>
      at % 2 === 0 ? at / 2 : (at + 1) / 2,
    );
    const best = "SELECT svckernel_best(?, ?, ?, ?, ?, ?, ?) AS answer";
    const asked = [low, high, MASK, RULES, ranking] as const;
    const [found = 0, ...scored] = numbers(database, best, ...asked, 1e6, Float64Array.of());
    expect(scored).toHaveLength(2 * found);
    const [three = 0, ...first] = numbers(database, best, ...asked, 3, Float64Array.of());
    expect(three).toBe(Math.min(3, found));
    expect(first).toEqual(scored.slice(0, 6));
    return { holding, scored };
  }

  function read(database: Database, words: readonly string[]): boolean {
    const text = words.map((word) => (word === "" ? "" : `2${word}`)).join("\n");
    return database.query<{ done: number }, string>(READ).get(text)?.done === 1;
  }

  /** The same by FTS5, and the scores by the rule of the domain. */
  function walked(
    database: Database,
    words: readonly string[],
    [low, high]: readonly [number, number] = [LOW, HIGH],
  ) {
    const lengths = new Map(
      database
        .query<{ id: number; sz: Uint8Array }, []>("SELECT id, sz FROM lexical_documents_docsize")
        .all()
        .map(({ id, sz }) => [id, sz.reduce((sum, one) => sum + one, 0)]),
    );
    const scores = new Map<number, number>();
    const holding = words.map((word, at) => {
      const rows = database
        .query<{ rowid: number }, (string | number)[]>(
          "SELECT rowid FROM lexical_documents WHERE lexical_documents MATCH ? AND rowid BETWEEN ? AND ?",
        )
        .all(`"${word}"`, low, high);
      const inColumn = (row: number, column: string) =>
        instances.get(`${word} ${row} ${column}`) ?? 0;
      const instances = occurrences(database, word);
      for (const { rowid } of rows) {
        const frequency = weightedFrequency({
          own: inColumn(rowid, "own"),
          previous: inColumn(rowid, "previous"),
          next: inColumn(rowid, "next"),
        });
        const length = (lengths.get(rowid) ?? 0) / (RULES[2] ?? 1);
        scores.set(rowid, (scores.get(rowid) ?? 0) + (at + 1) * share(frequency, length));
      }
      return rows.length;
    });
    const scored = [...scores].sort(([a, left], [b, right]) => right - left || a - b).flat();
    return { holding, scored };
  }

  function occurrences(database: Database, word: string): ReadonlyMap<string, number> {
    database.run(
      "CREATE VIRTUAL TABLE IF NOT EXISTS temp.terms USING fts5vocab('main', 'lexical_documents', 'instance')",
    );
    const stem = { running: "run", words: "word", Zürich: "zürich" }[word] ?? word;
    const rows = database
      .query<{ doc: number; col: string; times: number }, string>(
        "SELECT doc, col, count(*) AS times FROM temp.terms WHERE term = ? GROUP BY doc, col",
      )
      .all(stem);
    return new Map(rows.map(({ doc, col, times }) => [`${word} ${doc} ${col}`, times]));
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

  test("are FTS5's own after each of any changes, on pages of any size", () => {
    const runs = fc.record({
      pageSize: fc.constantFrom(32, 64, 200, 4050),
      changes: fc.array(change, { minLength: 1, maxLength: 60 }),
      perCommit: fc.integer({ min: 1, max: 9 }),
    });
    fc.assert(
      fc.property(runs, ({ pageSize, changes, perCommit }) => {
        using database = openIndex(pageSize);
        for (let from = 0; from < changes.length; from += perCommit) {
          database.transaction(() => {
            for (const one of changes.slice(from, from + perCommit)) apply(database, one);
          })();
          // What is kept from the question before must not be used where it changed.
          if (!read(database, [...WORDS, "nothing"])) continue;
          for (const within of [
            [LOW, HIGH],
            [2 ** 40, 2 ** 41],
          ] as const) {
            expect(answerOf(database, WORDS.length + 1, within)).toEqual(
              walked(database, [...WORDS, "nothing"], within),
            );
          }
        }
      }),
      { numRuns: 200, seed: 21 },
    );
  }, 120_000);

  test("are the same where FTS5 walks the lists", () => {
    using database = openIndex(64);
    database.transaction(() => {
      for (let row = 1; row <= 9000; row += 1) {
        apply(database, { row, kind: "put", texts: [`ab ${"b ".repeat(row % 40)}`, "z", "ab"] });
      }
    })();
    const words = ["ab", "b", "z"];
    expect(read(database, words)).toBe(true);
    const known = answerOf(database, 3);
    database.query(lists("NULL")).get("\n\n");
    for (const [number, word] of words.entries()) {
      database
        .query(
          `SELECT 1 FROM lexical_documents WHERE lexical_documents MATCH ? AND svckernel_gather(lexical_documents, ?, 0, 1, ${WEIGHTS})`,
        )
        .all(`"${word}"`, number);
    }
    expect(answerOf(database, 3)).toEqual(known);
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
    expect(read(sound, ["ab"])).toBe(true);
    expect(read(database, ["ab"])).toBe(false);
  });

  test("are left to FTS5 inside of a transaction that has written, and for what is not one word", () => {
    using database = openIndex(4050);
    apply(database, { row: 1, kind: "put", texts: ["ab", "", ""] });
    expect(read(database, ["ab"])).toBe(true);
    expect(read(database, ["ab!b"])).toBe(false);
    database.run("BEGIN");
    apply(database, { row: 2, kind: "put", texts: ["ab", "", ""] });
    expect(read(database, ["ab"])).toBe(false);
    database.run("ROLLBACK");
    expect(read(database, ["ab"])).toBe(true);
    expect(answerOf(database, 1)).toEqual(walked(database, ["ab"]));
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
