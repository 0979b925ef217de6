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

describe("a claim in words that stand alone", () => {
  const eventTime = "2023-05-10T14:30:05Z";

  test("is a memory with those words, and says where they come from", async () => {
    const rule = resolving(/Faro/, {
      evidence_quote: "I moved to Faro yesterday.",
      object: "Faro",
      resolved_text: "Clara moved to Faro on 9 May 2023.",
    });
    const { engine, provider } = await extracting(
      { rules: [rule] },
      { ...ALONE, windowTurns: 4, resolvesText: true },
    );
    await engine.ingest(said("I like tea."));
    const clara = { role: "participant", speaker: "Clara", eventTime };
    const eventId = await engine.ingest(said("I moved to Faro yesterday.", clara));
    expect(provider.asked.at(-1)?.references).toEqual([
      "Earlier messages, for reading only:\n1. I like tea.",
      "About the message:\nSpeaker: Clara\nDate: Wednesday, 10 May 2023",
    ]);
    const [faro] = (await engine.queryNodes({ userId: "ada", nodeType: "fact", limit: 9 })).filter(
      ({ metadata }) => metadata?.["object"] === "Faro",
    );
    expect(faro?.content).toBe("Clara moved to Faro on 9 May 2023.");
    expect(faro?.metadata).toMatchObject({
      subject: "I",
      evidence_quote: "I moved to Faro yesterday.",
      grounding_method: "resolved_text_v1",
      resolution: {
        method: "reference_resolution_v1",
        original: "I moved to Faro yesterday.",
        replacements: [
          { kind: "name", original: "I", replacement: "Clara", sources: [{ source: "speaker" }] },
          {
            kind: "date",
            original: "yesterday",
            replacement: "on 9 May 2023",
            date: "2023-05-09",
            sources: [{ source: "source_time", reference_time: "2023-05-10T14:30:05.000000Z" }],
          },
        ],
        window_event_ids: [expect.any(String)],
      },
    });
    expect(faro?.evidenceRefs).toEqual([eventId]);
  });

  test("that says something else is refused and counted, and the claim stays in its own words", async () => {
    const rule = resolving(/Faro/, { resolved_text: "Ben moved to Faro." });
    const { engine } = await extracting({ rules: [rule] }, { ...ALONE, resolvesText: true });
    const eventId = await engine.ingest(said("I moved to Faro."));
    const [faro] = await engine.queryNodes({ userId: "ada", nodeType: "fact", limit: 9 });
    expect(faro?.content).toBe("I moved to Faro.");
    expect(faro?.metadata).not.toHaveProperty("resolution");
    const record = await engine.getExtraction(eventId, "ada");
    expect(record?.dropped).toEqual({ resolved_text_changed: 1 });
  });
});
