import {
  type AnswerCitations,
  isLean,
  type KeptReceipt,
  type LeanReceipt,
} from "../../../domain/records/receipt.ts";
import { counted, listed, moment, name, oneLine, rounded } from "../core/tool-text.ts";

/** Code points of the question that a receipt repeats. */
const QUERY_CHARS = 500;
/** A list ends early at 8 Mi characters; this many records, of at most 1,000 ids each, never reach that. */
const UNCUT_RECORDS = 100;

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

/** Which memories an answer was made from. */
export function tellCitations(record: AnswerCitations): string {
  return `citation_id ${record.citationId}: ${citedBy(record)}`;
}

/** One page of records. */
export function tellCitationsList(
  records: readonly AnswerCitations[],
  page: { readonly afterId: unknown; readonly limit: number },
): string {
  const last = records.at(-1);
  if (last === undefined) {
    return `No citations are recorded${page.afterId === undefined ? "" : " behind after_id"}.`;
  }
  const more =
    records.length < Math.min(page.limit, UNCUT_RECORDS)
      ? "the last page"
      : `more may follow with after_id ${last.citationId}`;
  return [
    `${counted(records.length, "record", "records")} by id; ${more}.`,
    ...records.map(tellCitations),
  ].join("\n");
}

function citedBy({
  answerId,
  citedNodeIds,
  requestId,
  recordedAt,
  method,
}: AnswerCitations): string {
  const cited = citedNodeIds.length === 0 ? "nothing" : citedNodeIds.join(", ");
  return `answer ${JSON.stringify(answerId)} cites ${cited} from retrieval ${requestId} (${method}, ${moment(recordedAt)})`;
}
