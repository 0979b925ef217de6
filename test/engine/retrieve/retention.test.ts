import { describe, expect, test } from "bun:test";
import { type Memory, put } from "../../contract/samples.ts";
import { testClock, useEngines, wordEmbedder } from "../engines.ts";
import { ask, contentsOf, packing, remember } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const DAY = 86_400;
/** Ends before the question, but nobody archived it yet. */
const OVER = { ttlDays: 1 } as const;

function expired(count: number, given: Memory = {}): Memory[] {
  return Array.from({ length: count }, (_, index) => ({
    content: `The harbour ferry leaves at gate ${index}.`,
    second: index / 1000,
    ...OVER,
    ...given,
  }));
}

const LIVE = { content: "The harbour ferry is painted in a rather unusual green.", second: 5 };
const askedLater = { referenceTime: undefined } as const;

describe("memories whose retention is over", () => {
  test("do not crowd out one that is kept", async () => {
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
    });
    await remember(opened, ...expired(400), LIVE);

    const answer = await ask(opened.engine, "When does the harbour ferry leave?", askedLater);

    expect(contentsOf(answer.results)).toEqual([LIVE.content]);
    const left = answer.excluded.filter(({ reason }) => reason === "retention_filtered:expired");
    expect(left.length).toBeGreaterThan(10);
    expect(new Set(left.map(({ nodeId }) => nodeId)).size).toBe(left.length);
  });

  test("do not crowd out an open task", async () => {
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
    });
    await put(opened.store, { content: "Water the orchid.", nodeType: "task", second: 0 });
    await put(opened.store, ...expired(500, { nodeType: "task", second: DAY }));

    const answer = await ask(opened.engine, "Which colour is the sea?", askedLater);

    expect(contentsOf(answer.results)).toEqual(["Water the orchid."]);
  });

  test("cost no second search while no search is at its limit", async () => {
    const limits: unknown[] = [];
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
      settings: packing({ vectorK: 50, lexicalK: 50 }),
      alter: (store) => ({
        searchVectors: (vector, filter, k) => {
          limits.push(filter.aliveAt);
          return store.searchVectors(vector, filter, k);
        },
      }),
    });
    await remember(opened, ...expired(10), LIVE);

    const answer = await ask(opened.engine, "harbour ferry", askedLater);

    expect(contentsOf(answer.results)).toEqual([LIVE.content]);
    expect(limits).toEqual([undefined]);
  });

  test("are found in explicit mode as long as they are active", async () => {
    const opened = await open({
      embedder: wordEmbedder(),
      clock: testClock("2026-01-20T00:00:00Z"),
    });
    await remember(opened, ...expired(400), LIVE);
    const retired = {
      content: "The harbour ferry once was red.",
      lifecycleState: "archived",
    } as const;
    await remember(opened, ...expired(1, retired));
    const explicit = { ...askedLater, retrievalMode: "explicit" } as const;

    const { results, excluded } = await ask(opened.engine, "harbour ferry gate 7", explicit);

    expect(contentsOf(results)).toContain("The harbour ferry leaves at gate 7.");
    expect(contentsOf(results)).not.toContain(retired.content);
    expect(excluded.filter(({ reason }) => reason.startsWith("retention"))).toEqual([]);
  });
});
