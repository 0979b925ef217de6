import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { BuiltReceipt } from "../../../src/engine/receipts/build.ts";
import { receiptChecksum, receiptText } from "../../../src/engine/receipts/canonical.ts";
import { decodeReceipt, encodeReceipt } from "../../../src/engine/receipts/codec/codec.ts";
import { receiptProblems } from "../../../src/engine/receipts/validate.ts";
import { bitLength, createBitReader, createBitWriter } from "../../../src/lib/columnar/bits.ts";
import { ascendingIds, texts } from "../../../src/lib/columnar/columns.ts";
import { readDifference, writeDifference } from "../../../src/lib/columnar/json-difference.ts";
import {
  type Column,
  counts,
  doubles,
  flags,
  integers,
} from "../../../src/lib/columnar/numbers.ts";
import type { Json } from "../../../src/lib/json.ts";
import { asUuid } from "../../../src/lib/uuid.ts";
import { ADAPTIVE_FUSION, aReceipt, RELATIVE_FUSION } from "./retrievals.ts";
import { variedReceipt } from "./varied.ts";

function stored(built: BuiltReceipt) {
  return { ...built, checksum: receiptChecksum(receiptText(built.receipt)) };
}

describe("the stored form", () => {
  test("gives every valid receipt back, text and record", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const built = variedReceipt(seed);
        expect(receiptProblems(built)).toEqual([]);
        const decoded = decodeReceipt(encodeReceipt(stored(built)));
        expect(receiptText(decoded.receipt)).toBe(receiptText(built.receipt));
        expect(decoded.record).toEqual(built.record);
        expect(decoded.receipt).toEqual(built.receipt);
        expect(receiptChecksum(receiptText(decoded.receipt))).toBe(decoded.checksum);
      }),
      { numRuns: 300 },
    );
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

  test("keeps the name of a client beside it, and is as before without one", () => {
    const { receipt, record } = aReceipt({ seed: 3, found: 1, neighbours: 0 });
    const bytes = (client: string | undefined) =>
      encodeReceipt(stored({ receipt, record: { ...record, client } }));
    for (const client of ["x", "Käfer 🐞".repeat(20)]) {
      const decoded = decodeReceipt(bytes(client));
      expect(decoded.record).toEqual({ ...record, client });
      expect(decoded.receipt).toEqual(receipt);
    }
    expect([bytes(undefined)[0], bytes("x")[0]]).toEqual([1, 2]);
    const changed = bytes("abc");
    changed[changed.indexOf(0x61)] = 0x62;
    expect(() => decodeReceipt(changed)).toThrow("the bytes were changed");
  });

  test("keeps how long the answer took beside it, with and without the name of a client", () => {
    const { receipt, record } = aReceipt({ seed: 3, found: 1, neighbours: 0 });
    for (const given of [
      { timingMs: 0 },
      { timingMs: 2 ** 32 - 1, client: "Käfer 🐞" },
      { timingMs: 12, client: "x".repeat(100) },
    ]) {
      const bytes = encodeReceipt(stored({ receipt, record: { ...record, ...given } }));
      expect(bytes[0]).toBe(3);
      expect(decodeReceipt(bytes)).toEqual(stored({ receipt, record: { ...record, ...given } }));
    }
  });

  test("refuses a format that it does not know, by its number", () => {
    const bytes = encodeReceipt(stored(aReceipt({ seed: 3, found: 1, neighbours: 0 })));
    bytes[0] = 4;
    expect(() => decodeReceipt(bytes)).toThrow("format 4 is not known");
  });

  // Receipts are kept for a year or longer, so that what was written once has to be read by every later program.
  test.each([
    ["of version 1", "receipt-1"],
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

describe("the size of a receipt, as the store compresses it,", () => {
  const sizes = (shape: Partial<Parameters<typeof aReceipt>[0]>): number => {
    const bytes = encodeReceipt(
      stored(aReceipt({ seed: 7, found: 100, neighbours: 70, ...shape })),
    );
    return Math.min(bytes.length, Bun.zstdCompressSync(bytes, { level: 1 }).length);
  };

  test.each([
    { name: "150 candidates", shape: { found: 80, neighbours: 70 } },
    { name: "175 candidates", shape: { found: 100, neighbours: 75 } },
    { name: "a question about time", shape: { intent: "temporal" as const } },
    {
      name: "150 candidates of a question about the present",
      shape: { found: 80, neighbours: 70, query: "What is the current API region?" },
    },
    { name: "relative fusion", shape: { weights: RELATIVE_FUSION } },
    { name: "adaptive fusion", shape: { weights: ADAPTIVE_FUSION } },
  ])("is at most 10 KB for $name", ({ shape }) => {
    expect(sizes(shape)).toBeLessThanOrEqual(10 * 1024);
  });

  test("is at most 58 bytes for each candidate that was found, and 48 for each neighbour", () => {
    const base = sizes({ found: 100, neighbours: 0 });
    expect((sizes({ found: 200, neighbours: 0 }) - base) / 100).toBeLessThanOrEqual(58);
    expect((sizes({ found: 100, neighbours: 100 }) - base) / 100).toBeLessThanOrEqual(48);
  });
});

describe("a column", () => {
  const roundTrip = <T>(column: Column<T>, values: readonly T[]): T[] => {
    const out = createBitWriter();
    column.write(out, values);
    return column.read(createBitReader(out.finish()), values.length);
  };
  const holds = <T>(column: Column<T>, value: fc.Arbitrary<T>): void =>
    fc.assert(
      fc.property(fc.array(value, { maxLength: 60 }), (values) => {
        expect(roundTrip(column, values)).toEqual(values);
      }),
    );

  test("of counts keeps every whole number", () => holds(counts, fc.nat(2 ** 31 - 1)));
  test("of counts keeps numbers near 2^53", () =>
    holds(counts, fc.integer({ min: 2 ** 52, max: Number.MAX_SAFE_INTEGER - 2 })));
  test("of integers keeps the sign", () => holds(integers, fc.integer()));
  test("of flags keeps them", () => holds(flags, fc.boolean()));
  test("of texts keeps them", () => holds(texts, fc.string({ unit: "grapheme" })));
  test("of doubles keeps every finite one", () =>
    holds(
      doubles,
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    ));
  test("of doubles keeps those from 0 to 2", () =>
    holds(
      doubles,
      fc.double({ min: 0, max: 2, noNaN: true }).map((value) => value + 0),
    ));
  test("of doubles keeps those of single precision, in less room", () => {
    const single = fc.float({ min: 0, max: 1, noNaN: true }).map((value) => value + 0);
    holds(doubles, single);
    const out = createBitWriter();
    doubles.write(
      out,
      Array.from({ length: 100 }, (_, index) => Math.fround(1 / (index + 2))),
    );
    expect(out.finish().length).toBeLessThan(100 * 4);
  });

  test("of ids keeps UUIDs of any version", () => {
    fc.assert(
      fc.property(fc.array(fc.uuid({ version: [1, 4, 5, 7] })), fc.boolean(), (ids, only7) => {
        const made = ids.map((id) => (only7 ? `${id.slice(0, 14)}7${id.slice(15)}` : id));
        const sorted = [...new Set(made)].sort().map(asUuid);
        expect(roundTrip(ascendingIds, sorted)).toEqual(sorted);
      }),
    );
  });
});

describe("bits", () => {
  test("come back in their widths", () => {
    const field = fc
      .integer({ min: 0, max: 53 })
      .chain((width) =>
        fc.record({ width: fc.constant(width), value: fc.maxSafeNat().map((n) => n % 2 ** width) }),
      );
    fc.assert(
      fc.property(fc.array(field), (fields) => {
        const out = createBitWriter();
        for (const { value, width } of fields) out.bits(value, width);
        const from = createBitReader(out.finish());
        expect(fields.map(({ width }) => from.bits(width))).toEqual(
          fields.map(({ value }) => value),
        );
      }),
    );
  });

  test("end where they end", () => {
    const out = createBitWriter();
    out.bits(5, 3);
    out.text("é");
    const from = createBitReader(out.finish());
    expect([from.bits(3), from.text()]).toEqual([5, "é"]);
    expect(() => from.bits(32)).toThrow(RangeError);
    expect(() => from.bytes(1)).toThrow(RangeError);
  });

  test.each([
    [0, 0],
    [1, 1],
    [255, 8],
    [2 ** 32 - 1, 32],
    [2 ** 32, 33],
    [Number.MAX_SAFE_INTEGER, 53],
  ])("of %d are counted as %d", (value, length) => {
    expect(bitLength(value)).toBe(length);
  });
});

describe("a difference of JSON", () => {
  const PATTERN: Json = { a: 1, b: { c: [1, 2], d: null }, e: "x" };
  const back = (json: Json): Json | undefined => {
    const out = createBitWriter();
    writeDifference(out, json, PATTERN);
    return readDifference(createBitReader(out.finish()), PATTERN);
  };

  test.each<{ name: string; json: Json }>([
    { name: "the pattern itself", json: PATTERN },
    { name: "an inner value", json: { a: 1, b: { c: [1, 2], d: 5 }, e: "x" } },
    { name: "missing keys", json: { b: { d: null } } },
    { name: "another order of keys", json: { e: "x", a: 1 } },
    { name: "an unknown key", json: { a: 1, z: [] } },
    { name: "no object", json: 7 },
    { name: "an empty object", json: {} },
  ])("restores $name, its keys in order", ({ json }) => {
    expect(JSON.stringify(back(json))).toBe(JSON.stringify(json));
  });
});
