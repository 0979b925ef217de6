import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isReceiptWhole } from "../../../src/engine/receipt-check.ts";
import type { BuiltReceipt } from "../../../src/engine/receipts/build.ts";
import {
  decodeReceipt,
  encodeReceipt,
  parseReceipt,
  receiptChecksum,
  receiptText,
} from "../../../src/engine/receipts/codec.ts";
import { receiptProblems } from "../../../src/engine/receipts/validate.ts";
import { WEIGHTS } from "../retrieve/pool.ts";
import { ADAPTIVE_FUSION, aReceipt, RELATIVE_FUSION } from "./retrievals.ts";

function stored(built: BuiltReceipt) {
  const text = receiptText(built.receipt);
  return { ...built, text, checksum: receiptChecksum(text) };
}

describe("the stored form", () => {
  test.each([
    { query: "" },
    { weights: RELATIVE_FUSION, query: 'Naïve "quotes" \u2028 😀\n\\' },
    { weights: ADAPTIVE_FUSION, query: "\ufeffwhen?" },
    { weights: WEIGHTS, query: "x".repeat(300) },
  ])("gives a receipt back, text and record: $query", (shape) => {
    const built = aReceipt({ seed: 5, found: 9, neighbours: 4, packed: 6, ...shape });
    expect(receiptProblems(built)).toEqual([]);
    const one = stored(built);
    expect(decodeReceipt(encodeReceipt(one))).toEqual(one);
    expect(parseReceipt(one.text)).toEqual(one.receipt);
  });

  test("refuses bytes of which any was changed, and bytes that end early", () => {
    const bytes = encodeReceipt(stored(aReceipt({ seed: 3, found: 6, neighbours: 4 })));
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(() => decodeReceipt(changed)).toThrow(RangeError);
    }
    for (const length of [0, 1, 40, bytes.length - 1]) {
      expect(() => decodeReceipt(bytes.slice(0, length))).toThrow(RangeError);
    }
  });

  test.each([
    {},
    { client: "Käfer 🐞".repeat(20) },
    { client: "two\nlines", timingMs: 2 ** 32 - 1 },
    { timingMs: 0 },
  ])("keeps what is known of the client and the time: %o", (given) => {
    const { receipt, record } = aReceipt({ seed: 3, found: 1, neighbours: 0 });
    const one = stored({ receipt, record: { ...record, ...given } });
    expect(decodeReceipt(encodeReceipt(one))).toEqual(one);
  });

  test("refuses an encoding that it does not know, by its number", () => {
    const bytes = encodeReceipt(stored(aReceipt({ seed: 3, found: 1, neighbours: 0 })));
    bytes[0] = 2;
    expect(() => decodeReceipt(bytes)).toThrow("encoding 2 is not known");
  });

  test("is whole only if its scores and its checksum are right", () => {
    const one = stored(aReceipt({ seed: 3, found: 6, neighbours: 4 }));
    const [first, ...others] = one.receipt.candidates;
    const candidates = [{ ...first!, score: first!.score + 0.5 }, ...others];
    const wrong = stored({ ...one, receipt: { ...one.receipt, candidates } });
    expect(isReceiptWhole(encodeReceipt(one))).toBeTrue();
    expect(isReceiptWhole(encodeReceipt(wrong))).toBeFalse();
    expect(isReceiptWhole(encodeReceipt({ ...one, checksum: "0".repeat(64) }))).toBeFalse();
  });

  // Receipts are kept for a year or longer, so that what was written once has to be read by every later program.
  test.each([
    ["of encoding 1", "receipt-1"],
    ["with a memory that a newer one makes outdated", "receipt-newer-first"],
  ])("%s is read as it was written", (_, name) => {
    const folder = join(import.meta.dir, "../../golden");
    const bytes = Uint8Array.fromBase64(readFileSync(join(folder, `${name}.base64`), "utf8"));
    const { receipt, record, checksum } = decodeReceipt(bytes);
    const golden: { readonly receipt: string; readonly record: unknown } = JSON.parse(
      readFileSync(join(folder, `${name}.json`), "utf8"),
    );
    expect(receiptText(receipt)).toBe(golden.receipt);
    expect(JSON.parse(JSON.stringify(record))).toEqual(golden.record);
    expect(receiptChecksum(golden.receipt)).toBe(checksum);
    expect(receiptProblems({ receipt, record })).toEqual([]);
  });
});

test("a stored receipt takes at most 130 bytes for each memory that was found, and 90 for each neighbour", () => {
  const size = (shape: { readonly found: number; readonly neighbours: number }): number =>
    encodeReceipt(stored(aReceipt({ seed: 7, ...shape }))).length;
  const base = size({ found: 100, neighbours: 0 });
  expect((size({ found: 200, neighbours: 0 }) - base) / 100).toBeLessThanOrEqual(130);
  expect((size({ found: 100, neighbours: 100 }) - base) / 100).toBeLessThanOrEqual(90);
});
