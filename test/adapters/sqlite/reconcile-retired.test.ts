import { describe, expect, test } from "bun:test";
import { copyFileSync, rmSync } from "node:fs";
import type { MemoryNode } from "../../../src/domain/node.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  aPlan,
  at,
  unit,
} from "../../contract/samples.ts";
import { directoryPack } from "../../contract/sqlite-pack.ts";
import { retire, write } from "../../contract/store-change.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

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
  await work(store);
  return nodes;
}

/** Does the pending work as a worker does. @returns what was worked at */
async function work(store: Store): Promise<string[]> {
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
    const again = await work(third);

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
  await work(first);
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

  expect((await work(again)).toSorted()).toEqual(["bravo", "charlie", "charlie", "delta"]);
  const hits = await again.searchVectors(unit(1, 1, 1, 1), ANYTHING, 9);
  expect((await contentsOf(again, hits)).toSorted()).toEqual([
    "bravo",
    "charlie",
    "charlie",
    "delta",
  ]);
});
