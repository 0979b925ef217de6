import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import type { PackLayout } from "../../../src/adapters/sqlite/connection/layout.ts";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import type { Store } from "../../../src/ports/store/store.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  put,
  unit,
} from "../../contract/samples.ts";
import { directoryPack } from "../../contract/sqlite-pack.ts";
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
