import { beforeAll, describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ResultCandidate } from "../../../src/engine/retrieve/api.ts";
import type { PackRules } from "../../../src/engine/retrieve/pack/bundle.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { leastTokens } from "../../../src/engine/retrieve/pack/record-line.ts";
import { idOf, minute, packRules, record, tokenizer } from "./pack-samples.ts";

beforeAll(() => tokenizer.ready());

const EVENT = idOf(900);
const TEXT = "Ann likes green tea";
const HOST_TEXT = "We talked for an hour: Ann likes green tea, and Bo coffee.";

function contents(
  results: readonly ResultCandidate[],
  settings: Partial<PackRules["settings"]> = {},
  budget = 4096,
): string[] {
  const { sections } = pack(results, tokenizer, packRules(budget, settings));
  return [...sections.values()].flat().map(({ candidate }) => candidate.node.content);
}

/** A short record and one whose text holds it, both of one event; `inner` is packed first unless it scores less. */
function pair(
  inner: Partial<MemoryNode> = {},
  outer: Partial<MemoryNode> = {},
  scores: readonly [number, number] = [0.9, 0.5],
): readonly ResultCandidate[] {
  return [
    record(1, TEXT, { evidenceRefs: [EVENT], ...inner }, { compositeScore: scores[0] }),
    record(2, HOST_TEXT, { evidenceRefs: [EVENT], ...outer }, { compositeScore: scores[1] }),
  ];
}

