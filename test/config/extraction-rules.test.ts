import { expect, test } from "bun:test";
import { batchTargetTokens, extractionComplaints } from "../../src/config/rules.ts";

const SETTINGS = {
  extraction_batch_target_tokens: undefined,
  enable_windowed_extraction: false,
  extraction_window_turns: 4,
  enable_extraction_corrections: false,
};
type Settings = Partial<Record<keyof typeof SETTINGS, number | boolean>>;

function outcome(given: Settings): readonly [number, readonly string[]] {
  const config = { ...SETTINGS, ...given };
  // SAFETY: each row names settings with values of their types.
  const settings = config as Parameters<typeof extractionComplaints>[0];
  return [
    batchTargetTokens(settings),
    extractionComplaints(settings).map(({ setting }) => setting),
  ];
}

const WINDOW: Settings = { enable_windowed_extraction: true };
const CORRECTIONS: Settings = { enable_extraction_corrections: true };
const TARGET = "extraction_batch_target_tokens";

test.each<[string, Settings, number, readonly string[]]>([
  ["nothing set", {}, 2048, []],
  ["a target", { [TARGET]: 512 }, 512, []],
  ["a window", WINDOW, 0, []],
  ["a window and no target", { ...WINDOW, [TARGET]: 0 }, 0, []],
  ["a window and a target", { ...WINDOW, [TARGET]: 512 }, 512, [TARGET]],
  ["a window of no turns", { ...WINDOW, extraction_window_turns: 0, [TARGET]: 512 }, 512, []],
  ["corrections", CORRECTIONS, 2048, []],
  [
    "corrections, each alone",
    { ...CORRECTIONS, [TARGET]: 0 },
    0,
    ["enable_extraction_corrections"],
  ],
  ["corrections and a window", { ...CORRECTIONS, ...WINDOW }, 0, ["enable_extraction_corrections"]],
])("%s", (_, given, target, refused) => {
  expect(outcome(given)).toEqual([target, refused]);
});
