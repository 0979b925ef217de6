import { describe, expect, test } from "bun:test";
import { copyFileSync, cpSync, existsSync, rmSync } from "node:fs";
import type { PackLayout } from "../../../src/adapters/sqlite/connection/layout.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  aPlan,
  at,
  put,
  unit,
} from "../../contract/samples.ts";
import { directoryPack } from "../../contract/sqlite-pack.ts";
import { retire, write } from "../../contract/store-change.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

type Files = Extract<PackLayout, { kind: "directory" }>;

function filesOf(place: string): Files {
  const { layout } = directoryPack(place);
  if (layout.kind !== "directory") throw new Error("not a directory pack");
  return layout;
}

/** Does the pending work as a worker does, with one and the same vector for every text. */
async function work(store: Store): Promise<number> {
  const jobs = await store.claimJobs(ALL_OWNERS, 100);
  await store.materialize(
    jobs.map(({ event, plannedNode }) =>
      aMaterialization(event, plannedNode ?? aNode(event, { id: event.id }), { vector: unit(1) }),
    ),
  );
  return jobs.length;
}

async function admit(store: Store, ...contents: readonly string[]): Promise<void> {
  await store.admit(anAdmission(contents.map((content) => anEvent({ content }))));
}

async function foundByText(store: Store, question: string): Promise<string[]> {
  return (await contentsOf(store, await store.searchText(question, ANYTHING, 100))).sort();
}

async function foundByVector(store: Store): Promise<string[]> {
  return (await contentsOf(store, await store.searchVectors(unit(1), ANYTHING, 100))).sort();
}

const LOSSES: readonly { name: string; lose: (files: Files) => void }[] = [
  { name: "the vector file", lose: ({ vectorPath }) => rmSync(vectorPath) },
  { name: "the lexical file", lose: ({ lexicalPath }) => rmSync(`${lexicalPath}/lexical.db`) },
  {
    name: "the lexical folder",
    lose: ({ lexicalPath }) => rmSync(lexicalPath, { recursive: true }),
  },
  {
    name: "both index files",
    lose: ({ vectorPath, lexicalPath }) => {
      rmSync(vectorPath);
      rmSync(lexicalPath, { recursive: true });
    },
  },
];

describe("a directory pack", () => {
  test.each(LOSSES)("that has lost $name finds everything again", async ({ lose }) => {
    const place = folder();
    const first = await open(directoryPack(place));
    await admit(first, "green tea", "black tea", "coffee");
    await work(first);
    await put(first, { content: "archived tea", lifecycleState: "archived" });
    await first.close();
    lose(filesOf(place));

    const again = await open(directoryPack(place));

    expect(await again.countJobs("ada")).toEqual({ pending: 3, failed: 0 });
    expect(await work(again)).toBe(3);
    expect(await foundByText(again, "tea")).toEqual(["black tea", "green tea"]);
    expect(await foundByVector(again)).toEqual(["black tea", "coffee", "green tea"]);
    expect(await again.countNodes("ada")).toBe(3);
    await again.close();
    expect(existsSync(filesOf(place).vectorPath)).toBe(true);
    const third = await open(directoryPack(place));
    expect(await third.countJobs("ada")).toEqual({ pending: 0, failed: 0 });
  });

  test.each([
    { name: "vector", pick: (files: Files) => files.vectorPath },
    { name: "lexical", pick: (files: Files) => `${files.lexicalPath}/lexical.db` },
  ])("whose $name file is older than its graph brings it up to date", async ({ pick }) => {
    const place = folder();
    const file = pick(filesOf(place));
    const first = await open(directoryPack(place));
    await admit(first, "green tea");
    await work(first);
    await first.close();
    copyFileSync(file, `${file}.older`);
    const second = await open(directoryPack(place));
    await admit(second, "black tea");
    await work(second);
    await second.close();
    copyFileSync(`${file}.older`, file);

    const third = await open(directoryPack(place));

    expect(await third.countJobs("ada")).toEqual({ pending: 1, failed: 0 });
    expect(await work(third)).toBe(1);
    expect(await foundByText(third, "tea")).toEqual(["black tea", "green tea"]);
    expect(await foundByVector(third)).toEqual(["black tea", "green tea"]);
  });

  test("whose graph is older than its index files drops the entries of what it does not know", async () => {
    const place = folder();
    const { databasePath } = filesOf(place);
    const first = await open(directoryPack(place));
    await admit(first, "green tea");
    await work(first);
    await first.close();
    copyFileSync(databasePath, `${databasePath}.older`);
    const second = await open(directoryPack(place));
    await admit(second, "black tea");
    await work(second);
    await second.close();
    copyFileSync(`${databasePath}.older`, databasePath);

    const third = await open(directoryPack(place));

    expect(await third.countJobs("ada")).toEqual({ pending: 0, failed: 0 });
    expect(await foundByText(third, "tea")).toEqual(["green tea"]);
    expect(await foundByVector(third)).toEqual(["green tea"]);
    await admit(third, "white tea");
    await work(third);
    expect(await foundByText(third, "tea")).toEqual(["green tea", "white tea"]);
    expect(await foundByVector(third)).toEqual(["green tea", "white tea"]);
  });

  test("in step is left alone", async () => {
    const place = folder();
    const first = await open(directoryPack(place));
    await admit(first, "green tea");
    await work(first);
    await first.close();

    const again = await open(directoryPack(place));

    expect(await again.countJobs("ada")).toEqual({ pending: 0, failed: 0 });
    expect(await foundByText(again, "tea")).toEqual(["green tea"]);
  });
});

