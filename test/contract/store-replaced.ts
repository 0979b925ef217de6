import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../src/domain/node.ts";
import type { Uuid } from "../../src/lib/uuid.ts";
import { nodeKey } from "../node-keys.ts";
import { freshId, type Memory, put } from "./samples.ts";
import { write } from "./store-change.ts";
import type { RetrievalStore, World } from "./store-contract.ts";

const idOf = (node: MemoryNode | undefined): Uuid => node?.id ?? freshId();

/** A claim of the messages of some notes. */
const claimOf = (content: string, ...notes: readonly (MemoryNode | undefined)[]): Memory => ({
  content,
  nodeType: "fact",
  evidenceRefs: notes.flatMap((note) => note?.evidenceRefs ?? []),
});

/** Ends a node: another one is there in its place. */
async function replace(
  store: RetrievalStore,
  by: MemoryNode | undefined,
  ...nodes: readonly (MemoryNode | undefined)[]
): Promise<void> {
  const ended = nodes.flatMap((node): MemoryNode[] =>
    node === undefined
      ? []
      : [
          {
            ...node,
            lifecycleState: "superseded",
            supersededBy: idOf(by),
            updatedAt: node.updatedAt,
          },
        ],
  );
  await write(store, { nodes: ended });
}

/** What replaced all that some notes said, as texts, by the text of the note. */
async function read(
  store: RetrievalStore,
  nodes: readonly (MemoryNode | undefined)[],
  given: readonly (MemoryNode | undefined)[],
  userId = "ada",
): Promise<Readonly<Record<string, readonly (string | undefined)[]>>> {
  const keyed = await store.nodesById(userId, given.map(idOf));
  const replaced = await store.replacedNotes(
    userId,
    keyed.map(({ key }) => key),
  );
  const textOf = (id: Uuid) => nodes.find((node) => node?.id === id)?.content;
  return Object.fromEntries(
    keyed.flatMap(({ key, node }) => {
      const by = replaced.get(key);
      return by === undefined ? [] : [[node.content, by.map(({ id }) => textOf(id)).sort()]];
    }),
  );
}

export function describeReplacedNotes(world: World): void {
  describe("notes that were replaced", () => {
    test("are those all of whose claims were, with what replaced them, in however many steps", async () => {
      const { store } = await world.fresh();
      const notes = await put(
        store,
        ...["whole", "partly", "holding", "archived", "silent", "second", "third"].map(
          (content) => ({ content }),
        ),
      );
      const [whole, partly, holding, archived, silent, second, third] = notes;
      const claims = await put(
        store,
        claimOf("whole, one", whole),
        { ...claimOf("whole, two", whole), nodeType: "preference" },
        claimOf("partly, one", partly),
        { ...claimOf("partly, two", partly), nodeType: "decision" },
        claimOf("holding, one", holding),
        { ...claimOf("archived, one", archived), lifecycleState: "archived" },
        { ...claimOf("silent, an entity", silent), nodeType: "entity" },
        claimOf("of second", second),
        claimOf("of third", third),
      );
      const [one, two, part, , , , entity, ofSecond, ofThird] = claims;
      await replace(store, ofSecond, one, part, entity);
      await replace(store, ofThird, two, ofSecond);

      const all = [...notes, ...claims];
      expect(await read(store, all, notes)).toEqual({
        whole: ["of second", "of third"],
        second: ["of third"],
      });
      expect(await read(store, all, [whole])).toEqual({ whole: ["of second", "of third"] });
      const keys = (await store.nodesById("ada", [idOf(whole)])).map(({ key }) => key);
      const by = (await store.replacedNotes("ada", keys)).get(keys[0] ?? nodeKey(0));
      expect(by?.find(({ id }) => id === ofThird?.id)?.evidenceRefs).toEqual([
        ...(third?.evidenceRefs ?? []),
      ]);
    });

    test("are none of which a later statement of the same, or a summary, took over what they say", async () => {
      const { store } = await world.fresh();
      const notes = await put(
        store,
        { content: "first" },
        { content: "again" },
        { content: "old" },
      );
      const [first, again, old] = notes;
      const claims = await put(
        store,
        claimOf("of first", first),
        claimOf("of both", first, again),
        claimOf("of old", old),
        { content: "summary", nodeType: "summary" },
      );
      const [ofFirst, ofBoth, ofOld, summary] = claims;
      await replace(store, ofBoth, ofFirst);
      await replace(store, summary, ofOld);
      const all = [...notes, ...claims];
      expect(await read(store, all, notes)).toEqual({});

      const [later] = await put(store, { content: "later" });
      const [ofLater] = await put(store, claimOf("of later", later));
      await replace(store, ofLater, ofBoth);

      expect(await read(store, [...all, ofLater], notes)).toEqual({
        first: ["of later"],
        again: ["of later"],
      });
    });

    test("are an owner's own active ones, also where claims replaced each other in a circle", async () => {
      const { store } = await world.fresh();
      const notes = await put(
        store,
        { content: "mine" },
        { content: "gone", lifecycleState: "archived" },
        { content: "bob's", userId: "bob" },
      );
      const [mine, gone, bobs] = notes;
      const [other] = await put(store, { content: "other" });
      const claims = await put(
        store,
        claimOf("of mine", mine),
        claimOf("of other", other),
        claimOf("of gone", gone),
        { ...claimOf("of bob's", bobs), userId: "bob" },
        { ...claimOf("bob's of mine", mine), userId: "bob" },
      );
      const [ofMine, ofOther, ofGone, ofBobs] = claims;
      await replace(store, ofOther, ofMine, ofGone, ofBobs);
      await replace(store, ofMine, ofOther);
      const all = [...notes, ...claims];

      expect(await read(store, all, [...notes, other, ofMine])).toEqual({
        mine: ["of other"],
        other: ["of mine"],
      });
      expect(await read(store, all, notes, "bob")).toEqual({});
      expect(await store.replacedNotes("eve", [nodeKey(1)])).toEqual(new Map());
      expect(await store.replacedNotes("ada", [])).toEqual(new Map());
      expect(await store.replacedNotes("ada", [nodeKey(999_999)])).toEqual(new Map());
    });
  });
}
