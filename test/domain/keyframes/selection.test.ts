import { describe, expect, test } from "bun:test";
import { createSelection } from "../../../src/domain/keyframes/selection.ts";
import {
  blurred,
  SIGNATURE_HEIGHT,
  SIGNATURE_WIDTH,
  type Signature,
  signatureOf,
} from "../../../src/domain/keyframes/signature.ts";

/** Left, top, right, bottom (the last two excluded) and grey. */
type Rectangle = readonly [number, number, number, number, number];

function canvas(background: number, ...rectangles: readonly Rectangle[]): Float64Array {
  const grey = new Float64Array(SIGNATURE_WIDTH * SIGNATURE_HEIGHT).fill(background);
  for (const [left, top, right, bottom, value] of rectangles) {
    for (let y = top; y < bottom; y++) {
      grey.fill(value, y * SIGNATURE_WIDTH + left, y * SIGNATURE_WIDTH + right);
    }
  }
  return grey;
}

function change(first: Float64Array, second: Float64Array): number | undefined {
  const selection = createSelection({ changeThreshold: 0.55, maxGapSeconds: 30 });
  selection.offer(blurred(first), 0);
  return selection.offer(blurred(second), 1).change;
}

const RECTANGLE: Rectangle = [40, 40, 120, 100, 220];
const ONE = canvas(64, RECTANGLE);
const LINE: Rectangle = [40, 30, 280, 36, 20];

describe("the change between two pictures", () => {
  test.each([
    { name: "equal ones", first: ONE, second: ONE, score: 0 },
    { name: "black and white", first: canvas(0), second: canvas(255), score: 0 },
    { name: "a rectangle that appears", first: canvas(64), second: ONE, score: 3.05 },
    { name: "a shift", first: ONE, second: canvas(64, [46, 44, 126, 104, 220]), score: 0 },
    { name: "a move", first: ONE, second: canvas(64, [180, 60, 260, 120, 220]), score: 0 },
    { name: "brightness", first: ONE, second: ONE.map((grey) => grey + 30), score: 0 },
    {
      name: "a second rectangle",
      first: ONE,
      second: canvas(64, RECTANGLE, [200, 120, 280, 150, 220]),
      score: 2.79,
    },
    {
      name: "a line of writing",
      first: canvas(230, LINE),
      second: canvas(230, LINE, [40, 80, 160, 84, 20]),
      score: 1.75,
    },
    {
      name: "a bar in the margin",
      first: ONE,
      second: canvas(64, RECTANGLE, [0, 0, 320, 6, 220]),
      score: 0.004,
    },
  ])("is $score for $name", ({ first, second, score }) => {
    expect(Math.abs((change(first, second) ?? Number.NaN) - score)).toBeLessThanOrEqual(0.02);
  });
});

describe("of the frames of a video", () => {
  test("those are kept that are first, differ from the one kept last, or come long after it", () => {
    const selection = createSelection({ changeThreshold: 0.55, maxGapSeconds: 30 });
    const [plain, with1] = [blurred(canvas(64)), blurred(ONE)];
    const shown = [plain, plain, with1, with1, plain];
    const times = [0, 29.9, 30, 60, 60.5];
    const verdicts = shown.map((signature, i) => selection.offer(signature, times[i]!).reason);
    expect(verdicts).toEqual(["first", undefined, "change", "heartbeat", "change"]);
  });

  test("one that is not kept is not what later ones are compared with", () => {
    const selection = createSelection({ changeThreshold: 3, maxGapSeconds: 30 });
    const one = blurred(canvas(64, RECTANGLE));
    const two = blurred(canvas(64, RECTANGLE, [200, 120, 280, 150, 220]));
    selection.offer(one, 0);
    expect(selection.offer(two, 1).reason).toBeUndefined();
    expect(selection.offer(one, 2)).toEqual({ change: 0, reason: undefined });
  });
});

test("the grey of a pixel weighs red, green and blue as eyes do", () => {
  const bgr = new Uint8Array(SIGNATURE_WIDTH * SIGNATURE_HEIGHT * 3).map(
    (_, i) => [10, 100, 200][i % 3]!,
  );
  const signature: Signature = signatureOf(bgr);
  expect(signature[5000]).toBeCloseTo(0.114 * 10 + 0.587 * 100 + 0.299 * 200, 9);
});
