import { describe, expect, test } from "bun:test";
import type { MemoryNode } from "../../../src/domain/node.ts";
import type { ContextFormat } from "../../../src/domain/records/retrieval-record.ts";
import type { MemoryBundle } from "../../../src/engine/retrieve/api.ts";
import { pack } from "../../../src/engine/retrieve/pack/pack.ts";
import { verifyBundle } from "../../../src/engine/retrieve/verify-bundle.ts";
import type { Instant } from "../../../src/lib/instant.ts";
import { idOf, packRules, record, tokenizer } from "./pack-samples.ts";

await tokenizer.ready();

type Given = Partial<MemoryNode> & { readonly content: string };

const MEMORIES: readonly Given[] = [
  { content: "Ann adores green tea and, in winter, black coffee" },
  { content: "Bob moved to Bergen", eventTime: "2024-03-18T12:00:00.000000Z" as Instant },
];

/** A context of these memories in this order, m1 and up, as packing makes it. */
function bundleOf(
  memories: readonly Given[] = MEMORIES,
  contextFormat: ContextFormat = "reader",
  contextCitations = contextFormat === "reader",
): MemoryBundle {
  const rules = packRules(100_000, { contextFormat, contextCitations, multipathOrdering: "score" });
  const results = memories.map(({ content, ...given }, at) => record(at + 1, content, given));
  return pack(results, tokenizer, rules);
}

/** The numbers of the memories in which each quote or date stands. */
function places(answer: string): readonly (readonly [string, readonly number[]])[] {
  return verifyBundle(answer, bundleOf()).passages.map(({ text, memoryIds }) => [
    text,
    memoryIds.map((id) => [1, 2].findIndex((number) => idOf(number) === id) + 1),
  ]);
}

describe("a citation", () => {
  test.each([
    { format: "reader", answer: "Tea [m1]. Bergen [m2]." },
    { format: "reader", answer: "Tea and Bergen [m1, m2]" },
    { format: "compact", answer: "Tea [m1][m2]" },
    { format: "auditable", answer: `Tea [${idOf(1)}; ${idOf(2).toUpperCase()}]` },
  ] as const)("names a record of a $format context: $answer", ({ format, answer }) => {
    const { ok, citations } = verifyBundle(answer, bundleOf(MEMORIES, format));
    expect([ok, citations.map(({ memoryId }) => memoryId)]).toEqual([true, [idOf(1), idOf(2)]]);
  });

  test("of no record is found out, and listed once", () => {
    const { ok, citations } = verifyBundle("Tea [m1]. Rain [m7], and snow [m7].", bundleOf());
    expect(ok).toBe(false);
    expect(citations.map(({ reference, memoryId }) => [reference, memoryId])).toEqual([
      ["m1", idOf(1)],
      ["m7", undefined],
    ]);
  });

  test("brings state and dates of its memory", () => {
    const validTo = "2025-01-01T00:00:00.000000Z" as Instant;
    const bundle = bundleOf([
      { content: "Ann rests", lifecycleState: "contested", epistemicType: "inferred", validTo },
    ]);
    expect(verifyBundle("She rests [m1]", bundle).citations).toMatchObject([
      { lifecycleState: "contested", epistemicType: "inferred", validTo, outdatedBy: undefined },
    ]);
  });

  test("is not in brackets of another kind", () => {
    const { citations } = verifyBundle("m1, (m2) and [see m3] or [m1 and more]", bundleOf());
    expect(citations).toEqual([]);
  });
});

describe("a quote", () => {
  test.each([
    'She said "green tea" [m1]',
    "She said “Green  Tea.” [m1]",
    "Sie sagt „green tea“ [m1]",
    "Elle dit « green tea » [m1]",
    'She adores "green … black coffee" [m1]',
    'Bergen [m2]\n"black coffee" [m1]',
  ])("stands in the record that its line cites: %s", (answer) => {
    expect(verifyBundle(answer, bundleOf()).ok).toBe(true);
    expect(places(answer).at(-1)?.[1]).toEqual([1]);
  });

  test("is looked for in every record if its line cites none", () => {
    expect(places('"Bergen", she said, not "Oslo"')).toEqual([
      ["Bergen", [2]],
      ["Oslo", []],
    ]);
  });

  test.each([
    'She said "red tea" [m1]',
    'She said "green tea" [m2]',
    'She said "coffee ... tea" [m1]',
    'She said "green tea" [m9]',
  ])("that stands elsewhere or nowhere is found out: %s", (answer) => {
    const { ok, passages } = verifyBundle(answer, bundleOf());
    expect([ok, passages[0]?.memoryIds]).toEqual([false, []]);
  });
});

describe("a date", () => {
  test("stands in the text or the times of its record", () => {
    expect(places("He moved in 2024 [m2], on 2024-03-18, not in 2019.")).toEqual([
      ["2024", [2]],
      ["2024-03-18", [2]],
      ["2019", []],
    ]);
  });

  test("is no number with other digits around it", () => {
    expect(places("12024, 2,024, 2024.5, 3024 and 1/2024 [m2]")).toEqual([]);
  });
});

test("an answer without citations, quotes and dates has nothing to check", () => {
  expect(verifyBundle("It rains.", bundleOf())).toEqual({ ok: true, citations: [], passages: [] });
});

test("refuses a blank answer, and reader records without references, but not an empty context", () => {
  const codes = (answer: string, bundle: MemoryBundle) => {
    try {
      return verifyBundle(answer, bundle).ok;
    } catch (error) {
      return (error as { data: { field: string } }).data.field;
    }
  };
  expect(codes(" ", bundleOf())).toBe("answer");
  expect(codes("Tea", bundleOf(MEMORIES, "reader", false))).toBe("context_citations");
  expect(codes("Tea", bundleOf([], "reader", false))).toBe(true);
});