describe("folding", () => {
  test("takes out a packed record whose text a later one holds", () => {
    expect(contents(pair())).toEqual([HOST_TEXT]);
  });

  test("does not try a record whose text stands in the context", () => {
    expect(contents(pair({}, {}, [0.1, 0.9]))).toEqual([HOST_TEXT]);
  });

  test("counts what it left out among the excluded", () => {
    const [inner] = pair();
    const bundle = pack(pair(), tokenizer, packRules(4096));

    expect(bundle).toMatchObject({ includedCount: 1, excludedIds: [inner?.node.id], blankIds: [] });
    expect([...bundle.folded]).toEqual([[idOf(1), idOf(2)]]);
    expect(bundle.tokensUsed).toBe(tokenizer.count(bundle.renderedContext));
  });

  const both = [TEXT, HOST_TEXT];
  const KEPT: readonly {
    readonly name: string;
    readonly inner?: Partial<MemoryNode>;
    readonly outer?: Partial<MemoryNode>;
  }[] = [
    { name: "rests on another event", inner: { evidenceRefs: [idOf(901)] } },
    { name: "rests on no event", inner: { evidenceRefs: [] }, outer: { evidenceRefs: [] } },
    { name: "has another status", inner: { epistemicType: "inferred" } },
    { name: "has a less certain host", outer: { epistemicType: "inferred" } },
    { name: "has a time that the other lacks", inner: { eventTime: minute("03-02T10:00") } },
    {
      name: "has another time",
      inner: { eventTime: minute("03-02T10:00") },
      outer: { eventTime: minute("03-02T10:01") },
    },
    { name: "ends at a time that the other lacks", inner: { validTo: minute("05-01T00:00") } },
    {
      name: "ends at another time",
      inner: { validTo: minute("05-01T00:00") },
      outer: { validTo: minute("06-01T00:00") },
    },
    { name: "has a speaker that the other lacks", inner: { metadata: { svc_speaker_v1: "Ann" } } },
    {
      name: "has another speaker",
      inner: { metadata: { svc_speaker_v1: "Ann" } },
      outer: { metadata: { svc_speaker_v1: "Bo" } },
    },
    { name: "says it in other words", inner: { content: "Ann likes Green tea" } },
  ];

  test.each(KEPT)("keeps a record that $name", ({ inner, outer }) => {
    const [first, second] = pair(inner, outer);

    expect(contents(pair(inner, outer)).sort()).toEqual(
      [first?.node.content ?? "", second?.node.content ?? ""].sort(),
    );
  });

  const FOLDED: typeof KEPT = [
    { name: "blanks around it", inner: { content: `  ${TEXT}\n` } },
    {
      name: "further events",
      inner: { evidenceRefs: [idOf(905), EVENT] },
      outer: { evidenceRefs: [EVENT, idOf(906)] },
    },
    {
      name: "the same time",
      inner: { eventTime: minute("03-02T10:00") },
      outer: { eventTime: minute("03-02T10:00") },
    },
    { name: "a host with a time of its own", outer: { eventTime: minute("03-02T10:00") } },
    {
      name: "the same end",
      inner: { validTo: minute("05-01T00:00") },
      outer: { validTo: minute("05-01T00:00") },
    },
    {
      name: "an end that is not shown because it was replaced",
      inner: { validTo: minute("05-01T00:00"), supersededBy: idOf(77) },
    },
    {
      name: "the same speaker",
      inner: { metadata: { svc_speaker_v1: "Ann" } },
      outer: { metadata: { svc_speaker_v1: "Ann" } },
    },
    { name: "a host with a speaker of its own", outer: { metadata: { svc_speaker_v1: "Ann" } } },
    { name: "another type", inner: { nodeType: "preference" }, outer: { nodeType: "summary" } },
    { name: "a claim to an early place", inner: { pinned: true } },
  ];

  test.each(FOLDED)("folds a record with $name", ({ inner, outer }) => {
    expect(contents(pair(inner, outer))).toEqual([HOST_TEXT]);
  });

  test("names the record that is left when one folds into another that folds into a third", () => {
    const evidence = { evidenceRefs: [EVENT] };
    const three = [
      record(1, "tea", evidence),
      record(2, "green tea", evidence),
      record(3, "Ann likes green tea", evidence),
    ];
    const rules = packRules(4096, { multipathOrdering: "score" });

    expect([...pack(three, tokenizer, rules).folded]).toEqual([
      [idOf(1), idOf(3)],
      [idOf(2), idOf(3)],
    ]);
  });

  test("keeps the first of two records with one text and one event", () => {
    const twins = [1, 2].map((number) => record(number, TEXT, { evidenceRefs: [EVENT] }));

    expect(pack(twins, tokenizer, packRules(4096)).excludedIds).toEqual([idOf(2)]);
  });

  test.each([
    ["is turned off", { foldRepeatedText: false }],
    ["is not for the auditable format", { contextFormat: "auditable" }],
    ["is not for the compact format", { contextFormat: "compact" }],
  ] as const)("%s", (_, settings) => {
    expect(contents(pair(), settings).sort()).toEqual([...both].sort());
  });

  test("needs room for both before one makes way for the other", () => {
    const alone = pack(pair().slice(1), tokenizer, packRules(4096)).tokensUsed;
    const [inner, outer] = pair();
    const without = pack(
      [inner, outer].filter((one) => one !== undefined),
      tokenizer,
      packRules(alone),
    );

    expect(without.excludedIds).toEqual([idOf(2)]);
  });

  test("gives the room that it frees to later candidates", () => {
    const evidence = { evidenceRefs: [EVENT] };
    const inner = record(1, "green ".repeat(12), evidence, { compositeScore: 0.9 });
    const outer = record(2, `${"green ".repeat(12)}tea`, evidence, { compositeScore: 0.8 });
    const later = record(3, "word ".repeat(10), {}, { compositeScore: 0.3 });
    const apart = { ...outer, node: { ...outer.node, evidenceRefs: [] } };
    const budget = pack([inner, apart], tokenizer, packRules(4096)).tokensUsed;

    expect(pack([inner, apart, later], tokenizer, packRules(budget)).excludedIds).toEqual([
      idOf(3),
    ]);
    expect(pack([inner, outer, later], tokenizer, packRules(budget)).excludedIds).toEqual([
      idOf(1),
    ]);
  });

  test("gives it also to a candidate that was set aside as too large before the room was there", () => {
    const evidence = { evidenceRefs: [EVENT] };
    const shared = "some words that all three have, ".repeat(16);
    const begin = record(1, `At first ${shared}`, evidence, { compositeScore: 100 });
    const end = record(2, `${shared} and last`, evidence, { compositeScore: 100 });
    const host = record(3, `At first ${shared} and last`, evidence, { compositeScore: 1 });
    // Few runs of letters and many tokens: it seems worth more than the host until it is counted.
    const content = "word word word 日 ".repeat(45);
    const tokensOf = (text: string) => tokenizer.count(`- ${JSON.stringify(text)}`);
    const [least, cost] = [leastTokens(content), tokensOf(content)];
    const score = Math.sqrt(least * cost) / tokensOf(host.node.content);
    const large = record(4, content, {}, { compositeScore: score });
    const rules = (budget: number) => packRules(budget, { multipathOrdering: "density" });
    const alone = [begin, end, { ...host, node: { ...host.node, evidenceRefs: [] } }];
    const budget = pack(alone, tokenizer, rules(4096)).tokensUsed;
    const remaining = budget - pack([begin, end], tokenizer, rules(4096)).tokensUsed;

    expect(least).toBeGreaterThan(remaining);
    expect(pack([begin, end, host, large], tokenizer, rules(budget)).excludedIds).toEqual([
      begin.node.id,
      end.node.id,
    ]);
  });
});

