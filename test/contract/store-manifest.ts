import { describe, expect, test } from "bun:test";
import type { StoreWorld } from "./store-contract.ts";

/** What a store knows of itself. */
export function describeManifest(world: StoreWorld): void {
  describe("the manifest", () => {
    test("tells what the store was made with, for as long as it lives", async () => {
      const { store, place } = await world.fresh();
      const first = await store.manifest();
      await store.close();

      const again = await world.open(place);

      expect(first).toMatchObject({
        embedding: { model: "hand-made", version: "1", dimension: 8 },
        scoringVersion: "0123456789ab",
      });
      expect(first.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      expect(await again.manifest()).toEqual(first);
    });
  });
}
