import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { withoutKernel } from "../../../src/adapters/sqlite/connection/kernel-on.ts";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { searchText, type TextSearch } from "../../../src/adapters/sqlite/read/search-text.ts";
import type { CandidateFilter } from "../../../src/domain/candidate-filter.ts";
import type { Hit } from "../../../src/ports/store/search-index.ts";
import { type Memory, put } from "../../contract/samples.ts";
import {
  directoryPack,
  encrypted,
  filePack,
  MASTER_KEY,
  type SqlitePack,
  storeOptions,
} from "../../contract/sqlite-pack.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const WORDS = "tea coffee juice runs running harbour violin 绿茶 喝茶 map atlas Zürich".split(" ");

/** Turns and single notes of several owners, of a few words each. */
const memories: fc.Arbitrary<Memory> = fc.record(
  {
    content: fc
      .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 14 })
      .map((words) => words.join(" ")),
    second: fc.integer({ min: 0, max: 400 }),
    userId: fc.constantFrom("ada", "ada", "bob"),
    sessionId: fc.option(fc.constantFrom("one", "two"), { nil: undefined }),
    scope: fc.constantFrom("personal", "personal", "agent"),
  },
  { requiredKeys: ["content", "userId"] },
);

const questions = fc
  .uniqueArray(fc.constantFrom(...WORDS, "茶", "nothing"), { minLength: 1, maxLength: 6 })
  .map((words) => words.join(" "));

const filters = fc.constantFrom<CandidateFilter>(
  ANYTHING,
  { ...ANYTHING, userId: "bob" },
  { ...ANYTHING, scopes: ["agent"] },
  { ...ANYTHING, scopes: ["project"] },
  { ...ANYTHING, userId: "nobody" },
);

function connect(pack: SqlitePack): Database {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  return openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
}

/** The two ways differ in the last bits, by which equal documents may change places. */
function rounded(hits: readonly Hit<number>[]): readonly Hit<number>[] {
  return hits
    .map(({ key, score }) => ({ key, score: Number(score.toPrecision(9)) }))
    .sort((a, b) => b.score - a.score || a.key - b.key);
}

function expectSame(one: readonly Hit<number>[], other: readonly Hit<number>[]): void {
  const [left, right] = [rounded(one), rounded(other)];
  expect(left.map(({ key }) => key)).toEqual(right.map(({ key }) => key));
  for (const [index, { score }] of left.entries()) {
    expect(Math.abs(score - (right[index]?.score ?? Number.NaN))).toBeLessThan(1e-8);
  }
}

async function compareWays(pack: SqlitePack, given: readonly Memory[]): Promise<void> {
  const store = await open(pack, { shareEncrypted: true });
  await put(store, ...given);
  const [ours, theirs] = [connect(pack), connect(pack)];
  withoutKernel(theirs);
  const searches: fc.Arbitrary<TextSearch> = fc.record({
    k: fc.integer({ min: 0, max: 400 }),
    others: fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 30 }),
  });
  fc.assert(
    fc.property(questions, filters, searches, (question, filter, { k, others }) => {
      // All of them, so that which of several equal ones comes last does not matter.
      const all = { k: 1000, others: [] };
      const whole = searchText(ours, question, filter, all);
      expectSame(whole, searchText(theirs, question, filter, all));

      const asked = new Set(others);
      const expected = [
        ...whole.slice(0, k),
        ...whole.slice(k).filter(({ key }) => asked.has(key)),
      ];
      expect(searchText(ours, question, filter, { k, others })).toEqual(expected);
    }),
    { numRuns: 100, seed: 9 },
  );
  for (const each of [ours, theirs]) each.close();
}

describe("scores computed beside FTS5", () => {
  const several = fc.sample(memories, { numRuns: 350, seed: 2 });

  test("are FTS5's own where one owner has the pack", async () => {
    const alone = several.map((memory) => ({ ...memory, userId: "ada" }));
    await compareWays(filePack(folder()), alone);
  });

  test("are FTS5's own, reweighted, where several owners share the pack", async () => {
    await compareWays(filePack(folder()), several);
  });

  test("are the same in an encrypted directory pack", async () => {
    await compareWays(encrypted(directoryPack(folder())), several);
  });
});
