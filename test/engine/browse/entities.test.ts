import { expect, test } from "bun:test";
import { put } from "../../contract/samples.ts";
import { seedInto } from "../../contract/sqlite-seed.ts";
import { link } from "../../contract/store-graph.ts";
import { useEngines } from "../engines.ts";

const { open } = useEngines();

test("entities are listed by the number of their memories, page by page", async () => {
  const opened = await open();
  const [ada, tea, note] = await put(
    opened.store,
    { content: "Ada", nodeType: "entity" },
    { content: "tea", nodeType: "entity" },
    { content: "Ada drinks tea." },
  );
  await link({ seed: seedInto(opened.pack) }, note, tea, { type: "mentions" });
  const { engine } = opened;

  const first = await engine.listEntities({ userId: "ada", limit: 1 });
  const second = await engine.listEntities({ userId: "ada", limit: 1, cursor: first.nextCursor });

  expect(first.entities).toEqual([{ node: tea as never, memories: 1, contested: 0 }]);
  expect(second.entities).toEqual([{ node: ada as never, memories: 0, contested: 0 }]);
  expect([first.hasMore, second.hasMore, second.nextCursor]).toEqual([true, false, undefined]);
});

test("a page of entities is refused for a cursor that is none, a blank name and a wrong limit", async () => {
  const { engine } = await open();
  const list = (query: object) => engine.listEntities({ userId: "ada", ...query });

  for (const cursor of ["1", "x_y", `1_${"0".repeat(36)}`, `${"9".repeat(10)}_x`]) {
    expect(list({ cursor })).rejects.toThrow("next_cursor");
  }
  expect(list({ contains: " " })).rejects.toThrow("contains");
  expect(list({ limit: 0 })).rejects.toThrow("limit");
});
