import { afterAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readPostings } from "../../../src/adapters/postgres/search/posting-blocks.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { openPostgres } from "../../contract/postgres-place.ts";
import { put } from "../../contract/samples.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { leftOut } from "../../left-out.ts";
import { emptyDatabase, onDatabase } from "../../packs/stores.ts";
import { dropDatabase, NO_POSTGRES } from "../../postgres/databases.ts";

setDefaultTimeout(120_000);

const opened: Store[] = [];
const made: string[] = [];
afterAll(async () => {
  for (const store of opened) await store.close();
  for (const url of made) await dropDatabase(new URL(url).pathname.slice(1));
});

let store: Store;
let url: string;
beforeEach(async () => {
  if (NO_POSTGRES !== undefined) return;
  url = await emptyDatabase();
  made.push(url);
  store = await openPostgres({ url });
  opened.push(store);
});

const TEXTS = Array.from({ length: 20 }, (_, i) => `The parcel ${i} is in cellar ${i % 3}.`);

type Row = { term: string; block: number; postings: Uint8Array; written: string };

/** The word index as it is stored; `written` differs for rows that were written again. */
async function stored() {
  return await onDatabase(url, async (sql) => ({
    rows: await sql.all<Row>(
      "SELECT term, block, postings, xmin::text AS written FROM lexical_postings ORDER BY term, block",
    ),
    lengths: await sql.all("SELECT block, lengths FROM lexical_documents ORDER BY block"),
    counted: await sql.all("SELECT lexical_documents, lexical_words FROM owners"),
  }));
}

/** What the stored index says, however it says it. */
async function said() {
  const { rows, lengths, counted } = await stored();
  const entries = rows.map(({ term, block, postings }) => {
    const { keys, frequencies } = readPostings([{ block, postings }]);
    return [term, [...keys], [...frequencies]];
  });
  return { entries, lengths, counted };
}

/** Rebuilds the word index. @returns the documents of each step */
async function rebuild(limit: number): Promise<readonly number[]> {
  await store.rebuild.begin(false);
  const steps = [];
  for (let hasMore = true; hasMore; ) {
    const step = await store.rebuild.rewriteTexts(limit);
    steps.push(step.written);
    ({ hasMore } = step);
  }
  await store.rebuild.end("finished");
  return steps;
}

describe.skipIf(NO_POSTGRES !== undefined)(`a rebuild of words${leftOut(NO_POSTGRES)}`, () => {
  test("leaves what is right as it is", async () => {
    await put(store, ...TEXTS.map((content) => ({ content, sessionId: "moving" })));
    const before = await stored();
    expect(await rebuild(7)).toEqual([7, 7, 6]);
    expect((await stored()).rows).toEqual(before.rows);
  });

  test("makes an index that holds anything what it is to be", async () => {
    await put(store, ...TEXTS.map((content) => ({ content, sessionId: "moving" })));
    const whole = await said();
    await onDatabase(url, async (sql) => {
      await sql.run("DELETE FROM lexical_postings WHERE term LIKE 'p%'");
      // Key 3 twice, key 250 which nothing has, and key 4 no longer.
      await sql.run(
        "UPDATE lexical_postings SET postings = postings || '\\x030903fffa020400' WHERE term LIKE 'c%'",
      );
      await sql.run(
        "INSERT INTO lexical_postings SELECT owner, 'nowhere', 0, '\\x0502' FROM owners",
      );
      await sql.run("INSERT INTO lexical_postings SELECT owner, 'far', 9, '\\x0502' FROM owners");
      await sql.run("UPDATE lexical_documents SET lengths = decode(repeat('07', 512), 'hex')");
      await sql.run("UPDATE owners SET lexical_documents = 3, lexical_words = 5");
    });
    await rebuild(6);
    expect(await said()).toEqual(whole);
  });

  test("ends a step where texts are long", async () => {
    const long = (word: string) => ({ content: `${word} `.repeat(600_000) });
    await put(store, long("barrel"), long("anchor"), long("candle"), { content: "short" });
    expect(await rebuild(100)).toEqual([2, 2]);
    expect(await store.searchText("candle", ANYTHING, 5)).toHaveLength(1);
  });

  test("that is stopped undoes the step that it is at, and goes on there", async () => {
    await put(store, ...TEXTS.map((content) => ({ content })));
    const whole = await said();
    await onDatabase(url, (sql) => sql.run("DELETE FROM lexical_postings"));
    await store.rebuild.begin(false);
    expect((await store.rebuild.rewriteTexts(5)).written).toBe(5);
    const half = await said();
    const stop = AbortSignal.abort(new Error("stopped by somebody"));
    await expect(store.rebuild.rewriteTexts(5, stop)).rejects.toThrow("stopped by somebody");
    expect(await said()).toEqual(half);
    await store.rebuild.end("unfinished");
    expect(await rebuild(100)).toEqual([15]);
    expect(await said()).toEqual(whole);
  });
});
