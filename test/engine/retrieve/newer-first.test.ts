import { describe, expect, test } from "bun:test";
import type { Fusion } from "../../../src/domain/scoring.ts";
import { SPEAKER_KEY } from "../../../src/domain/speaker.ts";
import { type Memory, put } from "../../contract/samples.ts";
import {
  DEFAULT_SETTINGS,
  fullReceipt,
  type OpenedEngine,
  testClock,
  useEngines,
} from "../engines.ts";
import { ask, contentsOf, withSettings } from "./pipeline-world.ts";

const { open } = useEngines({ upkeep: undefined });

const OLD = "The stand-up of the team is at half past nine every morning.";
const NEW = "The stand-up has moved to a quarter past ten.";
const QUESTION = "When is the stand-up of the team every morning?";
const FUSIONS: readonly Fusion[] = [
  DEFAULT_SETTINGS.scoring.fusion,
  { kind: "weighted", recencyTime: undefined },
  { kind: "relative", semanticShare: 0.65, recencyBoost: undefined, tieBreak: undefined },
];

/** Stores memories whose vectors are one and the same. */
async function rememberAlike(opened: OpenedEngine, ...memories: readonly Memory[]) {
  const vector = await opened.deps.embedder.embedDocument(OLD);
  return put(opened.store, ...memories.map((memory) => ({ ...memory, vector })));
}

/** A vector at some degrees from one towards another that is orthogonal to it. */
function turned(one: Float32Array, other: Float32Array, degrees: number): Float32Array {
  const angle = (degrees * Math.PI) / 180;
  return one.map((value, at) => Math.cos(angle) * value + Math.sin(angle) * (other[at] ?? 0));
}

describe("a memory that a newer one makes outdated", () => {
  test.each(FUSIONS)("stands behind it and is marked, as its receipt tells: %j", async (fusion) => {
    const opened = await open();
    const [old, fresh] = await rememberAlike(
      opened,
      { content: OLD, second: 1 },
      { content: NEW, second: 2 },
    );
    const scoring = { ...DEFAULT_SETTINGS.scoring, fusion };
    const engine = withSettings(opened, { scoring });

    const answer = await ask(engine, QUESTION);

    expect(contentsOf(answer.results)).toEqual([NEW, OLD]);
    expect(answer.results.map(({ olderThan }) => olderThan?.nodeId)).toEqual([
      undefined,
      fresh?.id,
    ]);
    expect(answer.bundle.renderedContext).toContain("[older than a record of ");
    const kept = await fullReceipt(engine, answer);
    expect(kept.receipt.schemaVersion).toBe(24);
    expect(kept.receipt.candidates.map(({ nodeId }) => nodeId as string)).toEqual([
      fresh?.id ?? "",
      old?.id ?? "",
    ]);
    const explanation = await engine.explain(answer.metadata.requestId, "ada");
    expect(
      explanation?.inContext.flatMap(({ nodeId, reasons }) =>
        reasons.flatMap(({ text, memory }) =>
          nodeId === old?.id && memory === fresh?.id && text.startsWith("older than") ? [text] : [],
        ),
      ),
    ).toHaveLength(1);
  });

  test("stands behind it where both are all there is, so that the newer one has a score of 0", async () => {
    const opened = await open();
    const [east, west] = ["The API region is east.", "The API region was changed to west."];
    const question = "What is the current API region?";
    const asked = await opened.deps.embedder.embedQuery(question);
    const aside = await opened.deps.embedder.embedDocument("xylophone");
    await put(
      opened.store,
      { content: east, second: 1, vector: turned(asked, aside, 10) },
      { content: west, second: 2, vector: turned(asked, aside, 30) },
    );
    const fusion: Fusion = {
      kind: "relative",
      semanticShare: 1,
      recencyBoost: undefined,
      tieBreak: undefined,
    };
    const scoring = { ...DEFAULT_SETTINGS.scoring, fusion };
    const off = await ask(withSettings(opened, { scoring, newerFirst: false }), question);

    const answer = await ask(withSettings(opened, { scoring }), question);

    expect(off.results.map(({ compositeScore }) => compositeScore).at(-1)).toBe(0);

    expect(contentsOf(answer.results)).toEqual([west, east]);
    const kept = await opened.engine.getRetrievalReceipt(answer.metadata.requestId, "ada");
    expect(kept?.receipt.candidates.map(({ nodeId }) => nodeId)).toEqual(
      answer.results.map(({ node }) => node.id),
    );
  });

  test("is never among strong results, or above a floor, without it", async () => {
    const opened = await open();
    const asked = await opened.deps.embedder.embedQuery(QUESTION);
    const aside = await opened.deps.embedder.embedDocument("xylophone");
    await put(
      opened.store,
      { content: OLD, second: 1, vector: turned(asked, aside, 20) },
      { content: NEW, second: 2, vector: turned(asked, aside, 50) },
      { content: "Ann likes tea.", second: 3, vector: aside },
    );

    const answer = await ask(opened.engine, QUESTION);
    const high = await ask(opened.engine, QUESTION, { minScore: 0.8 });

    for (const { results } of [answer, high]) {
      const strong = results.filter(({ strength }) => strength === "strong");
      expect(contentsOf(strong).slice(0, 2)).toEqual([NEW, OLD]);
    }
  });

  test("stands where its score puts it with the setting off", async () => {
    const opened = await open();
    await rememberAlike(opened, { content: OLD, second: 1 }, { content: NEW, second: 2 });

    const answer = await ask(withSettings(opened, { newerFirst: false }), QUESTION);

    expect(contentsOf(answer.results)).toEqual([OLD, NEW]);
    expect(answer.results.filter(({ olderThan }) => olderThan !== undefined)).toEqual([]);
    expect(answer.bundle.renderedContext).not.toContain("older than");
  });

  test("is not looked for among the memories of another owner", async () => {
    const opened = await open();
    await rememberAlike(
      opened,
      { content: OLD, second: 1 },
      { content: NEW, second: 2, userId: "bob" },
    );

    const { results } = await ask(opened.engine, QUESTION);

    expect(results.map(({ node, olderThan }) => [node.content, olderThan])).toEqual([
      [OLD, undefined],
    ]);
  });

  const apart: readonly (readonly [string, Partial<Memory>, Partial<Memory>])[] = [
    [
      "of different speakers",
      { metadata: { [SPEAKER_KEY]: "Ann" } },
      { metadata: { [SPEAKER_KEY]: "Ben" } },
    ],
    ["one of which somebody said", {}, { metadata: { [SPEAKER_KEY]: "Ben" } }],
    ["of different scopes", { scope: "personal" }, { scope: "project" }],
    ["that contest each other", { lifecycleState: "contested" }, { lifecycleState: "contested" }],
  ];
  test.each(apart)("is never looked for among memories %s", async (_, one, other) => {
    const opened = await open();
    await rememberAlike(
      opened,
      { content: OLD, second: 1, ...one },
      { content: NEW, second: 2, ...other },
    );

    const { results } = await ask(opened.engine, QUESTION);

    expect(results).toHaveLength(2);
    expect(results.filter(({ olderThan }) => olderThan !== undefined)).toEqual([]);
  });
});

