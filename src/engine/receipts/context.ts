import type { RetrievalReceipt } from "../../domain/records/receipt.ts";
import type { ContextNode, StoredReceipt } from "../../ports/store/receipt-log.ts";
import { decodeReceipt } from "./codec/codec.ts";

/** The memories in the context of an answer. */
export function contextOf({ candidates }: Pick<RetrievalReceipt, "candidates">): ContextNode[] {
  return candidates.flatMap(({ nodeId, inContext, representation }, index) =>
    inContext && representation !== undefined ? [{ nodeId, rank: index + 1, representation }] : [],
  );
}

/** The same of a stored receipt; of a damaged one, nothing. */
export function storedContext({ body }: StoredReceipt): ContextNode[] {
  try {
    return contextOf(decodeReceipt(body).receipt);
  } catch {
    return [];
  }
}
