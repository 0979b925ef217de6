import { describe, expect, test } from "bun:test";
import { asInstant } from "../../../src/lib/instant.ts";
import { fullReceipt, useEngines } from "../engines.ts";
import { ask, contentsOf, remember } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });
const NOW = asInstant("2026-11-27T12:00:00.000000Z");
const on = (day: string) => asInstant(`${day}T10:00:00.000000Z`);

async function life() {
  const opened = await open();
  await remember(
    opened,
    { content: "Watched a film about whales", eventTime: on("2026-11-20") },
    { content: "Called the bank about the loan", eventTime: on("2026-11-26") },
    { content: "Booked flights to Lisbon", eventTime: on("2026-10-24") },
    { content: "Cooked lentil soup for six", eventTime: on("2026-09-25") },
  );
  return opened;
}

describe("a question for a time and nothing else", () => {
  test.each([
    ["What did I do yesterday?", "Called the bank about the loan"],
    ["What happened in October?", "Booked flights to Lisbon"],
    ["Was habe ich letzten Monat gemacht?", "Booked flights to Lisbon"],
    ["What did I do since Wednesday?", "Called the bank about the loan"],
  ])("%s brings what is of that time first, and that alone is strong", async (query, first) => {
    const { engine } = await life();

    const { results } = await ask(engine, query, { referenceTime: NOW });

    expect(results[0]?.node.content).toBe(first);
    expect(results.filter(({ strength }) => strength === "strong")).toHaveLength(1);
  });

  test("has the order in its receipt", async () => {
    const { engine } = await life();
    const answer = await ask(engine, "What did I do yesterday?", { referenceTime: NOW });
    const { receipt } = await fullReceipt(engine, answer);
    expect(receipt.candidates.map(({ nodeId }) => nodeId)).toEqual(
      answer.results.map(({ node }) => node.id),
    );
  });

  test("is answered as any other one where nothing is of that time", async () => {
    const { engine } = await life();
    const answer = await ask(engine, "What did I do in March?", { referenceTime: NOW });
    expect(contentsOf(answer.results)).toHaveLength(4);
    expect(answer.results[0]?.trace?.compositeScore).toBeLessThanOrEqual(1);
  });
});

test("a question with a topic is not answered by its time alone", async () => {
  const { engine } = await life();
  const { results } = await ask(engine, "What soup did I cook yesterday?", { referenceTime: NOW });
  expect(results[0]?.node.content).toBe("Cooked lentil soup for six");
});