describe("copies", () => {
  const COPY = "Ken was out with Rosa on Friday";
  const copies = Array.from({ length: 31 }, (_, index) =>
    record(index, ` ${COPY}`.slice(index % 2)),
  );
  const others = [
    record(60, "Ken is on parental leave until May"),
    record(61, "Ken's deputy is Rosa"),
  ];

  test.each(["reader", "compact", "auditable"] as const)(
    "are one line with how often, and leave the budget to others: %s",
    (contextFormat) => {
      const bundle = pack([...copies, ...others], tokenizer, packRules(400, { contextFormat }));

      expect(bundle.includedCount).toBe(3);
      expect(bundle.renderedContext.split(COPY)).toHaveLength(2);
      expect(bundle.renderedContext).toMatch(/31 times|"repeats":31/);
      expect(bundle.folded.size).toBe(30);
      expect(bundle.tokensUsed).toBe(tokenizer.count(bundle.renderedContext));
    },
  );

  const apart: readonly (readonly [string, Partial<MemoryNode>])[] = [
    ["happened at another time", { eventTime: minute("03-01T10:00") }],
    ["was said by somebody else", { metadata: { svc_speaker_v1: "Bo" } }],
    ["is pinned", { pinned: true }],
    ["is contested", { lifecycleState: "contested" }],
  ];
  test.each(apart)("are none where one %s", (_, given) => {
    expect(contents([record(1, COPY), record(2, COPY, given)])).toEqual([COPY, COPY]);
  });
});

describe("what is outdated", () => {
  const [OLD, NEW] = [
    "The API region is east",
    "The API region was changed to west, as we agreed with all",
  ];
  const older = (number: number, given: Partial<MemoryNode> = {}) =>
    record(number, OLD, given, { olderThan: { nodeId: idOf(2), at: minute("03-01T10:00") } });

  test("stands behind what outdates it, in the section of that", () => {
    // By its worth, by its section and by its rank it would come first.
    for (const given of [{}, { nodeType: "decision" }, { pinned: true }] as const) {
      const results = [record(2, NEW), older(3, given), record(4, "Ann likes tea")];
      expect(contents(results).slice(0, 2)).toEqual([NEW, OLD]);
    }
  });

  test("stands behind the record that contains what outdates it", () => {
    const evidenceRefs = [idOf(900)];
    const results = [
      record(1, `${NEW}, after a long talk`, { evidenceRefs }),
      record(4, "Ann likes tea"),
      record(2, NEW, { evidenceRefs }),
      older(3),
    ];
    const [, ...shown] = contents(results);
    expect(shown).toEqual([OLD, "Ann likes tea"]);
  });

  test("is left out where only an instruction says so, behind which no note may stand", () => {
    const results = [record(2, NEW, { nodeType: "instruction" }), older(3)];
    expect(contents(results)).toEqual([NEW]);
  });

  test("is left out where that does not fit", () => {
    const results = [record(2, NEW.repeat(40)), older(3), record(4, "Ann likes tea")];
    expect(contents(results, {}, 120)).toEqual(["Ann likes tea"]);
  });
});

test("what says nearly the same with another value shows when it was stored", () => {
  const homes = [
    record(1, "Anna lives in Graz", { createdAt: minute("03-01T10:00") }),
    record(2, "Anna lives in Linz", { createdAt: minute("03-02T10:00") }),
    record(3, "Tom likes tea", { createdAt: minute("03-03T10:00") }),
  ];
  const { renderedContext } = pack(homes, tokenizer, packRules(4096));

  expect(renderedContext).toContain('- [stored 2026-03-01 10:00:00] "Anna lives in Graz"');
  expect(renderedContext).toContain('- [stored 2026-03-02 10:00:00] "Anna lives in Linz"');
  expect(renderedContext).toContain('- "Tom likes tea"');
});

test("a context that holds nothing says what budget holds something", () => {
  const results = [record(1, "word ".repeat(200)), record(2, "word ".repeat(90))];
  const rules = { settings: { overheadTokens: 10 }, notice: "Coverage: some" };
  const packed = (budget: number) =>
    pack(results, tokenizer, packRules(budget, rules.settings, { notice: rules.notice }));

  const { includedCount, neededTokens = 0 } = packed(50);

  expect(includedCount).toBe(0);
  expect(packed(neededTokens)).toMatchObject({ includedCount: 1, neededTokens: undefined });
  expect(packed(neededTokens - 1)).toMatchObject({ includedCount: 0, neededTokens });
  expect(packed(2).neededTokens).toBe(neededTokens);
  expect(pack([], tokenizer, packRules(50)).neededTokens).toBeUndefined();
});
