import { describe, expect, test } from "bun:test";
import { nodeKey } from "../node-keys.ts";
import { aNode, anAdmission, anEvent, at, DIMENSION, freshId, put, unit } from "./samples.ts";
import { write } from "./store-change.ts";
import type { StoreWorld } from "./store-contract.ts";
import { ANYTHING } from "./store-vectors.ts";

/** Nodes that no job stands for. */
export function describeAddedNodes(world: StoreWorld): void {
  describe("nodes that no job stands for", () => {
    test("are found by words and by vector, and keep every member", async () => {
      const { store } = await world.fresh();
      const event = anEvent({ sessionId: "monday" });
      await store.admit(anAdmission([event]));
      const node = aNode(event, { content: "Lapsang souchong", metadata: { qa_pair: true } });

      await store.addNodes([{ node, vector: unit(1, 2), at: at(5) }]);

      expect(await store.node(node.id, "ada")).toEqual(node);
      const [byText] = await store.searchText("lapsang", ANYTHING, 5);
      const [byVector] = await store.searchVectors(unit(1, 2), ANYTHING, 5);
      expect(byText?.key).toBe(byVector?.key ?? nodeKey(-1));
      expect(byVector?.score).toBeCloseTo(1, 6);
      expect(await store.countJobs("ada")).toEqual({ pending: 1, failed: 0 });
    });

    test("are kept as they are when they exist, and not indexed once they are retired", async () => {
      const { store } = await world.fresh();
      const [archived] = await put(store, { content: "Oolong", lifecycleState: "archived" });
      if (archived === undefined) throw new Error("nothing was stored");
      const again = { ...archived, lifecycleState: "stable", content: "Assam" } as const;

      await store.addNodes([{ node: again, vector: unit(3), at: at(5) }]);

      expect(await store.node(archived.id, "ada")).toEqual(archived);
      expect(await store.searchText("oolong assam", ANYTHING, 5)).toEqual([]);
      expect(await store.searchVectors(unit(3), ANYTHING, 5)).toEqual([]);
    });

    test("are all written, or none", async () => {
      const { store } = await world.fresh();
      const event = anEvent();
      await store.admit(anAdmission([event]));
      const good = aNode(event, { content: "Sencha" });
      const bad = aNode(event, { id: freshId(), content: "Matcha" });

      const outcome = await store
        .addNodes([
          { node: good, vector: unit(1), at: at(1) },
          { node: bad, vector: new Float32Array(DIMENSION + 1), at: at(1) },
        ])
        .then(
          () => "written",
          () => "refused",
        );

      expect(outcome).toBe("refused");
      expect(await store.node(good.id, "ada")).toBeUndefined();
      expect(await store.searchText("sencha", ANYTHING, 5)).toEqual([]);
    });

    test("are refused with vectors of another model than the pack's", async () => {
      const { store, place } = await world.fresh();
      const event = anEvent();
      await store.admit(anAdmission([event]));
      const embedding = { model: "another", version: "1", dimension: DIMENSION };
      const other = await world.open(place, { embedding });
      const node = aNode(event);

      const outcome = await other
        .addNodes([{ node, vector: unit(1), at: at(1) }])
        .catch((error: { code: string }) => error.code);

      expect(outcome).toBe("embedding_mismatch");
      expect(await store.node(node.id, "ada")).toBeUndefined();

      const [kept] = await put(store, { content: "Sencha" });
      const added = [{ node, vector: unit(1), at: at(1) }];
      const change = write(other, { nodes: [{ ...kept!, salience: 0.9 }], added });
      await expect(change).rejects.toMatchObject({ code: "embedding_mismatch" });
      expect(await store.node(node.id, "ada")).toBeUndefined();
      expect(await store.node(kept!.id, "ada")).toEqual(kept);
    });
  });
}
