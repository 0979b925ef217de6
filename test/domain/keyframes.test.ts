import { describe, expect, test } from "bun:test";
import {
  createSelection,
  GREYS_HEIGHT,
  GREYS_WIDTH,
} from "../../src/domain/records/observation.ts";

/** A frame of one grey, with a number of cells in another one. */
function greys(background: number, cells = 0, grey = 0): Float64Array {
  return new Float64Array(GREYS_WIDTH * GREYS_HEIGHT).fill(background).fill(grey, 0, cells);
}

const PLAIN = greys(64);
/** A tenth of the frame. */
const BOX = greys(64, 230, 220);

describe("of the frames of a video", () => {
  test.each([
    { name: "an equal one", frame: PLAIN, change: 0 },
    { name: "a box that appears", frame: BOX, change: 15.573 },
    { name: "white instead of grey", frame: greys(255), change: 191 },
  ])("$name differs by $change", ({ frame, change }) => {
    const selection = createSelection({ changeThreshold: 0.55, maxGapSeconds: 30 });
    selection.offer(PLAIN, 0);
    expect(selection.offer(frame, 1).change).toBe(change);
  });

  test("those are kept that are first, differ from the one kept last, or come long after it", () => {
    const selection = createSelection({ changeThreshold: 0.55, maxGapSeconds: 30 });
    const shown = [PLAIN, PLAIN, BOX, BOX, PLAIN];
    const times = [0, 29.9, 30, 60, 60.5];
    const verdicts = shown.map((frame, i) => selection.offer(frame, times[i]!).reason);
    expect(verdicts).toEqual(["first", undefined, "change", "heartbeat", "change"]);
  });

  test("one that is not kept is not what later ones are compared with", () => {
    const selection = createSelection({ changeThreshold: 16, maxGapSeconds: 30 });
    selection.offer(PLAIN, 0);
    expect(selection.offer(BOX, 1).reason).toBeUndefined();
    expect(selection.offer(PLAIN, 2)).toEqual({ change: 0, reason: undefined });
  });
});
