import { describe, expect, test } from "bun:test";
import { openChecksummed } from "../../../src/domain/checksummed.ts";
import { ANYTHING } from "../../contract/store-vectors.ts";
import { useEngines } from "../engines.ts";
import { remember, reread } from "./memories.ts";

const engines = useEngines();

describe("pin", () => {
  test("makes a memory a candidate for every question, until it is released", async () => {
    const { engine, store } = await engines.open();
    const before = await remember(engine, "ada likes tea");

    const pinned = await engine.pin(before.id, true, { userId: "ada", actorId: "inspector" });
    expect(pinned).toEqual({ ...before, pinned: true, updatedAt: pinned.updatedAt });
    expect(await reread(engine, before.id)).toEqual(pinned);
    expect(await store.pinned(ANYTHING)).toHaveLength(1);

    const released = await engine.pin(before.id, false, { userId: "ada" });
    expect(released.pinned).toBe(false);
    expect(await store.pinned(ANYTHING)).toHaveLength(0);
  });

  test("is recorded with the memory before and after, and doing it again changes nothing", async () => {
    const { engine } = await engines.open();
    const { id } = await remember(engine, "tea");
    const pinned = await engine.pin(id, true, { userId: "ada", actorId: "inspector" });
    const again = await engine.pin(id, true, { userId: "ada" });

    expect(again).toEqual(pinned);
    const provenance = await engine.getProvenance(id);
    const records = provenance?.operations.filter(({ opType }) => opType === "PIN") ?? [];
    expect(records.map(({ actorId }) => actorId)).toEqual(["inspector"]);
    expect(openChecksummed(records[0]?.payload ?? {})).toMatchObject({
      pinned: true,
      policy: "explicit_pin_v1",
      before: { pinned: false },
      after: { pinned: true },
    });
  });
});
