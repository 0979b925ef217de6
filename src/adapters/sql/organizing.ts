import type { NodeType } from "../../domain/enums.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Uuid } from "../../lib/uuid.ts";
import type { KeyedNode } from "../../ports/store/search-index.ts";
import type { Store } from "../../ports/store/store.ts";
import type {
  EntityName,
  Organizing,
  PeriodSource,
  PublishedSummary,
  RepeatedText,
} from "../../ports/store/work.ts";
import { ACTIVE, isTrue, OPEN } from "./conditions.ts";
import type { Dialect } from "./dialect.ts";
import { fromNodes, type NodeRow, toKeyedNode } from "./rows.ts";
import * as sql from "./statement.ts";

/** Reads for jobs that walk over an owner's memories, see `Organizing`. */
export function bindOrganizing({ read, write }: sql.Access) {
  return {
    walkPlace: (job, userId) => read(userId, () => readWalkPlace(job, userId)),
    saveWalkPlace: (job, userId, place) => write(userId, () => writeWalkPlace(job, userId, place)),
    newestKey: (userId) => read(userId, () => readNewestKey(userId)),
    repeatedTexts: (given) => read(given.userId, () => readRepeatedTexts(given)),
    entityNames: (userId) => read(userId, () => readEntityNames(userId)),
    newNodes: (given) => read(given.userId, () => readNewNodes(given)),
    newestOfType: (userId, ...given) => read(userId, () => readNewestOfType(userId, ...given)),
    periodSources: (userId, days) => read(userId, () => readPeriodSources(userId, days)),
    publishedSummaries: (userId, since) =>
      read(userId, () => readPublishedSummaries(userId, since)),
    consolidatedIds: (userId) => read(userId, () => readConsolidatedIds(userId)),
  } satisfies Partial<Store<number>>;
}

type Read<Name extends keyof Organizing> = Parameters<Organizing<number>[Name]>[0];

/** Progress is stored with the recurring work of each job. */
const kindOf = (job: string): string => `walk:${job}`;

const WALK_PLACE = sql.statement(
  "SELECT payload FROM work WHERE owner = $1::bigint AND kind = $2 AND subject = 0",
);

function* readWalkPlace(job: string, userId: string): sql.Steps<JsonObject | undefined> {
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const row = yield* sql.get<{ payload: string | null }>(WALK_PLACE, owner, kindOf(job));
  return row === undefined || row.payload === null ? undefined : JSON.parse(row.payload);
}

/** A server derives an owner's number before there is a row. */
const SAVE_WALK_PLACE =
  sql.statement(`INSERT INTO work (owner, kind, subject, status, payload, updated_at)
  SELECT owner, $2::text, 0, 'complete', $3::text, '' FROM owners WHERE owner = $1::bigint
  ON CONFLICT (subject, kind, owner) DO UPDATE SET payload = excluded.payload`);

function* writeWalkPlace(job: string, userId: string, place: JsonObject): sql.Steps<void> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return;
  yield* sql.run(SAVE_WALK_PLACE, owner, kindOf(job), JSON.stringify(place));
}

const FORGET_WALK_PLACES = sql.statement(
  "DELETE FROM work WHERE owner = $1::bigint AND kind LIKE 'walk:%' AND subject = 0",
);

/** Restarts the walks of an owner who received other memories. Runs inside a write transaction. */
export function* forgetWalkPlaces(owner: sql.OwnerKey): sql.Steps<void> {
  yield* sql.run(FORGET_WALK_PLACES, owner);
}

/** A pack numbers the memories of all owners together. */
const NEWEST_KEY = sql.statement(
  (d) => `SELECT max(key) AS key FROM nodes ${d.isOwnerInKeys ? "WHERE owner = $1::bigint" : ""}`,
);

function* readNewestKey(userId: string): sql.Steps<number> {
  const { isOwnerInKeys } = yield* sql.dialect();
  const given = isOwnerInKeys ? [(yield* sql.ownerKey(userId)) ?? null] : [];
  const row = yield* sql.get<{ key: number | null }>(NEWEST_KEY, ...given);
  return row?.key ?? 0;
}

/** Texts by hash, stored with the vectors: no text is read. */
const REPEATED_TEXTS = sql.statement(({ isOwnerInKeys }) => {
  const [key, list, hash, after] = isOwnerInKeys
    ? ["key", "json_agg", "content_hash", "$2"]
    : ["node_key", "json_group_array", "lower(hex(content_hash))", "unhex($2)"];
  const ofOwner = "vectors WHERE owner = $1::bigint AND revision IS NOT NULL";
  return `SELECT ${hash} AS hash, ${list}(${key} ORDER BY ${key})::text AS keys FROM ${ofOwner}
    AND content_hash > ${after} AND content_hash IN (SELECT content_hash FROM ${ofOwner} AND ${key} > $3)
    GROUP BY content_hash HAVING count(*) > 1 ORDER BY content_hash LIMIT $4`;
});

