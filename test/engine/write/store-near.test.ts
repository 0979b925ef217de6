import { describe, expect, test } from "bun:test";
import type { MemoryEngine } from "../../../src/engine/memory-engine.ts";
import { REAL_MODEL, useEngines } from "../engines.ts";
import { remember } from "../lifecycle/memories.ts";

const { open } = useEngines();

/** The near memories of one more store of ada. */
async function nearOf(engine: MemoryEngine, content: string, given: object = {}) {
  const { near } = await engine.storeWithReceipt({
    userId: "ada",
    content,
    ...given,
  });
  return near?.map(({ node, identical }) => [node.content, identical]);
}

describe("a store answers with the memories that it may replace", () => {
  test("nearest first, at most three, by the model that ships", async () => {
    const { engine } = await open({ embedder: REAL_MODEL });
    for (const text of [
      "Tom lives in Oslo",
      "The washing machine is from 2019",
      "Eva plays the cello",
    ]) {
      await remember(engine, text);
    }
    const { near } = await engine.storeWithReceipt({
      userId: "ada",
      content: "Tom moved to Bergen last month",
    });
    expect(near?.map(({ node, identical }) => [node.content, identical])).toEqual([
      ["Tom lives in Oslo", false],
    ]);
    expect(near?.[0]?.similarity).toBeCloseTo(0.78, 1);
    expect(await nearOf(engine, "The contract ends in October")).toEqual([]);
    for (const floor of [1, 2, 3, 4]) await remember(engine, `The car is parked on level ${floor}`);
    expect(await nearOf(engine, "The car is parked on level 5")).toHaveLength(3);
  });

  test("from further off where the new text says that something has changed", async () => {
    const { engine } = await open({ embedder: REAL_MODEL });
    for (const text of ["Ben looks after the release notes.", "I smoke about five cigarettes."])
      await remember(engine, text);
    expect(await nearOf(engine, "I don't smoke anymore, I quit in January.")).toEqual([
      ["I smoke about five cigarettes.", false],
    ]);
    expect(await nearOf(engine, "Release notes are written by Farah from this sprint on.")).toEqual(
      [["Ben looks after the release notes.", false]],
    );
    expect(await nearOf(engine, "I no longer own a kayak.")).toEqual([]);
  });

  test("of its owner and scope only, and none that is no longer active", async () => {
    const { engine } = await open();
    const text = "the red kayak lies in the shed";
    await remember(engine, text, { userId: "bob" });
    await remember(engine, text, { scope: "project" });
    const { id } = await remember(engine, text);
    await engine.archive(id);
    expect(await nearOf(engine, text)).toEqual([]);
  });

  test("not the words of somebody else, nor the question that it answers", async () => {
    const { engine } = await open();
    const text = "the red kayak lies in the shed";
    await remember(engine, text, { speaker: "Ben" });
    await remember(engine, text, { sessionId: "s", role: "assistant" });
    expect(await nearOf(engine, text, { sessionId: "s", speaker: "Ada" })).toEqual([]);
    expect(await nearOf(engine, text, { sessionId: "s", speaker: "Ada" })).toEqual([[text, true]]);
  });

  test("and names the same text, composed and trimmed alike", async () => {
    const { engine, store } = await open();
    await remember(engine, "the caf\u00e9 opens at nine");
    expect(await nearOf(engine, " the cafe\u0301 opens at nine\n")).toEqual([
      ["the caf\u00e9 opens at nine", true],
    ]);
    expect(await store.countNodes("ada")).toBe(2);
  });

  test("unless nobody could look", async () => {
    const blind = await open({
      alter: () => ({
        nearNodes: () => Promise.reject(new Error("secret kayak")),
      }),
    });
    expect(await nearOf(blind.engine, "the red kayak")).toBeUndefined();
    expect(blind.warnings).toEqual(["store: near memories were not looked for (Error)"]);
  });
});
