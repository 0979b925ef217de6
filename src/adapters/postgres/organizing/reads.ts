import type { NodeType } from "../../../domain/enums.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { KeyedNode } from "../../../ports/store/search-index.ts";
import type {
  EntityName,
  Organizing,
  PeriodSource,
  PublishedSummary,
  RepeatedText,
} from "../../../ports/store/work.ts";
import { ACTIVE } from "../conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { FROM_NODES, type NodeRow, toKeyedNode } from "../rows.ts";

const OPEN = "('tentative', 'stable')";
type Read<Name extends keyof Organizing> = Parameters<Organizing<number>[Name]>[0];

/** Texts by their hashes, which stand beside the vectors: no text is read. */
export async function readRepeatedTexts(
  sql: Sql,
  { userId, newerThan, afterHash, limit }: Read<"repeatedTexts">,
): Promise<readonly RepeatedText<number>[]> {
  const rows = await sql.all<{ hash: string; keys: readonly number[] }>(
    `SELECT content_hash AS hash, json_agg(key ORDER BY key) AS keys FROM vectors
     WHERE owner = $1::bigint AND content_hash > $2 AND content_hash IN
       (SELECT content_hash FROM vectors WHERE owner = $1::bigint AND key > $3)
     GROUP BY content_hash HAVING count(*) > 1 ORDER BY content_hash LIMIT $4`,
    ...[ownerKey(userId), afterHash, newerThan, limit],
  );
  return rows;
}

export async function readEntityNames(
  sql: Sql,
  userId: string,
): Promise<readonly EntityName<number>[]> {
  return await sql.all<EntityName<number>>(
    `SELECT key, scope, content FROM nodes
     WHERE owner = $1::bigint AND node_type = 'entity' AND lifecycle_state IN ${ACTIVE}`,
    ownerKey(userId),
  );
}

