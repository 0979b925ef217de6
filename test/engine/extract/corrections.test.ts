import { describe, expect, test } from "bun:test";
import { answerTo, entry, type Rule } from "../../adapters/language-model/scripted-provider.ts";
import { useExtracting } from "./extracting.ts";

const { extracting } = useExtracting();
const ON = { corrections: true };

const said = (content: string, more: object = {}) => ({
  content,
  role: "user",
  userId: "ada",
  sessionId: "s",
  waitForExtraction: true,
  ...more,
});

/** Says that every fact of a turn replaces the memory whose text matches. */
const correcting = (when: RegExp, replaced: RegExp, more: object = {}): Rule => ({
  when,
  reply: (asked) => {
    const shown = [...(asked.references[0] ?? "").matchAll(/label="(m\d+)"[^>]*>([^<]*)</g)];
    const label = shown.find(([, , text = ""]) => replaced.test(text))?.[1] ?? "m99";
    return answerTo(asked, (content) => {
      const { facts, ...rest } = entry(content);
      const update = { temporal_intent: "update", replaces_memory: label, ...more };
      return {
        ...rest,
        facts: facts.map((fact) => (when.test(content) ? { ...fact, ...update } : fact)),
      };
    });
  },
});

type Opened = Awaited<ReturnType<typeof extracting>>;
async function states({ engine }: Pick<Opened, "engine">) {
  const nodes = await engine.queryNodes({
    userId: "ada",
    limit: 99,
    lifecycleStates: ["tentative", "stable", "superseded"],
  });
  const facts = nodes.filter(({ nodeType }) => nodeType === "fact");
  return Object.fromEntries(facts.map(({ content, lifecycleState }) => [content, lifecycleState]));
}

describe("an earlier memory", () => {
  test("is shown with a label, and replaced by the message that corrects it", async () => {
    const opened = await extracting({ rules: [correcting(/Porto/, /Lisbon/)] }, ON);
    const { engine, provider } = opened;
    await engine.ingest(said("I live in Lisbon."));
    const eventId = await engine.ingest(said("I moved to Porto now.", { sessionId: "t" }));
    expect(provider.asked[1]?.references[0]).toContain('label="m1"');
    expect(await states(opened)).toEqual({
      "I live in Lisbon.": "superseded",
      "I moved to Porto now.": "tentative",
    });
    const record = await engine.getExtraction(eventId, "ada");
    expect(JSON.stringify(record?.result)).toContain("replaces_node_id");
  });

  test("that was stored by hand can be corrected as well", async () => {
    const opened = await extracting({ rules: [correcting(/Porto/, /Lisbon/)] }, ON);
    await opened.engine.store({
      userId: "ada",
      content: "Ada's home is in Lisbon",
      nodeType: "fact",
    });
    await opened.engine.ingest(said("I moved to Porto now."));
    expect(await states(opened)).toMatchObject({ "Ada's home is in Lisbon": "superseded" });
  });

  test.each<[string, string, object]>([
    ["the message says nothing of a change", "I live in Porto.", {}],
    [
      "the claim depends on a condition",
      "I moved to Porto now if it rains.",
      { epistemic_type: "conditional", condition: "if it rains" },
    ],
    [
      "the model names a label that was not shown",
      "I moved to Porto now.",
      { replaces_memory: "m7" },
    ],
    [
      "the model says that it is no update",
      "I moved to Porto now.",
      { temporal_intent: "assertion" },
    ],
    ["the message is older", "I moved to Porto now.", {}],
    ["another kind of source speaks", "I moved to Porto now.", {}],
  ])("stays when %s", async (what, content, more) => {
    const opened = await extracting({ rules: [correcting(/Porto/, /Lisbon/, more)] }, ON);
    const { engine } = opened;
    await engine.ingest(said("I live in Lisbon."));
    await engine.ingest(
      said(content, {
        ...(what === "the message is older" && { eventTime: "2001-01-01T00:00:00Z" }),
        ...(what.startsWith("another kind") && { role: "tool" }),
      }),
    );
    expect(await states(opened)).toMatchObject({ "I live in Lisbon.": "tentative" });
  });

  test("of another owner or scope is not shown", async () => {
    const opened = await extracting({ rules: [correcting(/Porto/, /Lisbon/)] }, ON);
    const { engine, provider } = opened;
    await engine.ingest(said("I live in Lisbon.", { userId: "bob" }));
    await engine.ingest(said("I live in Lisbon.", { scope: "project" }));
    await engine.ingest(said("I moved to Porto now."));
    expect(provider.asked.flatMap(({ references }) => references)).toEqual([]);
  });

  test("is shown to halves and to turns asked again with labels of their own", async () => {
    let isFirst = true;
    const cut: Rule = {
      when: /tea/,
      reply: ({ turns }) => {
        if (turns.length < 2 || !isFirst) return undefined;
        isFirst = false;
        return "{";
      },
    };
    const opened = await extracting({ rules: [cut] }, ON);
    const { engine, provider } = opened;
    await engine.ingest(said("I live in Lisbon."));
    await engine.ingestBatch({
      messages: ["I like tea.", "I own a boat."].map((content) => ({ content, role: "user" })),
      userId: "ada",
      sessionId: "s",
      waitForExtraction: true,
    });
    const shown = provider.asked.slice(1).map(({ references }) => references.join());
    expect(shown).toHaveLength(3);
    for (const one of shown) expect(one).toContain('label="m1"');
  });

  test("is not shown unless corrections are on", async () => {
    const { engine, provider } = await extracting();
    await engine.ingest(said("I live in Lisbon."));
    await engine.ingest(said("I moved to Porto now."));
    expect(provider.asked.flatMap(({ references }) => references)).toEqual([]);
  });
});
