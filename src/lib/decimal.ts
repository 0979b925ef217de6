/** An exact decimal number: `coefficient` times ten to the `exponent`. 0.10 and 0.1 are equal and keep their digits. */
export type Decimal = { readonly coefficient: bigint; readonly exponent: number };

/** Significant digits of a coefficient. */
const MAX_DIGITS = 38;
/** Digits before or after the decimal point. */
const MAX_MAGNITUDE = 100;

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

/**
 * Reads a decimal in plain or exponent notation, without blanks and separators: at most 38 digits, of a magnitude from 10^-100 to 10^100.
 * Zero has the magnitude of its last place.
 * @returns undefined for anything else
 */
export function parseDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const digits = `${whole}${fraction}`.replace(/^0+(?=\d)/, "");
  const exponent = Number(power) - fraction.length;
  const magnitude = exponent + digits.length - 1;
  if (digits.length > MAX_DIGITS || Math.abs(magnitude) > MAX_MAGNITUDE) return undefined;
  return { coefficient: sign === "-" ? -BigInt(digits) : BigInt(digits), exponent };
}

/** The exact sum, with as many places as the more precise summand. */
export function addDecimals(a: Decimal, b: Decimal): Decimal {
  const exponent = Math.min(a.exponent, b.exponent);
  return { coefficient: coefficientAt(a, exponent) + coefficientAt(b, exponent), exponent };
}

/** Negative, zero or positive, if `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const exponent = Math.min(a.exponent, b.exponent);
  const left = coefficientAt(a, exponent);
  const right = coefficientAt(b, exponent);
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Plain notation with all its places: 0.30, 1500, -0.000001. */
export function formatDecimal({ coefficient, exponent }: Decimal): string {
  if (exponent >= 0) return String(coefficientAt({ coefficient, exponent }, 0));
  const digits = String(coefficient < 0n ? -coefficient : coefficient).padStart(1 - exponent, "0");
  const point = digits.length + exponent;
  return `${coefficient < 0n ? "-" : ""}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** @param exponent at most that of the decimal */
function coefficientAt(decimal: Decimal, exponent: number): bigint {
  if (decimal.exponent === exponent) return decimal.coefficient;
  return decimal.coefficient * 10n ** BigInt(decimal.exponent - exponent);
}

/** The nearest number with 12 significant digits: further digits are noise from adding binary fractions. */
export function withoutNoise(value: number): number {
  return Number(value.toPrecision(12));
}
