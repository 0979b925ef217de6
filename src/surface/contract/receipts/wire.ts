import { receiptForm } from "../../../domain/records/receipt.ts";
import type { KeptReceipt } from "../../../engine/receipts/api.ts";
import { sha256 } from "../../../lib/form.ts";
import { noted, type View } from "../../../lib/view.ts";

const checksum = noted(sha256, {
  description:
    "SHA-256 of the object without this key: UTF-8, no blanks, keys in this order, shortest numbers.",
});

/** A receipt: the keys of its canonical text in order, then the checksum of that text. */
export const receiptView: View<KeptReceipt> = {
  json: ({ text, checksum: own }) => ({ ...JSON.parse(text), checksum: own }),
  shape: {
    kind: "object",
    members: [...receiptForm.members, { name: "checksum", key: "checksum", form: checksum }],
  },
  notes: {
    id: "RetrievalReceipt",
    description: "Everything that decided an answer; no part of it holds the text of a memory.",
  },
};
