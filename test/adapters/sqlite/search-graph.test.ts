import { expect, test } from "bun:test";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { at, put } from "../../contract/samples.ts";
import { filePack } from "../../contract/sqlite-pack.ts";
import { seedOn } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { ANYTHING, contentsOf } from "../../contract/store-vectors.ts";
import { connectionOf } from "./exported.ts";
import { useFolders } from "./folder.ts";

const { folder, open } = useFolders();

const ENDED = { type: "relates_to", validTo: at(400) } as const;

test.each([
  { ended: 255, expected: ["tea"] },
  { ended: 256, expected: [] },
])("behind $ended newer edges that have ended stand $expected", async (given) => {
  const pack = filePack(folder());
  const store = await open(pack);
  const [ada, tea, other] = await put(
    store,
    { content: "Ada", nodeType: "entity" },
    { content: "tea" },
    { content: "another Ada" },
  );
  const database = openDatabase({ ...connectionOf(pack), layout: pack.layout, mode: "read-write" });
  const place = { seed: seedOn(database) };
  database.run("BEGIN");
  await link(place, ada, tea);
  for (let second = 1; second <= given.ended; second += 1) {
    await link(place, ada, other, { ...ENDED, second });
  }
  database.run("COMMIT");
  database.close();

  const hits = await store.searchGraph(
    ["Ada"],
    { ...ANYTHING, timeFrom: at(500) },
    { hops: 3, limit: 9 },
  );

  expect(await contentsOf(store, hits)).toEqual([...given.expected]);
});
