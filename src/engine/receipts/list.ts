import {
  cursorOf,
  LIMITS,
  parseCursor,
  parseId,
  parseOptionalBoolean,
  parseOptionalText,
  parseOwner,
  parsePageLimit,
  parseUserId,
} from "../../domain/arguments.ts";
import { parseInstantInput } from "../../domain/lifecycle.ts";
import { isLean } from "../../domain/records/receipt.ts";
import { nextTurn } from "../../lib/pause.ts";
import type { Graph } from "../../ports/store/graph.ts";
import type {
  AuditLog,
  ReceiptLog,
  ReceiptPage,
  StoredReceipt,
} from "../../ports/store/records.ts";
import type { EngineDeps } from "../deps.ts";
import type {
  ListedRetrieval,
  ListedRetrievals,
  ListedUses,
  RetrievalsQuery,
  UsesQuery,
} from "./api.ts";
import { requestsThatCite } from "./citations.ts";
import { decodeReceipt, openReceipt, type StoredForm } from "./codec.ts";
import { noteWords } from "./explain.ts";

type ListDeps = Pick<EngineDeps<Pick<ReceiptLog, "receipts">>, "store" | "warn">;

/** Receipts read between two yields. */
const READ_AT_ONCE = 25;

/** One page of the retrievals whose receipts are kept, newest first; ends early at `LIMITS.pageChars` of questions. @throws SvcError invalid_argument */
export async function listRetrievals(
  { store, warn }: ListDeps,
  query: RetrievalsQuery,
): Promise<ListedRetrievals> {
  const client = parseOptionalText(query.client, "client");
  const failed = parseOptionalBoolean(query.failed, "failed");
  const limit = parsePageLimit(query.limit);
  let page: ReceiptPage = {
    userId: parseUserId(query.userId),
    timeFrom: parseInstantInput(query.timeFrom, "time_from"),
    timeTo: parseInstantInput(query.timeTo, "time_to"),
    before: parseCursor(query.cursor),
    limit: Math.min(limit + 1, READ_AT_ONCE),
  };
  const isWanted = (one: ListedRetrieval): boolean =>
    (client ?? one.client) === one.client &&
    (failed === undefined || failed === Object.keys(one.failures).length > 0);
  const found: ListedRetrieval[] = [];
  // The filters look into the receipts, so one page may need several reads.
  for (;;) {
    const stored = await store.receipts(page);
    found.push(...stored.flatMap((receipt) => toListed(receipt, warn) ?? []).filter(isWanted));
    const last = stored.at(-1);
    if (pageOf(found, limit).length < found.length) break;
    if (last === undefined || stored.length < page.limit) break;
    page = { ...page, before: { at: last.createdAt, id: last.requestId } };
    await nextTurn();
  }
  const retrievals = pageOf(found, limit);
  const hasMore = retrievals.length < found.length;
  const end = hasMore ? retrievals.at(-1) : undefined;
  return {
    retrievals,
    hasMore,
    nextCursor: end && cursorOf({ at: end.createdAt, id: end.requestId }),
  };
}

/** As many as fit on a page, at least one. */
function pageOf(found: readonly ListedRetrieval[], limit: number): readonly ListedRetrieval[] {
  let chars = 0;
  const end = found.findIndex(({ query }, index) => {
    chars += query.length;
    return index === limit || (index > 0 && chars > LIMITS.pageChars);
  });
  return end === -1 ? found : found.slice(0, end);
}

function toListed(
  { requestId, createdAt, body }: StoredReceipt,
  warn: (message: string) => void,
): ListedRetrieval | undefined {
  let opened: StoredForm;
  try {
    opened = decodeReceipt(body);
  } catch {
    warn(`the receipt of retrieval ${requestId} is damaged and was left out of a list`);
    return undefined;
  }
  const { receipt, record } = opened;
  return {
    requestId,
    createdAt,
    client: record.client,
    query: receipt.query,
    intent: record.intent,
    resultCount: isLean(receipt) ? receipt.resultCount : receipt.candidates.length,
    contextCount: record.context.length,
    tokensUsed: record.tokensUsed,
    timingMs: record.timingMs,
    notes: noteWords(receipt, record),
    failures: record.backendFailures,
  };
}

type UseStore = Pick<ReceiptLog, "usesOf"> & Pick<Graph, "node"> & Pick<AuditLog, "auditRecordsOf">;
type UseDeps = Pick<EngineDeps<UseStore>, "store" | "warn">;

/** One page of the answers whose context contained a memory. @throws SvcError invalid_argument */
export async function listUses(
  { store, warn }: UseDeps,
  nodeId: string,
  query: UsesQuery,
): Promise<ListedUses | undefined> {
  const id = parseId(nodeId, "node_id");
  const before = parseCursor(query.cursor);
  const limit = parsePageLimit(query.limit);
  const node = await store.node(id, parseOwner(query.userId));
  if (node === undefined) return undefined;
  const { userId } = node;
  const { items, hasMore } = await store.usesOf({ userId, nodeId: id, before, limit });
  const citing = items.length === 0 ? new Set() : await requestsThatCite({ store }, userId, id);
  const last = hasMore ? items.at(-1)?.receipt : undefined;
  return {
    retrievals: items.flatMap(({ receipt: { requestId, createdAt, body }, ...use }) => {
      try {
        const { told, client } = openReceipt(body);
        const cited = citing.has(requestId);
        return [{ requestId, createdAt, client, query: told.query, ...use, cited }];
      } catch {
        warn(`the receipt of retrieval ${requestId} is damaged and was left out of a list`);
        return [];
      }
    }),
    hasMore,
    nextCursor: last && cursorOf({ at: last.createdAt, id: last.requestId }),
  };
}
