import { describe, expect, test } from "bun:test";
import { type Complex, complexOf, createTransform } from "../../src/lib/fourier.ts";

const COLUMNS = 3;

function numbers(length: number): Complex {
  const data = complexOf(length * COLUMNS);
  for (let i = 0; i < data.re.length; i++) {
    data.re[i] = Math.sin(i * i + 1) * 100;
    data.im[i] = Math.cos(3 * i * i) * 100;
  }
  return data;
}

/** The transform by its definition. */
function defined({ re, im }: Complex, length: number): Complex {
  const result = complexOf(re.length);
  for (let column = 0; column < COLUMNS; column++) {
    for (let k = 0; k < length; k++) {
      for (let j = 0; j < length; j++) {
        const angle = (-2 * Math.PI * j * k) / length;
        const [from, to] = [j * COLUMNS + column, k * COLUMNS + column];
        result.re[to]! += re[from]! * Math.cos(angle) - im[from]! * Math.sin(angle);
        result.im[to]! += re[from]! * Math.sin(angle) + im[from]! * Math.cos(angle);
      }
    }
  }
  return result;
}

function furthest(a: Complex, b: Complex): number {
  return Math.max(...a.re.map((re, i) => Math.hypot(re - b.re[i]!, a.im[i]! - b.im[i]!)));
}

describe("a Fourier transform", () => {
  test.each([2, 3, 4, 5, 6, 8, 12, 15, 60, 180, 320])(
    "of length %d is that of its definition",
    (length) => {
      const data = numbers(length);
      const expected = defined(data, length);
      createTransform(length, COLUMNS).forward(data);
      expect(furthest(data, expected)).toBeLessThan(1e-8);
    },
  );

  test.each([5, 180, 320])("of length %d is undone by its inverse", (length) => {
    const data = numbers(length);
    const transform = createTransform(length, COLUMNS);
    transform.forward(data);
    transform.backward(data);
    const undone = { re: data.re.map((x) => x / length), im: data.im.map((x) => x / length) };
    expect(furthest(undone, numbers(length))).toBeLessThan(1e-10);
  });

  test.each([0, 1, 7, 14, 2.5])("of length %d is refused", (length) => {
    expect(() => createTransform(length, COLUMNS)).toThrow(RangeError);
  });
});
