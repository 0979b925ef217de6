import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addDecimals,
  compareDecimals,
  type Decimal,
  formatDecimal,
  parseDecimal,
} from "../../src/lib/decimal.ts";

/** The decimal of a text that is one. */
function decimal(text: string): Decimal {
  const parsed = parseDecimal(text);
  if (parsed === undefined) throw new Error(`${text} was refused`);
  return parsed;
}

describe("parseDecimal", () => {
  test.each([
    ["0", 0n, 0],
    ["-0", 0n, 0],
    ["007", 7n, 0],
    ["0.10", 10n, -2],
    [".5", 5n, -1],
    ["5.", 5n, 0],
    ["+1.50", 150n, -2],
    ["-12.034", -12034n, -3],
    ["1e3", 1n, 3],
    ["1.20E-7", 120n, -9],
    ["0.00", 0n, -2],
    ["99999999999999999999999999999999999999", 10n ** 38n - 1n, 0],
    ["1e100", 1n, 100],
    ["1e-100", 1n, -100],
    ["0.000000000000000000000000000000000000000000000001", 1n, -48],
  ])("reads %s", (text, coefficient, exponent) => {
    expect(parseDecimal(text)).toEqual({ coefficient, exponent });
  });

  test.each([
    "",
    " ",
    "1 ",
    ".",
    "-",
    "+.",
    "e5",
    "1e",
    "1,000",
    "1_000",
    "0x10",
    "١",
    "NaN",
    "Infinity",
    "--1",
    "1.2.3",
    "1e1.5",
    "100000000000000000000000000000000000000",
    "1e101",
    "1e-101",
    "10e100",
    "0e-101",
    "1e9999999",
  ])("refuses %j", (text) => {
    expect(parseDecimal(text)).toBeUndefined();
  });

  test("has room for 38 digits behind a hundred zeros", () => {
    const text = `0.${"0".repeat(99)}${"7".repeat(38)}`;
    expect(formatDecimal(decimal(text))).toBe(text);
  });
});

describe("formatDecimal", () => {
  test.each([
    ["0.30", "0.30"],
    ["-0.30", "-0.30"],
    ["1e3", "1000"],
    ["1.5e1", "15"],
    ["1E-7", "0.0000001"],
    ["-0", "0"],
    ["-0.00", "0.00"],
    ["0e5", "0"],
    ["+42", "42"],
    ["00.5", "0.5"],
  ])("writes %s as %s", (text, plain) => {
    expect(formatDecimal(decimal(text))).toBe(plain);
  });

  test("writes the digits of any decimal so that they are read as the same number", () => {
    fc.assert(
      fc.property(decimals, (value) => {
        const text = formatDecimal(value);
        expect(text).toMatch(/^-?\d+(\.\d+)?$/);
        expect(compareDecimals(decimal(text), value)).toBe(0);
      }),
    );
  });
});

/** Coefficients of up to 8 digits at exponents from -30 to 30. */
const decimals = fc
  .tuple(fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.integer({ min: -30, max: 30 }))
  .map(([digits, exponent]): Decimal => ({ coefficient: BigInt(digits), exponent }));

/** A whole number of units of 10^-30, worked out from the text alone. */
function inUnits(text: string): bigint {
  const [whole = "", fraction = ""] = text.replace("-", "").split(".");
  const units = BigInt(whole + fraction.padEnd(30, "0"));
  return text.startsWith("-") ? -units : units;
}

describe("addDecimals", () => {
  test("0.10 and 0.2 make 0.30", () => {
    expect(formatDecimal(addDecimals(decimal("0.10"), decimal("0.2")))).toBe("0.30");
  });

  test("keeps the places of the summand that has more, in either order", () => {
    expect(formatDecimal(addDecimals(decimal("1e3"), decimal("0.050")))).toBe("1000.050");
    expect(formatDecimal(addDecimals(decimal("0.050"), decimal("1e3")))).toBe("1000.050");
  });

  test("is exact", () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const sum = inUnits(formatDecimal(addDecimals(a, b)));
        expect(sum).toBe(inUnits(formatDecimal(a)) + inUnits(formatDecimal(b)));
      }),
    );
  });

  test("sums 100,000 decimals with exponents from -30 to 30 exactly", () => {
    let total: Decimal = { coefficient: 0n, exponent: 0 };
    let expected = 0n;
    let state = 7n;
    for (let count = 0; count < 100_000; count += 1) {
      state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
      const coefficient = (state >> 20n) % 10n ** 12n;
      const exponent = Number((state >> 5n) % 61n) - 30;
      total = addDecimals(total, { coefficient, exponent });
      expected += coefficient * 10n ** BigInt(exponent + 30);
    }
    expect(inUnits(formatDecimal(total))).toBe(expected);
    expect(total.exponent).toBe(-30);
  });
});

describe("compareDecimals", () => {
  test.each([
    ["0.10", "0.1", 0],
    ["1e3", "1000.0", 0],
    ["-0", "0.000", 0],
    ["9007199254740993", "9007199254740992", 1],
    ["0.1000000000000000000000000000000000001", "0.1", 1],
    ["-2", "-1.5", -1],
    ["-1e-100", "1e-100", -1],
    ["1e100", "99999999999999999999999999999999999999", 1],
  ])("finds %s against %s as %d", (a, b, order) => {
    expect(compareDecimals(decimal(a), decimal(b))).toBe(order);
  });

  test("orders as whole numbers of the smallest unit do", () => {
    fc.assert(
      fc.property(decimals, decimals, (a, b) => {
        const difference = inUnits(formatDecimal(a)) - inUnits(formatDecimal(b));
        const order = difference === 0n ? 0 : difference < 0n ? -1 : 1;
        expect(compareDecimals(a, b)).toBe(order);
      }),
    );
  });
});
