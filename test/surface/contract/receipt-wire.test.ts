import { expect, test } from "bun:test";
import { provenanceForm } from "../../../src/domain/records/score.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import { receiptView } from "../../../src/surface/contract/receipts.ts";
import { NODE_ID } from "../fixtures.ts";
import { KEPT_RECEIPT, RANK_FUSED } from "../retrieval-fixtures.ts";
import { toldJson } from "../told.ts";

test("a receipt on the wire is its canonical text with the checksum behind it", () => {
  const { checksum, ...receipt } = toldJson(receiptView, KEPT_RECEIPT);
  expect(JSON.stringify(receipt)).toBe(KEPT_RECEIPT.text);
  expect(sha256Hex(JSON.stringify(receipt))).toBe(String(checksum));
});

test("a receipt is what its schema says", () => {
  const wire = toldJson(receiptView, KEPT_RECEIPT);
  expect(schemaOf(receiptView).parse(wire)).toEqual(wire);
});

test("an answer shows the provenance of a score as the receipt does", () => {
  const provenance = JSON.parse(KEPT_RECEIPT.text).score_provenance[NODE_ID];
  expect(JSON.stringify(provenanceForm.json(RANK_FUSED))).toBe(JSON.stringify(provenance));
});