describe("of two memories that say the same with another value", () => {
  const LEEDS = "Ann lives in Leeds.";
  const BATH = "Ann lives in Bath.";
  const HOME = "Where does Ann live?";

  /** Stores both, the earlier one with the vector of the question, the later one near to it. */
  async function openBoth(seed: Pick<Memory, "nodeType" | "sessionId">): Promise<OpenedEngine> {
    const opened = await open();
    const vector = await opened.deps.embedder.embedQuery(HOME);
    const near = vector.map((part, at) => part + (at === 0 ? 0.5 : 0));
    await put(
      opened.store,
      { content: LEEDS, second: 1, ...seed, vector },
      { content: BATH, second: 2, ...seed, vector: near },
    );
    return opened;
  }

  test.each(["fact", "note"] as const)(
    "the later %s stands first, neither is marked, and the receipt has the order",
    async (nodeType) => {
      const opened = await openBoth({ nodeType });

      const answer = await ask(opened.engine, HOME);
      const off = await ask(withSettings(opened, { newerFirst: false }), HOME);

      expect(contentsOf(answer.results)).toEqual([BATH, LEEDS]);
      expect(contentsOf(off.results)).toEqual([LEEDS, BATH]);
      expect(answer.results.filter(({ olderThan }) => olderThan !== undefined)).toEqual([]);
      const kept = await opened.engine.getRetrievalReceipt(answer.metadata.requestId, "ada");
      expect(kept?.receipt.candidates.map(({ nodeId }) => nodeId)).toEqual(
        answer.results.map(({ node }) => node.id),
      );
    },
  );

  test("the one that the question names stands first", async () => {
    const { engine } = await openBoth({ nodeType: "fact" });

    const { results } = await ask(engine, "Does Ann live in Leeds?");

    expect(contentsOf(results)).toEqual([LEEDS, BATH]);
  });

  test("turns of a conversation keep the places of their scores", async () => {
    const { engine } = await openBoth({ nodeType: "note", sessionId: "s" });

    const { results } = await ask(engine, HOME);

    expect(contentsOf(results)).toEqual([LEEDS, BATH]);
  });
});

describe("of notes about the thing that is asked for", () => {
  const WHERE = "Where is the van parked?";
  const VAN = [
    "The van is parked in Mill Street.",
    "Left the van in Harbour Road.",
    "Moved the van to the yard.",
    "Put the van behind the church.",
    "The van is parked in Mill Street again.",
  ];

  test("the latest stands first, through a chain and back again", async () => {
    const opened = await open();
    await rememberAlike(opened, ...VAN.map((content, at) => ({ content, second: at })));

    const { results } = await ask(opened.engine, WHERE);

    expect(results[0]?.node.content).toBe(VAN[4]);
  });

  test("the latest is what was stored last, though the clock of that assistant is a day behind", async () => {
    const one = await open({ clock: testClock("2026-03-18T12:00:00Z") });
    const behind = await open({ pack: one.pack, clock: testClock("2026-03-17T12:00:00Z") });
    const write = { userId: "ada", nodeType: "fact" } as const;
    await one.engine.store({ ...write, content: "The van is parked in Mill Street." });
    await behind.engine.store({ ...write, content: "The van is parked in Harbour Road." });

    for (const { engine } of [one, behind]) {
      const { results } = await ask(engine, WHERE);
      expect(results[0]?.node.content).toBe("The van is parked in Harbour Road.");
    }
  });

  test("what was said in a conversation keeps its place", async () => {
    const opened = await open();
    await rememberAlike(
      opened,
      ...VAN.slice(0, 2).map((content, at) => ({ content, second: at, sessionId: "s" })),
    );

    const { results } = await ask(opened.engine, WHERE);

    expect(results[0]?.node.content).toBe(VAN[0]);
  });
});
