import { expect, test } from "bun:test";
import fc from "fast-check";
import { shellWord } from "../../src/lib/text.ts";

test.each([
  ["/home/ada/memory.pack", "/home/ada/memory.pack"],
  ["a b", "'a b'"],
  ["it's", "'it'\\''s'"],
  ["$HOME", "'$HOME'"],
  ["", "''"],
])("%s is written as %s", (word, written) => {
  expect(shellWord(word)).toBe(written);
});

test("a shell reads every word back as it was", () => {
  const word = fc.string({ unit: "grapheme-ascii" }).filter((text) => !text.includes("\0"));
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 20 }), (words) => {
      const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
      const { stdout } = Bun.spawnSync(["/bin/sh", "-c", script]);
      expect(stdout.toString().split("\0").slice(0, -1)).toEqual(words);
    }),
    { numRuns: 25 },
  );
});