function* readRepeatedTexts({
  userId,
  newerThan,
  afterHash,
  limit,
}: Read<"repeatedTexts">): sql.Steps<readonly RepeatedText<number>[]> {
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const given = [owner, afterHash, newerThan, limit];
  const rows = yield* sql.all<{ hash: string; keys: string }>(REPEATED_TEXTS, ...given);
  return rows.map(({ hash, keys }) => ({ hash, keys: JSON.parse(keys) }));
}

const ENTITY_NAMES = sql.statement(`SELECT key, scope, content FROM nodes
  WHERE owner = $1::bigint AND node_type = 'entity' AND lifecycle_state IN ${ACTIVE}`);

function* readEntityNames(userId: string): sql.Steps<readonly EntityName<number>[]> {
  return yield* sql.all<EntityName<number>>(ENTITY_NAMES, (yield* sql.ownerKey(userId)) ?? null);
}

/** Without an index, so that a pack does not sort all of the owner's memories: new ones are the last rows. */
const newNodes = (isOfType: string) =>
  sql.statement(
    (
      d,
    ) => `${fromNodes(d)} WHERE n.key > $2 AND ${d.free("n.owner")} = $1::bigint AND ${d.free("n.node_type")} ${isOfType}
      AND ${d.free("n.lifecycle_state")} IN ${OPEN} ORDER BY n.key LIMIT $3`,
  );
const NEW_NODES = newNodes("<> 'summary'");
const NEW_OF_TYPE = newNodes("= $4");

function* readNewNodes(given: Read<"newNodes">): sql.Steps<readonly KeyedNode<number>[]> {
  const { userId, nodeType, newerThan, limit } = given;
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const rows =
    nodeType === undefined
      ? yield* sql.all<NodeRow>(NEW_NODES, owner, newerThan, limit)
      : yield* sql.all<NodeRow>(NEW_OF_TYPE, owner, newerThan, limit, nodeType);
  return rows.map(toKeyedNode);
}

/** Nodes of a type up to which a pack sorts them; beyond that an index by time finds the newest faster. */
const SORTED_MAX = 5000;
const COUNT_OF_TYPE = sql.statement(
  `SELECT count(*)::float8 AS count FROM (SELECT 1 FROM nodes WHERE owner = $1::bigint AND node_type = $2 LIMIT ${SORTED_MAX}) few`,
);
const newestBy = (index: string) =>
  sql.statement(
    (d) => `${fromNodes(d)} WHERE ${d.free("n.owner")} = $1::bigint AND n.key IN (
      SELECT m.key FROM nodes m ${d.indexed(index)}
      WHERE m.owner = $1::bigint AND m.node_type = $2 AND m.lifecycle_state IN ${OPEN}
      ORDER BY m.created_at DESC, m.id DESC LIMIT $3)
    ORDER BY n.created_at DESC, n.id DESC`,
  );
const NEWEST_OF_FEW = newestBy("nodes_by_type");
const NEWEST_OF_MANY = newestBy("nodes_by_time");

function* readNewestOfType(
  userId: string,
  nodeType: NodeType,
  limit: number,
): sql.Steps<readonly KeyedNode<number>[]> {
  const owner = yield* sql.ownerKey(userId);
  if (owner === undefined) return [];
  const hasPlanner = (yield* sql.dialect()).isOwnerInKeys;
  const counted = hasPlanner
    ? undefined
    : yield* sql.get<{ count: number }>(COUNT_OF_TYPE, owner, nodeType);
  const text = (counted?.count ?? 0) < SORTED_MAX ? NEWEST_OF_FEW : NEWEST_OF_MANY;
  return (yield* sql.all<NodeRow>(text, owner, nodeType, limit)).map(toKeyedNode);
}

const DAY = "substr(coalesce(n.event_time, n.created_at), 1, 10)";
const sourcesOf = (isOfDays: (free: (column: string) => string) => string) =>
  sql.statement(
    (d) => `SELECT n.key, n.id, n.scope, ${DAY} AS day, coalesce(n.event_time, n.created_at) AS at,
      n.salience_base AS "salienceBase", n.confidence_base AS "confidenceBase"
    FROM nodes n WHERE n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE} AND n.node_type <> 'summary'
      AND ${DAY} ${isOfDays(d.free)}`,
  );
