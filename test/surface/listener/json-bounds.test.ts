import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { complaintAboutJson, MAX_ENTRIES, MAX_LEVELS } from "../../../src/surface/listener/body.ts";
import { processorMs } from "../../processor-time.ts";

const lists = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

describe("nesting", () => {
  test("of 512 levels is accepted, of 513 it is not", () => {
    expect(MAX_LEVELS).toBe(512);
    expect(complaintAboutJson(lists(512))).toBeUndefined();
    expect(complaintAboutJson(lists(513))).toBe(
      "lists and objects are nested deeper than 512 levels",
    );
    const objects = `${'{"a":'.repeat(513)}1${"}".repeat(513)}`;
    expect(complaintAboutJson(objects)).toBe("lists and objects are nested deeper than 512 levels");
  });

  test("beside each other is no nesting", () => {
    expect(complaintAboutJson(`[${Array(5000).fill("[[]]").join(",")}]`)).toBeUndefined();
  });

  test.each([
    { name: "brackets", text: "[".repeat(2000) },
    { name: "an escaped quotation mark", text: `\\"${"[".repeat(2000)}` },
    { name: "escaped backslashes", text: `${"[".repeat(2000)}\\\\` },
  ])("within a text counts for nothing: $name", ({ text }) => {
    expect(complaintAboutJson(`{"content":"${text}","a":1}`)).toBeUndefined();
  });

  test("behind a text that ends in a backslash counts", () => {
    expect(complaintAboutJson(`["\\\\",${"[".repeat(600)}`)).toContain("nested deeper");
  });
});

describe("entries", () => {
  test("up to half a million are accepted", () => {
    expect(MAX_ENTRIES).toBe(500_000);
    expect(complaintAboutJson(`[${"0,".repeat(499_998)}0]`)).toBeUndefined();
    expect(complaintAboutJson(`[${"0,".repeat(500_000)}0]`)).toBe(
      "holds more than 500000 entries; split it into several requests",
    );
  });

  test("commas within texts count for nothing", () => {
    expect(complaintAboutJson(`{"content":"${",".repeat(600_000)}"}`)).toBeUndefined();
  });
});

test("no JSON of few levels and entries is complained about, whatever its texts hold", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 20 }), fc.string({ unit: "binary" }), (json, text) => {
      const padding = JSON.stringify(`${"x".repeat(600)}${text}\\"[[[{{{,,,`);
      expect(complaintAboutJson(`[${padding},${json},${padding}]`)).toBeUndefined();
    }),
    { numRuns: 200 },
  );
});

test.each([
  { name: "open brackets", text: "[".repeat(10_485_760) },
  { name: "one long text", text: `"${"x".repeat(10_485_000)}"` },
  { name: "escaped quotation marks", text: `"${'\\"'.repeat(5_000_000)}"` },
  { name: "backslashes", text: `"${"\\".repeat(10_000_000)}"` },
  { name: "a text that does not end", text: `"${'\\"'.repeat(5_000_000)}` },
  { name: "digits", text: "1".repeat(10_485_760) },
])("10 MiB take less than a second: $name", ({ text }) => {
  const started = processorMs();
  complaintAboutJson(text);
  expect(processorMs() - started).toBeLessThan(1000);
});
