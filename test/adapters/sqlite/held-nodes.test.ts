import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { HeldNodes } from "../../../src/adapters/sqlite/read/held-nodes.ts";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { NodeKey } from "../../../src/ports/store/search-index.ts";
import { aNode, anEvent, freshId, put, unit } from "../../contract/samples.ts";
import { directoryPack, filePack } from "../../contract/sqlite-pack.ts";
import { write } from "../../contract/store-change.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { failure, useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const LAYOUTS = [
  { name: "a pack of one file", packIn: filePack },
  { name: "a directory pack", packIn: directoryPack },
] as const;

test.each(LAYOUTS)("$name shows a memory as another process left it", async ({ packIn }) => {
  const pack = packIn(folder());
  const [ours, theirs] = [await open(pack), await open(pack)];
  const [tea] = await put(ours, { vector: unit(1), content: "tea" });
  const keys = (await ours.searchVectors(unit(1), ANYTHING, 1)).map(({ key }) => key);
  const read = (userId: string) => readOne(ours, userId, keys);
  expect(await read("ada")).toEqual(tea!);
  // As `promote` does it: the time of the last change stays.
  await write(theirs, { nodes: [{ ...tea!, lifecycleState: "stable" }] });
  expect(await read("ada")).toEqual({ ...tea!, lifecycleState: "stable" });
  const ids = { id: freshId(), settingId: freshId() };
  const move = { from: "ada", into: "eva", isJoin: false, actorId: "eva", ...ids };
  await theirs.owners.move(move);
  expect((await read("eva"))?.userId).toBe("eva");
  expect(await read("ada")).toBeUndefined();
});

test("who changes a memory of an answer does not change that of the next one", async () => {
  const store = await open(filePack(folder()));
  const [tea] = await put(store, { vector: unit(1), metadata: { cup: { colour: "blue" } } });
  const keys = (await store.searchVectors(unit(1), ANYTHING, 1)).map(({ key }) => key);
  const first = await readOne(store, "ada", keys);
  expect(() => Object.assign(first ?? {}, { content: "forged" })).toThrow(TypeError);
  expect(() => Object.assign(first?.metadata?.["cup"] ?? {}, { colour: "red" })).toThrow(TypeError);
  expect(await readOne(store, "ada", keys)).toEqual(tea!);
  await store.erase(anErasure([tea!]));
  expect(await readOne(store, "ada", keys)).toBeUndefined();
  await store.close();
  expect(await failure(store.nodesByKey("ada", keys))).toMatchObject({ code: "engine_closed" });
});

async function readOne(
  store: Awaited<ReturnType<typeof open>>,
  userId: string,
  keys: readonly NodeKey[],
): Promise<MemoryNode | undefined> {
  const [found] = await store.nodesByKey(userId, keys, "beginnings");
  return found?.node;
}

test("what was read before a change is not held after it", async () => {
  const database = new Database(":memory:");
  database.run("CREATE TABLE nodes (key INTEGER, text TEXT); CREATE TABLE owners (key INTEGER)");
  database.run("INSERT INTO nodes VALUES (1, 'tea')");
  const held = new HeldNodes(database);
  const before = { key: 1, node: aNode(anEvent(), { content: "tea" }) };
  const slow = held.of("ada", [1]);
  database.run("UPDATE nodes SET text = 'coffee'");
  expect(held.of("ada", [1]).found).toEqual([]);
  slow.hold([before]);
  expect(held.of("ada", [1]).found).toEqual([]);
  held.of("ada", [1]).hold([before]);
  expect(held.of("ada", [1]).found).toEqual([before]);
});