const SOURCES_OF_DAYS = sourcesOf(() => "= ANY ($2::text[])");
const SOURCES_NEWER = sourcesOf(
  (free) => `IN (SELECT DISTINCT ${DAY} FROM nodes n
    WHERE n.key > $2 AND ${free("n.owner")} = $1::bigint AND n.node_type <> 'summary')`,
);

function* readPeriodSources(
  userId: string,
  days: readonly string[] | number,
): sql.Steps<readonly PeriodSource<number>[]> {
  const text = typeof days === "number" ? SOURCES_NEWER : SOURCES_OF_DAYS;
  return yield* sql.all<PeriodSource<number>>(text, (yield* sql.ownerKey(userId)) ?? null, days);
}

/** Active summaries of the organizer: `n`. */
const published = (d: Dialect): string => `n.owner = $1::bigint AND n.node_type = 'summary'
  AND n.lifecycle_state IN ${ACTIVE} AND ${isTrue(d, "n", "consolidation_summary")}`;

/** The texts in a list in the metadata of `n`, as SQL: rows `s` with `value`; none where it is no list. */
function listed({ isOwnerInKeys }: Dialect, name: string): string {
  if (!isOwnerInKeys) return `json_each(n.metadata, '$.${name}') s`;
  const list = `n.metadata::json -> '${name}'`;
  return `json_array_elements_text(CASE json_typeof(${list}) WHEN 'array' THEN ${list} ELSE '[]'::json END) AS s (value)`;
}

/** The summary of a group, `g`, quotes what it replaced in full, and so may other summaries. */
const PUBLISHED_SUMMARIES = sql.statement(
  (
    d,
  ) => `SELECT n.key, n.id, n.scope, n.lifecycle_state IN ${OPEN} AS is_open, coalesce(n.event_time, n.created_at) AS at,
    n.salience_base, n.confidence_base, n.metadata::json ->> 'consolidation_key' AS about,
    n.metadata::json ->> 'summarization_level' AS level, n.metadata::json ->> 'period_key' AS period_key,
    n.metadata::json ->> 'consolidation_request_hash' AS request_hash,
    (n.metadata::json ->> 'consolidation_generation')::integer AS generation,
    EXISTS (SELECT 1 FROM ${listed(d, "selected_source_node_ids")} ${d.join} nodes b ON b.owner = n.owner AND b.id = s.value::uuid
      WHERE b.lifecycle_state NOT IN ${ACTIVE} AND b.superseded_by IS DISTINCT FROM n.id AND b.updated_at >= $2
        AND NOT EXISTS (SELECT 1 FROM nodes g WHERE ${d.free("g.owner")} = n.owner AND g.id = b.superseded_by
          AND g.lifecycle_state IN ${ACTIVE} AND ${isTrue(d, "g", "consolidation_summary")}
          AND g.metadata::json ->> 'summarization_level' IS NULL)) AS is_outdated
  FROM nodes n WHERE ${published(d)} ORDER BY n.created_at, n.id`,
);

type SummaryRow = Pick<PublishedSummary<number>, "key" | "id" | "scope" | "at" | "about"> & {
  readonly is_open: number | boolean;
  readonly salience_base: number;
  readonly confidence_base: number;
  readonly level: string | null;
  readonly period_key: string | null;
  readonly request_hash: string;
  readonly generation: number;
  readonly is_outdated: number | boolean;
};

function* readPublishedSummaries(
  userId: string,
  since = "",
): sql.Steps<readonly PublishedSummary<number>[]> {
  const owner = (yield* sql.ownerKey(userId)) ?? null;
  const rows = yield* sql.all<SummaryRow>(PUBLISHED_SUMMARIES, owner, since);
  return rows.map((row) => ({
    key: row.key,
    id: row.id,
    scope: row.scope,
    isOpen: Boolean(row.is_open),
    at: row.at,
    salienceBase: row.salience_base,
    confidenceBase: row.confidence_base,
    about: row.about,
    level: row.level ?? undefined,
    periodKey: row.period_key ?? undefined,
    requestHash: row.request_hash,
    generation: row.generation,
    isOutdated: Boolean(row.is_outdated),
  }));
}

const CONSOLIDATED = sql.statement(
  (d) => `SELECT s.value AS id FROM nodes n CROSS JOIN ${listed(d, "source_node_ids")}
    WHERE ${published(d)} AND n.metadata::json ->> 'summarization_level' IS NULL`,
);

function* readConsolidatedIds(userId: string): sql.Steps<ReadonlySet<Uuid>> {
  const rows = yield* sql.all<{ id: Uuid }>(CONSOLIDATED, (yield* sql.ownerKey(userId)) ?? null);
  return new Set(rows.map(({ id }) => id));
}