const NEXT = { model: "next", version: "2", dimension: 4 };

test("a rebuild of a directory pack that was cut off between its files is finished on opening", async () => {
  const place = folder();
  const pack = directoryPack(place);
  const old = await open(pack);
  await put(old, { content: "tea", vector: unit(1) }, { content: "coffee", vector: unit(0, 1) });
  await old.close();
  const store = await open(pack, { embedding: NEXT });
  const plan = await store.rebuild.begin(false);
  const { nodes } = await store.rebuild.stale(plan, 0, 9);
  const entries = nodes.map(({ key, node }) => ({
    key,
    vector: new Float32Array([0, 0, 0, 1]),
    contentHash: sha256Hex(node.content),
  }));
  await store.rebuild.put(plan, entries);
  await store.rebuild.end("unfinished");
  await store.close();
  // As after a crash: the database file has the commit of the swap, the vector file is the one of before.
  const before = folder();
  cpSync(place, before, { recursive: true });
  const again = await open(pack, { embedding: NEXT });
  const continued = await again.rebuild.begin(false);
  expect(await again.rebuild.swap(continued)).toBe(true);
  await again.close();
  cpSync(`${before}/vectors.index`, `${place}/vectors.index`);

  const opened = await open(pack, { embedding: NEXT });

  expect((await opened.manifest()).embedding).toEqual(NEXT);
  const hits = await opened.searchVectors(new Float32Array([0, 0, 0, 1]), ANYTHING, 9);
  expect(hits.map(({ score }) => score)).toEqual([1, 1]);
  expect(await opened.countJobs(ALL_OWNERS)).toEqual({ pending: 0, failed: 0 });
});

const WORDS = ["alpha", "bravo", "charlie", "delta"];
/** Square to each other, in the order of the words. */
const OWN = [unit(1), unit(0, 1), unit(0, 0, 1), unit(0, 0, 0, 1)];

/** Turns of one conversation, one for each word, with the plans of direct stores. */
async function converse(store: Store): Promise<MemoryNode[]> {
  const events = WORDS.map((content, second) =>
    anEvent({ content, sessionId: "s", timestamp: at(second) }),
  );
  const nodes = events.map((event) => aNode(event));
  const plans = events.map((event, index) => aPlan(event, nodes[index] ?? aNode(event)));
  await store.admit(anAdmission(events, { plans }));
  await reconcileRetiredWork(store);
  return nodes;
}

