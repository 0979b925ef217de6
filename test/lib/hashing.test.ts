import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { sha256Hex, sha256HexOfBytes } from "../../src/lib/hashing.ts";

test("sha256Hex matches the published digest of abc", () => {
  expect(sha256Hex("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});

test("sha256Hex hashes the UTF-8 bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(sha256Hex(text)).toBe(createHash("sha256").update(text, "utf8").digest("hex"));
    }),
  );
});

test("sha256HexOfBytes hashes the bytes themselves", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(sha256HexOfBytes(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
    }),
  );
});
