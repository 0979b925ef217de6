import { describe, expect, test } from "bun:test";
import { wholeOf } from "../../../src/domain/beginning.ts";
import type { RetrievalResponse } from "../../../src/engine/retrieve/api.ts";
import type { Uuid } from "../../../src/lib/uuid.ts";
import {
  expectInvalid,
  type OpenedEngine,
  testClock,
  useEngines,
  wordEmbedder,
} from "../engines.ts";
import { contentsOf } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const BEFORE = "2026-01-10T12:00:00.000000Z";
const QUESTIONS = ["Where does the hotel stand in Lisbon?", "What costs ninety euros?", "Lisbon"];

const TURNS = [
  "We are planning the trip to Lisbon.",
  "The hotel in Lisbon stands near the river.",
  "It costs ninety euros.",
  "Breakfast is served until ten.",
  "The trip begins on Friday.",
];

type World = Awaited<ReturnType<typeof tell>>;

/** A conversation and claims as they are on the tenth of January. */
async function tell(given: { readonly clock?: string } = {}) {
  const clock = testClock(given.clock ?? "2026-01-01T00:00:00Z");
  const opened = await open({ embedder: wordEmbedder(), clock });
  const { engine } = opened;
  const turns: Uuid[] = [];
  for (const [index, content] of TURNS.entries()) {
    clock.set(`2026-01-0${index + 1}T00:00:00Z`);
    const input = { content, userId: "ada", nodeType: "note", sessionId: "trip" } as const;
    turns.push((await engine.storeWithReceipt(input)).nodeId);
  }
  clock.set("2026-01-07T00:00:00Z");
  const claim = async (content: string, nodeType: "fact" | "task" | "entity" = "fact") =>
    (await engine.storeWithReceipt({ content, userId: "ada", nodeType })).nodeId;
  const hotel = await claim("The hotel in Lisbon is the Alfama.");
  const dogs = await claim("The hotel takes dogs.");
  const price = await claim("A night costs ninety euros.");
  const task = await claim("Renew the passport.", "task");
  await claim("Lisbon", "entity");
  clock.set(BEFORE);
  return { ...opened, clock, turns, hotel, dogs, price, task };
}

/** Retires, pins and replaces much of it, and tells more. */
async function goOn({ engine, clock, turns, hotel, dogs, price, task }: World) {
  clock.set("2026-02-01T00:00:00Z");
  const newer = await engine.storeWithReceipt({
    content: "The hotel in Lisbon is the Baixa.",
    userId: "ada",
    nodeType: "fact",
    supersedes: [hotel],
  });
  await engine.archive(turns[1] ?? "", { userId: "ada" });
  await engine.archive(turns[2] ?? "", { userId: "ada" });
  await engine.archive(task, { userId: "ada" });
  await engine.promote(dogs, { userId: "ada" });
  const other = await engine.storeWithReceipt({
    content: "The hotel takes no dogs.",
    userId: "ada",
    nodeType: "fact",
  });
  await engine.contradict(dogs, other.nodeId, { userId: "ada" });
  await engine.pin(price, true, { userId: "ada" });
  clock.set("2026-03-01T00:00:00Z");
  await engine.restore(turns[2] ?? "", { userId: "ada" });
  return newer.nodeId;
}

function asked({ results }: RetrievalResponse) {
  return results.map(({ node, compositeScore, strength, paths }) => {
    return { node: { ...node, updatedAt: "" }, compositeScore, strength, paths };
  });
}

async function askAll({ engine }: Pick<OpenedEngine, "engine">, asOf?: string) {
  const answers = [];
  for (const query of QUESTIONS)
    answers.push(await engine.retrieve({ query, userId: "ada", asOf }));
  return answers;
}

