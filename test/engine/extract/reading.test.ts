import { describe, expect, test } from "bun:test";
import { answerTo, entry, type Rule } from "../../adapters/language-model/scripted-provider.ts";
import { useExtracting } from "./extracting.ts";

const { extracting } = useExtracting();
const ALONE = { batchTargetTokens: 0 };

const said = (content: string, more: object = {}) => ({
  content,
  role: "user",
  userId: "ada",
  sessionId: "s",
  waitForExtraction: true,
  ...more,
});

/** Says what `entry` says, with other words for the first fact. */
const resolving = (when: RegExp, fact: object): Rule => ({
  when,
  reply: (asked) =>
    answerTo(asked, (content) => {
      const { facts, ...rest } = entry(content);
      return { ...rest, facts: facts.map((given) => ({ ...given, ...fact })) };
    }),
});

describe("earlier messages", () => {
  test("of the session are shown, as many as are set, and support nothing", async () => {
    const invent = resolving(/Rome/, { object: "Lisbon", evidence_quote: "I live in Lisbon." });
    const { engine, provider } = await extracting(
      { rules: [invent] },
      { ...ALONE, windowTurns: 2 },
    );
    await engine.ingest(said("Hello."));
    await engine.ingest(said("I live in Lisbon.", { role: "participant", speaker: "Ben" }));
    await engine.ingest(said("I like tea."));
    await engine.ingest(said("I live in Oslo.", { sessionId: "other" }));
    await engine.ingest(said("I live in Rome."));
    expect(provider.asked.map(({ references }) => references)).toEqual([
      [],
      ["Earlier messages, for reading only:\n1. Hello."],
      ["Earlier messages, for reading only:\n1. Hello.\n2. Ben: I live in Lisbon."],
      [],
      ["Earlier messages, for reading only:\n1. Ben: I live in Lisbon.\n2. I like tea."],
    ]);
    const rome = await engine.queryNodes({ userId: "ada", nodeType: "fact", limit: 9 });
    expect(rome.map(({ metadata }) => metadata?.["object"]).sort()).toEqual([
      "Lisbon",
      "Oslo",
      "tea",
    ]);
  });

  test("are not shown unless that is on", async () => {
    const { engine, provider } = await extracting({}, ALONE);
    await engine.ingest(said("I like tea."));
    await engine.ingest(said("I like rice."));
    expect(provider.asked.flatMap(({ references }) => references)).toEqual([]);
  });
});
