import { QUERY_INTENTS } from "../../../domain/enums.ts";
import type { KeptReceipt } from "../../../domain/records/explanation.ts";
import { receiptForm } from "../../../domain/records/receipt.ts";
import type { ListedRetrieval, ListedRetrievals } from "../../../engine/receipts/api.ts";
import {
  count,
  dictionary,
  flag,
  instant,
  list,
  member,
  nullable,
  object,
  sha256,
  text,
  uuid,
} from "../../../lib/form.ts";
import { noted, told, type View, view } from "../../../lib/view.ts";

const checksum = noted(sha256, {
  description:
    "SHA-256 of the object without this key: UTF-8, no blanks, keys in this order, shortest numbers.",
});

/** One page of retrievals. */
export const retrievalsView = noted(
  view<ListedRetrievals>()({
    retrievals: list(
      object<ListedRetrieval>({
        requestId: uuid,
        createdAt: instant,
        client: noted(nullable(text), { description: "The program that asked, if it said so." }),
        query: text,
        intent: member(QUERY_INTENTS),
        resultCount: count,
        contextCount: noted(count, { description: "Records in the context." }),
        tokensUsed: count,
        notes: list(text),
        failures: dictionary(text),
      }),
    ),
    count: told(count, ({ retrievals }) => retrievals.length),
    hasMore: flag,
    nextCursor: noted(nullable(text), { description: "Pass it as cursor for the next page." }),
  }),
  { id: "RetrievalPage" },
);

/** A receipt: the keys of its canonical text in order, then the checksum of that text. */
export const receiptView: View<KeptReceipt> = {
  json: ({ text: receipt, checksum: own }) => ({ ...JSON.parse(receipt), checksum: own }),
  shape: {
    kind: "object",
    members: [...receiptForm.members, { name: "checksum", key: "checksum", form: checksum }],
  },
  notes: {
    id: "RetrievalReceipt",
    description: "Everything that decided an answer; no part of it holds the text of a memory.",
  },
};