/** Does the pending work as a worker does. @returns what was worked at */
async function reconcileRetiredWork(store: Store): Promise<string[]> {
  const jobs = await store.claimJobs(ALL_OWNERS, 100);
  await store.materialize(
    jobs.map(({ event, plannedNode }) =>
      aMaterialization(event, plannedNode ?? aNode(event, { id: event.id }), {
        vector: OWN[WORDS.indexOf(event.content)],
      }),
    ),
  );
  return jobs.map(({ event }) => event.content);
}

/** What both indexes answer to each word, cosines in thousandths. */
async function answers(store: Store): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (const [index, word] of WORDS.entries()) {
    const texts = await contentsOf(store, await store.searchText(word, ANYTHING, 9));
    const hits = await store.searchVectors(OWN[index] ?? unit(1), ANYTHING, 9);
    const contents = await contentsOf(store, hits);
    const near = contents.map((content, place) => [
      content,
      Math.round((hits[place]?.score ?? 9) * 1000),
    ]);
    found.push({ word, texts: texts.toSorted(), near: Object.fromEntries(near) });
  }
  return found;
}

const FILES = [
  { name: "the graph", file: "memory.db" },
  { name: "the vectors", file: "vectors.index" },
  { name: "the texts", file: "lexical_index/lexical.db" },
];

/** What both indexes answer before and after the second of four turns is retired. */
async function expected() {
  const store = await open(directoryPack(folder()));
  const nodes = await converse(store);
  const before = await answers(store);
  await retire(store, "archived", nodes[1]);
  return { before, after: await answers(store) };
}

describe("a directory pack of which one file has missed that a turn was retired", () => {
  test.each(FILES)("is as before or as after, all of it: $name", async ({ file }) => {
    const place = folder();
    const first = await open(directoryPack(place));
    const nodes = await converse(first);
    await first.close();
    copyFileSync(`${place}/${file}`, `${place}/older`);
    const second = await open(directoryPack(place));
    await retire(second, "archived", nodes[1]);
    await second.close();
    copyFileSync(`${place}/older`, `${place}/${file}`);

    const third = await open(directoryPack(place));
    const again = await reconcileRetiredWork(third);

    const { before, after } = await expected();
    const isBefore = file === "memory.db";
    expect(before).not.toEqual(after);
    expect(again).toEqual(isBefore ? ["bravo"] : []);
    expect(await answers(third)).toEqual(isBefore ? before : after);
  });
});

test("a memory that has lost its entries gets them from its own event, whatever was cited first", async () => {
  const place = folder();
  const first = await open(directoryPack(place));
  const [alpha, bravo] = await converse(first);
  if (!(alpha && bravo)) throw new Error("four memories were stored");
  const raw = anEvent({ content: "charlie", timestamp: at(9) });
  await first.admit(anAdmission([raw]));
  await reconcileRetiredWork(first);
  const [own] = await first.nodesById("ada", [raw.id]);
  if (own === undefined) throw new Error("the raw note was stored");
  const cited = (node: MemoryNode) => [...alpha.evidenceRefs, ...node.evidenceRefs];
  await write(first, {
    nodes: [bravo, own.node].map((node) => ({ ...node, evidenceRefs: cited(node) })),
  });
  await retire(first, "archived", alpha);
  await first.close();
  rmSync(`${place}/vectors.index`);

  const again = await open(directoryPack(place));

  expect((await reconcileRetiredWork(again)).toSorted()).toEqual([
    "bravo",
    "charlie",
    "charlie",
    "delta",
  ]);
  const hits = await again.searchVectors(unit(1, 1, 1, 1), ANYTHING, 9);
  expect((await contentsOf(again, hits)).toSorted()).toEqual([
    "bravo",
    "charlie",
    "charlie",
    "delta",
  ]);
});
