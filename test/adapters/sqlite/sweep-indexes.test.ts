import { expect, test } from "bun:test";
import { ALL_OWNERS } from "../../../src/domain/owner.ts";
import { onPack } from "../../contract/sqlite-seed.ts";
import { useEngines } from "../../engine/engines.ts";

const { open } = useEngines();

test("entries of memories that are not active, as a file leaves them that lost a commit, are removed", async () => {
  const { engine, store, pack } = await open();
  const ids: string[] = [];
  for (const [index, userId] of ["ada", "ada", "bob"].entries()) {
    const content = `The parcel ${index} is blue`;
    ids.push((await engine.storeWithReceipt({ content, userId })).nodeId);
  }
  onPack(pack, (database) =>
    database.run("UPDATE nodes SET lifecycle_state = 'archived' WHERE id IN (?, ?)", [
      ids[0] ?? "",
      ids[2] ?? "",
    ]),
  );

  expect(await store.sweepIndexes("ada", 0)).toEqual({ found: 1, removed: 0 });
  expect(await store.sweepIndexes("ada", 10)).toEqual({ found: 1, removed: 1 });
  expect(await store.sweepIndexes(ALL_OWNERS, 10)).toEqual({ found: 1, removed: 1 });
  expect(await store.sweepIndexes(ALL_OWNERS, 10)).toEqual({ found: 0, removed: 0 });
  const { results } = await engine.retrieve({ query: "parcel", userId: "ada" });
  expect(results.map(({ node }) => node.id)).toEqual([
    ids[1] ?? "",
  ] as (typeof results)[0]["node"]["id"][]);
});
