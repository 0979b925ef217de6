import { expect, test } from "bun:test";
import { provenanceForm } from "../../../src/domain/records/score.ts";
import { receiptChecksum, receiptText } from "../../../src/engine/receipts/codec.ts";
import { sha256Hex } from "../../../src/lib/hashing.ts";
import { schemaOf } from "../../../src/surface/contract/core/schema-of.ts";
import { receiptView } from "../../../src/surface/contract/receipts.ts";
import {
  ADAPTIVE_FUSION,
  aReceipt,
  aRetrieval,
  RELATIVE_FUSION,
} from "../../engine/receipts/retrievals.ts";
import { toldJson } from "../told.ts";

const SHAPES = [{}, { weights: RELATIVE_FUSION }, { weights: ADAPTIVE_FUSION }].map((more) => ({
  ...{ seed: 5, found: 5, neighbours: 3, packed: 4, ...more },
}));

test.each(SHAPES)(
  "a receipt on the wire is its canonical text with the checksum behind it",
  (shape) => {
    const { receipt, record } = aReceipt(shape);
    const text = receiptText(receipt);
    const kept = {
      receipt,
      record,
      text,
      checksum: receiptChecksum(text),
      createdAt: receipt.referenceTime,
    };
    const wire = toldJson(receiptView, kept);
    const { checksum, ...told } = wire;
    expect(JSON.stringify(told)).toBe(text);
    expect(sha256Hex(text)).toBe(String(checksum));
    expect(schemaOf(receiptView).parse(wire)).toEqual(wire);
    for (const { node, provenance } of aRetrieval(shape).results) {
      const shown = JSON.parse(text).score_provenance[node.id];
      expect(JSON.stringify(provenanceForm.json(provenance))).toBe(JSON.stringify(shown));
    }
  },
);
