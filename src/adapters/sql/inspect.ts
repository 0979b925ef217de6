import { SCOPES } from "../../domain/enums.ts";
import type { DropReason, RemovedPart } from "../../domain/extraction/result.ts";
import { EXTRACTION_OPERATION } from "../../domain/extraction/work.ts";
import { asInstant } from "../../lib/instant.ts";
import type {
  Counted,
  ExtractionInspection,
  FailingWork,
  StoreInspection,
} from "../../ports/store/store.ts";
import { inspectBlobs } from "./blobs.ts";
import { ACTIVE } from "./conditions.ts";
import { type Dialect, sqlList } from "./dialect.ts";
import { ERASED_EVENTS } from "./events.ts";
import { readPackOwner } from "./owners.ts";
import * as sql from "./statement.ts";

/** Work that writes memories and index entries. */
export const PENDING = "kind = 'materialization' AND status = 'pending'";

const count = (from: string): string => `(SELECT count(*) FROM ${from})::float8`;

const COUNTS = sql.statement(`SELECT ${count("nodes")} AS "nodeCount",
  ${count(`nodes WHERE lifecycle_state IN ${ACTIVE}`)} AS "activeCount", ${count("edges")} AS "edgeCount",
  ${count("events")} - ${count(ERASED_EVENTS)} AS "eventCount", ${count("owners")} AS "ownerCount", ${count(`work WHERE ${PENDING}`)} AS "pendingJobs",
  ${count(`work WHERE ${PENDING} AND last_error IS NOT NULL`)} AS "failedJobs"`);
const LAST_MODIFIED = sql.statement(
  "SELECT max(at) AS at FROM (SELECT max(updated_at) AS at FROM nodes UNION ALL SELECT max(timestamp) FROM events) latest",
);
const RECEIPTS = sql.statement(
  "SELECT count(*)::float8 AS count, coalesce(sum(octet_length(body)), 0)::float8 AS bytes FROM receipts",
);
/** The work of one kind, combined over all owners. */
const FAILING_WORK =
  sql.statement(`SELECT kind, max(attempts) AS attempts, max(last_error) AS "lastError" FROM work
  WHERE subject = 0 AND last_error IS NOT NULL GROUP BY kind ORDER BY kind`);

/** Rows that say what is usual. */
const RECENT = 100;
const RECENT_TEXTS = sql.statement(
  `SELECT substr(content, 1, 1000) AS text FROM nodes WHERE lifecycle_state IN ${ACTIVE} ORDER BY created_at DESC, id DESC LIMIT ${RECENT}`,
);
const RECENT_STORES = sql.statement(
  ({ isOwnerInKeys }) => `SELECT e.timestamp AS admitted, w.updated_at AS done FROM work w
     JOIN events e ON ${isOwnerInKeys ? "e.owner = w.owner AND e.id = w.event_id" : "e.key = w.subject"}
   WHERE w.kind = 'materialization' AND w.status = 'complete'
   ORDER BY ${isOwnerInKeys ? "w.updated_at" : "w.subject"} DESC LIMIT ${RECENT}`,
);
const RECENT_RECEIPTS = sql.statement(
  `SELECT body FROM receipts ORDER BY created_at DESC LIMIT ${RECENT}`,
);

function* inspectRecent(): sql.Steps<StoreInspection["recent"]> {
  const texts = yield* sql.all<{ text: string }>(RECENT_TEXTS);
  const stores = yield* sql.all<{ admitted: string; done: string }>(RECENT_STORES);
  const receipts = yield* sql.all<{ body: Uint8Array }>(RECENT_RECEIPTS);
  return {
    texts: texts.map(({ text }) => text),
    storesMs: stores.map(({ admitted, done }) => Date.parse(done) - Date.parse(admitted)),
    receipts: receipts.map(({ body }) => body),
  };
}

type Counts = Pick<
  StoreInspection,
  | "nodeCount"
  | "activeCount"
  | "edgeCount"
  | "eventCount"
  | "ownerCount"
  | "pendingJobs"
  | "failedJobs"
>;
type Contents = Counts &
  Pick<
    StoreInspection,
    "owner" | "blobs" | "receipts" | "recent" | "extraction" | "failingWork" | "lastModified"
  >;

/** Common statistics of every store. Runs in a snapshot. */
export function* inspectContents(): sql.Steps<Contents> {
  const [counts] = yield* sql.all<Counts>(COUNTS);
  if (counts === undefined) throw new TypeError("a statement without FROM has a row");
  const last = yield* sql.get<{ at: string | null }>(LAST_MODIFIED);
  return {
    ...counts,
    owner: yield* readPackOwner(),
    blobs: yield* inspectBlobs(),
    receipts: (yield* sql.get<StoreInspection["receipts"]>(RECEIPTS)) ?? { count: 0, bytes: 0 },
    recent: yield* inspectRecent(),
    extraction: yield* inspectExtraction(),
    failingWork: yield* sql.all<FailingWork>(FAILING_WORK),
    lastModified: last?.at == null ? undefined : asInstant(last.at),
  };
}

const FAILED = "w.kind = 'extraction' AND w.status = 'failed'";
const EXTRACTING = sql.statement(
  "SELECT count(*)::float8 AS count FROM work WHERE kind = 'extraction' AND status = 'pending'",
);
const FAILURES =
  sql.statement(`SELECT coalesce(w.last_error, 'unknown') AS reason, count(*)::float8 AS times FROM work w
  WHERE ${FAILED} GROUP BY 1 ORDER BY times DESC, reason`);
const FIRST_FAILED = sql.statement(
  ({ isOwnerInKeys }) => `SELECT e.id AS "eventId", o.user_id AS "userId" FROM work w
     JOIN events e ON ${isOwnerInKeys ? "e.owner = w.owner AND e.id = w.event_id" : "e.key = w.subject"}
     JOIN owners o ON o.owner = e.owner
   WHERE ${FAILED} ORDER BY ${isOwnerInKeys ? "e.timestamp, e.id" : "e.key"} LIMIT 1`,
);
/** Adds up the counts in extraction records. */
const DROPS = sql.statement(
  (d) => `SELECT d.key AS reason, sum(d.value::int)::float8 AS times
   FROM (SELECT payload::json ->> 'record' AS record FROM operations WHERE namespace_id IN ${sqlList(SCOPES)}
       AND op_type = '${EXTRACTION_OPERATION}' AND op_type <> 'DIRECT_STORE_REQUESTED') r, ${dropped(d)} d
   GROUP BY 1 ORDER BY times DESC, reason`,
);

const dropped = ({ isOwnerInKeys }: Dialect): string =>
  isOwnerInKeys
    ? "json_each_text(coalesce(r.record::json -> 'dropped', '{}'))"
    : "json_each(CASE WHEN json_valid(r.record) THEN r.record ELSE '{}' END, '$.dropped')";

function* inspectExtraction(): sql.Steps<ExtractionInspection> {
  return {
    pending: (yield* sql.get<{ count: number }>(EXTRACTING))?.count ?? 0,
    failed: yield* sql.all<Counted>(FAILURES),
    firstFailed: yield* sql.get<{ eventId: string; userId: string }>(FIRST_FAILED),
    dropped: yield* sql.all<Counted<DropReason | RemovedPart>>(DROPS),
  };
}