export async function readNewNodes(
  sql: Sql,
  { userId, nodeType, newerThan, limit }: Read<"newNodes">,
): Promise<readonly KeyedNode<number>[]> {
  const ofType = nodeType === undefined ? "<> 'summary'" : "= $4";
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.owner = $1::bigint AND n.key > $2 AND n.node_type ${ofType}
       AND n.lifecycle_state IN ${OPEN} ORDER BY n.key LIMIT $3`,
    ...[ownerKey(userId), newerThan, limit],
    ...(nodeType === undefined ? [] : [nodeType]),
  );
  return rows.map(toKeyedNode);
}

export async function readNewestOfType(
  sql: Sql,
  userId: string,
  nodeType: NodeType,
  limit: number,
): Promise<readonly KeyedNode<number>[]> {
  const rows = await sql.all<NodeRow>(
    `${FROM_NODES} WHERE n.owner = $1::bigint AND n.node_type = $2 AND n.lifecycle_state IN ${OPEN}
     ORDER BY n.created_at DESC, n.id DESC LIMIT $3`,
    ...[ownerKey(userId), nodeType, limit],
  );
  return rows.map(toKeyedNode);
}

const DAY = "substr(coalesce(n.event_time, n.created_at), 1, 10)";

export async function readPeriodSources(
  sql: Sql,
  userId: string,
  days: readonly string[] | number,
): Promise<readonly PeriodSource<number>[]> {
  const isOfDays =
    typeof days === "number"
      ? `IN (SELECT ${DAY} FROM nodes n WHERE n.owner = $1::bigint AND n.key > $2 AND n.node_type <> 'summary')`
      : "= ANY ($2::text[])";
  type Row = {
    readonly key: number;
    readonly id: Uuid;
    readonly scope: PeriodSource["scope"];
    readonly day: string;
    readonly at: PeriodSource["at"];
    readonly salience_base: number;
    readonly confidence_base: number;
  };
  const rows = await sql.all<Row>(
    `SELECT n.key, n.id, n.scope, ${DAY} AS day, coalesce(n.event_time, n.created_at) AS at, n.salience_base,
       n.confidence_base
     FROM nodes n WHERE n.owner = $1::bigint AND n.lifecycle_state IN ${ACTIVE} AND n.node_type <> 'summary'
       AND ${DAY} ${isOfDays}`,
    ownerKey(userId),
    typeof days === "number" ? days : listText(days),
  );
  return rows.map(({ salience_base: salienceBase, confidence_base: confidenceBase, ...rest }) => ({
    ...rest,
    salienceBase,
    confidenceBase,
  }));
}

/** Whether `g` is the summary of a group: what it replaced it quotes whole, and so may other summaries. */
const IS_OF_GROUP = `g.lifecycle_state IN ${ACTIVE} AND g.metadata::json ->> 'consolidation_summary' = 'true'
  AND g.metadata::json ->> 'summarization_level' IS NULL`;

/** Active summaries of the organizer: `n`. */
const PUBLISHED = `n.owner = $1::bigint AND n.node_type = 'summary' AND n.lifecycle_state IN ${ACTIVE}
  AND n.metadata::json ->> 'consolidation_summary' = 'true'`;

export async function readPublishedSummaries(
  sql: Sql,
  userId: string,
  since = "",
): Promise<readonly PublishedSummary<number>[]> {
  type Row = {
    readonly key: number;
    readonly id: Uuid;
    readonly scope: PublishedSummary["scope"];
    readonly is_open: boolean;
    readonly at: PublishedSummary["at"];
    readonly salience_base: number;
    readonly confidence_base: number;
    readonly about: string;
    readonly level: string | null;
    readonly period_key: string | null;
    readonly request_hash: string;
    readonly generation: number;
    readonly is_outdated: boolean;
  };
  const rows = await sql.all<Row>(
    `SELECT n.key, n.id, n.scope, n.lifecycle_state IN ${OPEN} AS is_open, coalesce(n.event_time, n.created_at) AS at,
       n.salience_base, n.confidence_base, n.metadata::json ->> 'consolidation_key' AS about,
       n.metadata::json ->> 'summarization_level' AS level, n.metadata::json ->> 'period_key' AS period_key,
       n.metadata::json ->> 'consolidation_request_hash' AS request_hash,
       (n.metadata::json ->> 'consolidation_generation')::integer AS generation,
       EXISTS (SELECT 1 FROM ${listed("selected_source_node_ids")} AS s (id) JOIN nodes b ON b.owner = n.owner AND b.id = s.id::uuid
         WHERE b.lifecycle_state NOT IN ${ACTIVE} AND b.superseded_by IS DISTINCT FROM n.id
           AND b.updated_at >= $2 AND NOT EXISTS (SELECT 1 FROM nodes g
             WHERE g.owner = n.owner AND g.id = b.superseded_by AND ${IS_OF_GROUP})) AS is_outdated
     FROM nodes n WHERE ${PUBLISHED} ORDER BY n.created_at, n.id`,
    ownerKey(userId),
    since,
  );
  return rows.map((row) => ({
    key: row.key,
    id: row.id,
    scope: row.scope,
    isOpen: row.is_open,
    at: row.at,
    salienceBase: row.salience_base,
    confidenceBase: row.confidence_base,
    about: row.about,
    level: row.level ?? undefined,
    periodKey: row.period_key ?? undefined,
    requestHash: row.request_hash,
    generation: row.generation,
    isOutdated: row.is_outdated,
  }));
}

/** The ids in a list in the metadata of `n`, as SQL: rows with `id`; none where it is no list. */
function listed(name: string): string {
  const list = `n.metadata::json -> '${name}'`;
  return `json_array_elements_text(CASE json_typeof(${list}) WHEN 'array' THEN ${list} ELSE '[]'::json END)`;
}

export async function readConsolidatedIds(sql: Sql, userId: string): Promise<ReadonlySet<Uuid>> {
  const rows = await sql.all<{ id: Uuid }>(
    `SELECT s.id FROM nodes n CROSS JOIN LATERAL ${listed("source_node_ids")} AS s (id)
     WHERE ${PUBLISHED} AND n.metadata::json ->> 'summarization_level' IS NULL`,
    ownerKey(userId),
  );
  return new Set(rows.map(({ id }) => id));
}
