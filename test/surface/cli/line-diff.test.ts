import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { lineDiff } from "../../../src/surface/cli/commands/connect.ts";

describe("the difference of two texts", () => {
  test.each([
    { name: "is nothing for the same text", before: "a\n", after: "a\n", lines: [] },
    {
      name: "is all of a new text",
      before: "",
      after: "a\nb\n",
      lines: ["@@ -0,0 +1,2 @@", "+a", "+b"],
    },
    {
      name: "is all of a text that goes",
      before: "a\n",
      after: "",
      lines: ["@@ -1,1 +0,0 @@", "-a"],
    },
    {
      name: "leaves out the lines around it",
      before: "secret\nb\nsecret\n",
      after: "secret\nB\nC\nsecret\n",
      lines: ["@@ -2,1 +2,2 @@", "-b", "+B", "+C"],
    },
    {
      name: "names the line after which others come",
      before: "a\nb\n",
      after: "a\nx\nb\n",
      lines: ["@@ -1,0 +2,1 @@", "+x"],
    },
    {
      name: "has no carriage returns",
      before: "a\r\n",
      after: "a\r\nb\r\n",
      lines: ["@@ -1,0 +2,1 @@", "+b"],
    },
  ])("$name", ({ before, after, lines }) => {
    expect(lineDiff(before, after)).toEqual(lines);
  });

  test("shows of a long line what is around the change", () => {
    const line = (middle: string): string => `${"k".repeat(500)}${middle}${"t".repeat(500)}`;
    const [, gone, come] = lineDiff(line("<>"), line('<"m":{}>'));
    expect(gone).toBe(`-…${"k".repeat(29)}<>${"t".repeat(29)}…`);
    expect(come).toBe(`+…${"k".repeat(29)}<"m":{}>${"t".repeat(29)}…`);
  });

  test("is what one has and the other has not, for any texts", () => {
    const texts = fc.array(fc.constantFrom<string>("a", "b", "c"), { maxLength: 6 });
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const text = (lines: readonly string[]): string =>
          lines.map((line) => `${line}\n`).join("");
        const [head = "@@ -0,0 +0,0 @@", ...changed] = lineDiff(text(before), text(after));
        const [, start = "0", count = "0"] = /^@@ -(\d+),(\d+) /.exec(head) ?? [];
        const from = Number(count) === 0 ? Number(start) : Number(start) - 1;
        const come = changed.filter((line) => line.startsWith("+")).map((line) => line.slice(1));
        expect(before.toSpliced(from, Number(count), ...come)).toEqual(after);
      }),
    );
  });
});
