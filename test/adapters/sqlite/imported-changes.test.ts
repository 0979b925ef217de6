import { expect, test } from "bun:test";
import type { Store } from "../../../src/ports/store/store.ts";
import { anAuditRecord, at, freshId, put } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { write } from "../../contract/store-change.ts";
import { exported, imported } from "./exported.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

test("an import lists the changes of each owner's memories, also of those that have moved", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  for (const userId of ["ada", "bob", "carl"]) {
    const [node] = await put(store, { userId, content: `tea of ${userId}` });
    if (node === undefined) throw new Error("a memory was stored");
    const pin = anAuditRecord({ opType: "PIN", targetId: node.id, createdAt: at(1) });
    await write(store, { nodes: [node], auditRecords: [pin] });
  }
  const ids = { id: freshId(), settingId: freshId(), actorId: "test" };
  await store.owners.move({ from: "ada", into: "bob", isJoin: true, ...ids });
  const listed = async (of: Store) =>
    await Promise.all(
      ["ada", "bob", "carl"].map(async (userId) => await of.changesOf({ userId, limit: 9 })),
    );
  const before = await listed(store);
  await store.close();
  const copy = filePack(folder());

  await imported(copy, exported(pack));

  expect(before.map(({ items }) => items.length)).toEqual([0, 2, 1]);
  expect(await listed(await open(copy))).toEqual(before);
});
