import { expect, test } from "bun:test";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { receiptAnswerSchema, toReceiptWire } from "../../../src/surface/contract/receipts/wire.ts";
import { toProvenanceWire } from "../../../src/surface/contract/retrieval/score-wire.ts";
import { NODE_ID } from "../fixtures.ts";
import { KEPT_RECEIPT, RANK_FUSED } from "../retrieval-fixtures.ts";

test("a receipt on the wire is its canonical text with the checksum behind it", () => {
  const { checksum, ...receipt }: { checksum?: unknown } = toReceiptWire(KEPT_RECEIPT);
  expect(JSON.stringify(receipt)).toBe(KEPT_RECEIPT.text);
  expect(sha256Hex(JSON.stringify(receipt))).toBe(String(checksum));
});

test("a receipt is what its schema says", () => {
  const wire = toReceiptWire(KEPT_RECEIPT);
  const read: object = receiptAnswerSchema.parse(wire);
  expect(read).toEqual(wire);
});

test("an answer shows the provenance of a score as the receipt does", () => {
  const provenance = JSON.parse(KEPT_RECEIPT.text).score_provenance[NODE_ID];
  expect(JSON.stringify(toProvenanceWire(RANK_FUSED))).toBe(JSON.stringify(provenance));
});
