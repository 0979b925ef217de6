import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { useEngines } from "../engines.ts";
import { CHATGPT, fileOf, zipOf } from "./samples.ts";

setDefaultTimeout(120_000);

const { open } = useEngines();
const userId = "anna";

describe("an export of ChatGPT", () => {
  test("becomes events with who said them, when and where, found by words at once", async () => {
    const { engine } = await open();
    const source = zipOf({ "conversations.json": JSON.stringify(CHATGPT), "chat.html": "<html>" });
    const report = await engine.importSource({ source, userId });

    expect(report.records).toMatchObject({ said: { new: 2 }, answer: { new: 1 } });
    expect(report.leftOut).toMatchObject({ hidden: 1, "other branches": 1 });
    const events = await engine.getEvents({ userId, sessionId: "c1" });
    expect(events.map(({ content }) => content).sort()).toEqual(
      ["I moved to Lisbon.", "Lisbon it is.", "My cat is Momo."].sort(),
    );
    const said = events.find(({ content }) => content === "I moved to Lisbon.");
    expect(said).toMatchObject({ role: "user", eventTime: "2023-11-14T22:13:21.500000Z" });
    const untimed = events.find(({ content }) => content === "My cat is Momo.");
    expect(untimed?.metadata?.["import"]).toMatchObject({ time_source: "assumed" });
    const found = await engine.retrieve({ query: "Lisbon", userId });
    expect(found.results.map(({ node }) => node.content)).not.toContain("Lisbon it is.");
  });

  test("is imported once: a second time writes nothing, a changed text replaces the first", async () => {
    const { engine } = await open();
    await engine.importSource({ source: fileOf(JSON.stringify(CHATGPT)), userId });
    const before = await engine.storeCounts(userId);
    const again = await engine.importSource({ source: fileOf(JSON.stringify(CHATGPT)), userId });
    expect(again.records).toMatchObject({ said: { new: 0, unchanged: 2 } });
    expect(await engine.storeCounts(userId)).toEqual(before);

    const changed = JSON.stringify(CHATGPT).replace("I moved to Lisbon.", "I moved to Porto.");
    const third = await engine.importSource({ source: fileOf(changed), userId });
    expect(third.records).toMatchObject({ said: { changed: 1, unchanged: 1 } });
    const texts = (await engine.queryNodes({ userId })).map(({ content }) => content);
    expect(texts).toContain("I moved to Porto.");
    expect(texts).not.toContain("I moved to Lisbon.");
  });
});
