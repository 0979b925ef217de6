import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mainPath } from "../../../src/adapters/sqlite/connection/layout.ts";
import { put } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { failure, useFolders } from "./folder.ts";
import { makePack } from "./whole-packs.ts";

const { folder, open } = useFolders();

const LIST = {
  owner: "ada",
  limit: 10,
  oldestFirst: false,
  lifecycleStates: ["tentative", "stable"],
} as const;

test.each(["nodes_by_owner", "nodes", "owners"])(
  "a pack whose %s is that of an empty one lists nothing only as damaged",
  async (name) => {
    const pack = filePack(folder());
    await makePack(pack, 20);
    const database = new Database(mainPath(pack.layout));
    const size = Number(database.query("PRAGMA page_size").values()[0]?.[0]);
    const row = database
      .query<{ rootpage: number; type: string }, [string]>(
        "SELECT rootpage, type FROM sqlite_schema WHERE name = ?",
      )
      .get(name);
    database.close();
    // An empty leaf of a table or an index.
    const page = Buffer.alloc(size);
    page[0] = row?.type === "index" ? 10 : 13;
    page.writeUInt16BE(size % 65_536, 5);
    const file = Bun.file(mainPath(pack.layout));
    const bytes = Buffer.from(await file.arrayBuffer());
    page.copy(bytes, ((row?.rootpage ?? 1) - 1) * size);
    await Bun.write(file, bytes);
    const list = async () => {
      const store = await open(pack);
      return await store.queryNodes(LIST);
    };
    expect(await failure(list())).toMatchObject({ code: "pack_damaged" });
  },
);

test("an empty pack, and an owner without memories, list nothing", async () => {
  const pack = filePack(folder());
  const store = await open(pack);
  expect(await store.queryNodes(LIST)).toEqual([]);
  await put(store, { userId: "bob", content: "of another", second: 1 });
  expect(await store.queryNodes(LIST)).toEqual([]);
});