describe("as of a moment", () => {
  test("an answer is what it was then: memories, states, scores, order", async () => {
    const world = await tell();
    const then = await askAll(world);

    await goOn(world);

    const now = await askAll(world);
    expect(now.map(asked)).not.toEqual(then.map(asked));
    expect((await askAll(world, BEFORE)).map(asked)).toEqual(then.map(asked));
  });

  test("what became of a memory since stands beside it", async () => {
    const world = await tell();
    const newer = await goOn(world);

    const { results } = await world.engine.retrieve({
      query: "Where does the hotel stand in Lisbon?",
      userId: "ada",
      knowledgeAt: BEFORE,
    });

    const fateOf = (id: Uuid | undefined) => results.find(({ node }) => node.id === id)?.became;
    expect(fateOf(world.hotel)).toEqual({ state: "superseded", replacedBy: newer });
    expect(fateOf(world.turns[1])).toEqual({ state: "archived", replacedBy: undefined });
    expect(fateOf(world.turns[0])).toBeUndefined();
    expect(contentsOf(results)).not.toContain("The hotel in Lisbon is the Baixa.");
  });

  test("what was forgotten since is not there, and vectors of another model are made again", async () => {
    const world = await tell();
    const then = await askAll(world);
    await goOn(world);
    const [river, dogs] = [world.turns[1] ?? "", world.dogs];
    await world.engine.rebuildIndexes({ all: true });
    expect((await askAll(world, BEFORE)).map(asked)).toEqual(then.map(asked));

    const named = { userId: "ada", ids: [river, dogs] };
    const { confirm } = await world.engine.forget(named);
    await world.engine.forget({ ...named, mode: "erase", confirm });

    const ids = (await askAll(world, BEFORE)).flatMap(({ results }) =>
      results.map(({ node }) => node.id),
    );
    expect(ids).toContain(world.hotel);
    expect(ids.filter((id) => id === river || id === dogs)).toEqual([]);
  });

  test("a receipt keeps the moment and explains the same", async () => {
    const world = await tell();
    await goOn(world);
    const answer = await world.engine.retrieve({
      query: "Where does the hotel stand in Lisbon?",
      userId: "ada",
      asOf: BEFORE,
      explain: true,
    });

    const kept = await world.engine.explain(answer.metadata.requestId, "ada");

    expect(kept?.filters).toContain(`as of ${BEFORE}`);
    expect(kept?.inContext.map(({ nodeId, score }) => [nodeId, Number(score.toFixed(6))])).toEqual(
      answer.explained?.explanation.inContext.map(({ nodeId, score }) => [
        nodeId,
        Number(score.toFixed(6)),
      ]),
    );
    expect(kept?.inContext.map(({ nodeId }) => nodeId)).toContain(world.hotel);
    expect(answer.bundle.renderedContext).toContain("since");
  });

  test("of a text too long for a context the beginning is read, and its length is said", async () => {
    const clock = testClock("2026-01-01T00:00:00Z");
    const { engine } = await open({ embedder: wordEmbedder(), clock });
    const content = `${"The harbour ledger goes on. ".repeat(60_000)}It names the quicksilver.`;
    const { nodeId } = await engine.storeWithReceipt({ content, userId: "ada" });
    const ask = (asOf?: string) =>
      engine.retrieve({ query: "Who names the quicksilver?", userId: "ada", asOf });
    const [then] = (await ask()).results;
    clock.set("2026-02-01T00:00:00Z");
    await engine.archive(nodeId, { userId: "ada" });

    const [found] = (await ask(BEFORE)).results;

    if (found === undefined || then === undefined) throw new Error("nothing was found");
    expect(wholeOf(found.node)).toEqual(wholeOf(then.node));
    expect(wholeOf(found.node).content).toBe(content.length);
    expect(found.node.content.length).toBeLessThan(content.length);
  });

  test("another moment under its two names is refused", async () => {
    const { engine } = await open();
    const input = { query: "x", userId: "ada", asOf: BEFORE, knowledgeAt: "2026-01-11T00:00:00Z" };
    await expectInvalid(engine.retrieve(input), { field: "as_of" });
  });
});
