import type { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { lookAtTexts, renewTexts } from "../../../src/adapters/sqlite/write/renew-texts.ts";
import { ANALYSER } from "../../../src/domain/stemmed-words.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import { type Memory, put } from "../../contract/samples.ts";
import { directoryPack, encrypted, filePack, type SqlitePack } from "../../contract/sqlite-pack.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { useFolders } from "./folder.ts";
import { connect, indexFormerly, makeFormer } from "./former-texts.ts";
import { indexed } from "./indexed.ts";

const { folder, open } = useFolders();

const HOUSES = "Ihre Häuser sind alt und liegen am See";
const MEMORIES: readonly Memory[] = [
  { content: "Wir haben gestern die Häuser gesehen", second: 0, sessionId: "s" },
  { content: "Did you like them?", second: 1, sessionId: "s" },
  { content: "Ja, und wir kaufen eins davon", second: 2, sessionId: "s" },
  { content: HOUSES, second: 3 },
  { content: "Я купил книгу", userId: "bob" },
  { content: "green tea at noon", second: 4 },
];

async function find(store: Store, question: string): Promise<readonly string[]> {
  return await contentsOf(store, await store.searchText(question, ANYTHING, 9), "ada");
}

/** What the word index holds: words and sizes. */
function words(pack: SqlitePack) {
  const database = connect(pack);
  const { words, sizes } = indexed(database);
  database.close();
  return { words, sizes };
}

function cursor(database: Database): unknown {
  return database.query("SELECT value FROM pack_settings WHERE name = 'analyser'").values()[0]?.[0];
}

async function renewAll(store: Store): Promise<number> {
  let steps = 1;
  while (await store.renewTexts()) steps += 1;
  return steps;
}

/** A pack that the version before the step has written. */
async function former(pack: SqlitePack, memories = MEMORIES): Promise<SqlitePack> {
  const store = await open(pack);
  await put(store, ...memories);
  await store.close();
  makeFormer(pack);
  return pack;
}

describe.each([
  { name: "of one file", packIn: filePack },
  { name: "of several files", packIn: directoryPack },
  { name: "that is encrypted", packIn: (place: string) => encrypted(filePack(place)) },
])("a pack $name of the version before", ({ packIn }) => {
  test("finds what it found until its texts are indexed again, and then what a new one finds", async () => {
    const fresh = packIn(folder());
    const other = await open(fresh);
    await put(other, ...MEMORIES);
    await other.close();
    const store = await open(await former(packIn(folder())));

    expect(await find(store, "Wo ist das Haus?")).toEqual([]);
    expect(await find(store, "Häuser")).toContain(HOUSES);
    expect(await store.hasFormerTexts()).toBeTrue();
    expect(await renewAll(store)).toBe(1);

    expect(await store.hasFormerTexts()).toBeFalse();
    expect(await find(store, "Wo ist das Haus?")).toContain(HOUSES);
  });

  test("has the same index as a new one afterwards", async () => {
    const [old, fresh] = [await former(packIn(folder())), packIn(folder())];
    for (const pack of [old, fresh]) {
      const store = await open(pack, { shareEncrypted: true });
      if (pack === old) await renewAll(store);
      else await put(store, ...MEMORIES);
      await store.close();
    }
    expect(words(old)).toEqual(words(fresh));
  });
});

test("a step looks at a hundred texts, and the next process goes on where one ended", async () => {
  const many = Array.from({ length: 250 }, (_, second) => ({
    content: `Die Häuser der Straße ${second}`,
    second,
  }));
  const pack = await former(filePack(folder()), many);
  const first = await open(pack);
  expect(await first.renewTexts()).toBeTrue();
  await first.close();
  const database = connect(pack);
  expect(cursor(database)).toBe(`${ANALYSER} 100`);

  const second = await open(pack);
  expect(await second.hasFormerTexts()).toBeTrue();
  expect(await renewAll(second)).toBe(2);
  expect(cursor(database)).toBe(`${ANALYSER} 250`);
  database.close();
});

test("a step ends early when its texts are long", async () => {
  const long = "Die Häuser und die Bücher. ".repeat(4000);
  const pack = await former(filePack(folder()), [
    { content: long, second: 0 },
    { content: `Noch eins: ${long}`, second: 1 },
    { content: HOUSES, second: 2 },
  ]);
  const store = await open(pack);
  expect(await renewAll(store)).toBe(2);
  expect(await find(store, "Buch")).toHaveLength(2);
});

test("what is archived or written while a process looks at the texts is left to whoever did it", async () => {
  const pack = await former(filePack(folder()));
  const store = await open(pack);
  const database = connect(pack);
  const look = lookAtTexts(database);
  expect(look).toMatchObject({ former: expect.arrayContaining([3, 4]), from: 0, to: 6 });
  database.run("UPDATE nodes SET lifecycle_state = 'archived' WHERE key = 4");
  database.run("DELETE FROM lexical_documents WHERE rowid & 0xffffffffff = 4");
  await put(store, { content: "Noch mehr Häuser", second: 9 });

  expect(renewTexts(database, look)).toBeFalse();
  expect(indexed(database).orphans).toEqual([]);
  expect(cursor(database)).toBe(`${ANALYSER} 6`);
  expect(await store.hasFormerTexts()).toBeTrue();
  // A process that looked at the same texts comes too late.
  expect(renewTexts(database, look)).toBeTrue();
  expect(cursor(database)).toBe(`${ANALYSER} 6`);
  expect(await renewAll(store)).toBe(1);
  expect(cursor(database)).toBe(`${ANALYSER} 7`);
  database.close();
});

test("English texts are looked at and left alone", async () => {
  const english = Array.from({ length: 30 }, (_, second) => ({
    content: `We talked about the harbour and the ${second} boats`,
    sessionId: "s",
    second,
  }));
  const pack = await former(filePack(folder()), english);
  const store = await open(pack);
  const database = connect(pack);
  const blocks = () => database.query("SELECT id, hex(block) FROM lexical_documents_data").values();
  const before = blocks();
  await renewAll(store);
  expect(blocks()).toEqual(before);
  expect(await store.hasFormerTexts()).toBeFalse();
  database.close();
});

test("what this program writes itself needs no second look", async () => {
  const store = await open(filePack(folder()));
  await put(store, ...MEMORIES);
  expect(await store.hasFormerTexts()).toBeFalse();
  await put(store, { content: HOUSES, second: 9 });
  expect(await store.hasFormerTexts()).toBeFalse();
});

test("what a process of the version before writes beside this one is indexed again, its neighbours too", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  await put(store, ...MEMORIES);
  await put(store, { content: "Dort lagen zwei Bücher", second: 5, sessionId: "s" });
  const database = connect(pack);
  const before = indexed(database);
  // As if it had come from the other process, which does not know the setting either.
  indexFormerly(database, [1, 2, 3, 7]);
  database.run(`UPDATE pack_settings SET value = '${ANALYSER} 6' WHERE name = 'analyser'`);
  await put(store, { content: "Und dann kam der Regen", second: 6, sessionId: "other" });

  expect(await store.hasFormerTexts()).toBeTrue();
  await renewAll(store);

  expect(await find(store, "Wo ist das Buch?")).toContain("Dort lagen zwei Bücher");
  const after = indexed(database);
  const ofFormer = <T extends { key: number }>(rows: readonly T[]) =>
    rows.filter(({ key }) => [2, 3, 7].includes(key));
  // SAFETY: rows of the vocabulary and of the sizes name their node.
  const rows = (found: unknown) => ofFormer(found as readonly { key: number }[]);
  expect(rows(after.words)).toEqual(rows(before.words));
  expect(rows(after.sizes)).toEqual(rows(before.sizes));
  database.close();
});

test("texts of any kind have as many terms as the index counts, so that they are written once", async () => {
  const parts = fc.oneof(
    fc.constantFrom(
      "der",
      "Häuser",
      "und",
      "les",
      "chevaux",
      "книги",
      "в",
      "绿茶",
      "👩‍👩‍👧",
      "שלום",
      "a⃣",
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }),
  );
  const texts = fc.array(fc.array(parts, { minLength: 1, maxLength: 12 }), {
    minLength: 5,
    maxLength: 20,
  });
  const pack = filePack(folder());
  const store = await open(pack);
  for (const [round, given] of fc.sample(texts, 8).entries()) {
    await put(
      store,
      ...given.map((words, second) => ({
        content: `${words.join(" ")} ${round}`,
        second,
        sessionId: `s${round}`,
      })),
    );
  }
  const database = connect(pack);
  const before = indexed(database).words;
  database.run("DELETE FROM pack_settings WHERE name = 'analyser'");
  await renewAll(store);
  expect(indexed(database).words).toEqual(before);
  database.close();
});
