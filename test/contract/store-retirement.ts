import { describe, expect, test } from "bun:test";
import { nodeKey } from "../node-keys.ts";
import {
  aMaterialization,
  aNode,
  anAdmission,
  anEvent,
  at,
  freshId,
  type Memory,
  put,
  unit,
} from "./samples.ts";
import { retire } from "./store-change.ts";
import type { RetrievalStore, World } from "./store-contract.ts";
import { ANYTHING, contentsOf } from "./store-vectors.ts";

/** What a change of memories does to both indexes. */
export function describeRetirement(world: World): void {
  describe("a memory that is retired", () => {
    test.each(["archived", "superseded", "deprecated"] as const)(
      "is in neither index once it is %s, also for another store that searched before",
      async (state) => {
        const { store, place } = await world.fresh();
        const other = await world.open(place);
        const [old, next] = await put(
          store,
          { content: "old tea", vector: unit(1) },
          { content: "new tea", vector: unit(3, 1) },
        );
        const found = async (each: RetrievalStore) => ({
          texts: await contentsOf(each, await each.searchText("tea", ANYTHING, 9)),
          vectors: await contentsOf(each, await each.searchVectors(unit(1), ANYTHING, 9)),
        });
        for (const each of [store, other, other]) {
          const { texts, vectors } = await found(each);
          expect([texts.toSorted(), vectors]).toEqual([
            ["new tea", "old tea"],
            ["old tea", "new tea"],
          ]);
        }

        await retire(store, state, old);

        for (const each of [store, other]) {
          expect(await found(each)).toEqual({ texts: ["new tea"], vectors: ["new tea"] });
          expect((await each.node(old?.id ?? freshId(), "ada"))?.lifecycleState).toBe(state);
          expect(await each.countNodes("ada")).toBe(1);
        }
        await retire(store, "contested", next);
        expect(await found(other)).toEqual({ texts: ["new tea"], vectors: ["new tea"] });
      },
    );

    test("leaves nothing of itself with the turns around it", async () => {
      const turn = (content: string, second: number): Memory => ({
        content,
        second,
        sessionId: "s",
        vector: unit(...Array.from({ length: 8 }, (_, index) => (index === second ? 1 : 0))),
      });
      const words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];
      const turns = words.map(turn);
      const picture = async (store: RetrievalStore) => {
        const answers: unknown[] = [];
        for (const [index, word] of words.entries()) {
          const texts = await store.searchText(word, ANYTHING, 9);
          const vector = turns[index]?.vector ?? unit(1);
          const hits = await store.searchVectors(vector, ANYTHING, 9);
          const scores = new Map(hits.map(({ key, score }) => [key, score]));
          const contents = await contentsOf(store, hits);
          answers.push({
            texts: (await contentsOf(store, texts)).toSorted(),
            vectors: Object.fromEntries(
              contents.map((content, place) => [
                content,
                scores.get(hits[place]?.key ?? nodeKey(0)),
              ]),
            ),
          });
        }
        return answers;
      };
      const { store } = await world.fresh();
      const nodes = await put(store, ...turns);
      const { store: without } = await world.fresh();
      await put(without, ...[0, 3, 5].map((index) => turns[index] ?? {}));
      expect(await picture(store)).not.toEqual(await picture(without));

      await retire(store, "archived", nodes[2]);
      await retire(store, "superseded", nodes[4], nodes[1]);

      expect(await picture(store)).toEqual(await picture(without));
    });

    test("while its job is pending stays retired and unindexed, and its neighbours as they are", async () => {
      const { store } = await world.fresh();
      const turns = [0, 1, 2].map((second) =>
        anEvent({ content: `turn ${second}`, sessionId: "s", timestamp: at(second) }),
      );
      const nodes = turns.map((event) => aNode(event));
      const items = turns.map((event, index) => ({
        event,
        item: aMaterialization(event, nodes[index] ?? aNode(event), {
          vector: unit(...[0, 1, 2].map((place) => (place === index ? 1 : 0))),
        }),
      }));
      await store.admit(
        anAdmission(turns, { nodes: nodes.map((node) => ({ node, lexical: true })) }),
      );
      await store.materialize([0, 2].flatMap((index) => items[index]?.item ?? []));
      const found = async () => ({
        texts: (
          await Promise.all(
            turns.map(({ content }) => store.searchText(content.slice(-1), ANYTHING, 9)),
          )
        ).map((hits) => hits.length),
        vectors: (await store.searchVectors(unit(1, 1, 1), ANYTHING, 9)).map(({ score }) => score),
      });
      expect((await found()).texts).toEqual([3, 3, 3]);

      await retire(store, "archived", nodes[1]);
      const retired = await found();
      const states = await store.materialize(items.slice(1, 2).map(({ item }) => item));

      expect(states.map(({ status, lastError }) => [status, lastError])).toEqual([
        ["complete", undefined],
      ]);
      expect(retired.texts).toEqual([2, 0, 2]);
      expect(retired.vectors).toHaveLength(2);
      expect(await found()).toEqual(retired);
      expect((await store.node(nodes[1]?.id ?? freshId(), "ada"))?.lifecycleState).toBe("archived");
    });
  });
}
