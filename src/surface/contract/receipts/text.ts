import { isLean, type KeptReceipt, type LeanReceipt } from "../../../domain/records/receipt.ts";
import { counted, listed, moment, name, oneLine, rounded } from "../core/tool-text.ts";

/** Code points of the question that a receipt repeats. */
const QUERY_CHARS = 500;

/** What determined an answer: the question, the results in order, and which of them reached the context. */
export function tellReceipt({ receipt }: KeptReceipt): string {
  const lean = isLean(receipt) ? receipt : undefined;
  const candidates: readonly LeanReceipt["candidates"][number][] =
    lean?.candidates ??
    receipt.candidates.map((one, index) => ({ ...one, rank: index + 1, reasons: undefined }));
  const packed = candidates.filter((candidate) => candidate.inContext).length;
  return [
    `Retrieval ${receipt.requestId}, ${moment(receipt.referenceTime)}, of ${name(receipt.userId)}: ${oneLine(receipt.query, QUERY_CHARS)}`,
    `${counted(lean?.resultCount ?? candidates.length, "result", "results")}, ${packed} in the context (sha256 ${receipt.contextSha256})`,
    ...(lean ? ["detail lean: parts of scores and what is not listed here were not kept"] : []),
    ...listed(candidates, ({ nodeId, rank, score, inContext }) => {
      return `${rank}. ${nodeId} score ${rounded(score)}${inContext ? ", in the context" : ""}`;
    }),
  ].join("\n");
}
