import type { Database } from "bun:sqlite";
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
import type { Parameter } from "../connection/ask.ts";
import { ownerKey } from "../write/owners.ts";
import { NODE_COLUMNS, type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";

const OPEN = "('tentative', 'stable')";
const FROM_NODES = `SELECT ${NODE_COLUMNS} FROM nodes n CROSS JOIN owners o ON o.owner = n.owner`;
type Read<Name extends keyof Organizing> = Parameters<Organizing<number>[Name]>[0];

export function readNewestKey(database: Database): number {
  const row = database.query<{ key: number | null }, []>("SELECT max(key) AS key FROM nodes").get();
  return row?.key ?? 0;
}

/** Texts by their hashes, which stand beside the vectors: no text is read. */
export function readRepeatedTexts(
  database: Database,
  { userId, newerThan, afterHash, limit }: Read<"repeatedTexts">,
): readonly RepeatedText<number>[] {
  return database
    .query<{ hash: string; keys: string }, Parameter[]>(
      `SELECT content_hash AS hash, json_group_array(node_key) AS keys FROM vector_metadata
       WHERE owner = ?1 AND content_hash > ?2 AND content_hash IN
         (SELECT content_hash FROM vector_metadata WHERE owner = ?1 AND node_key > ?3)
       GROUP BY content_hash HAVING count(*) > 1 ORDER BY content_hash LIMIT ?4`,
    )
    .all(ownerKey(database, userId) ?? null, afterHash, newerThan, limit)
    .map(({ hash, keys }) => ({ hash, keys: JSON.parse(keys) }));
}

export function readEntityNames(database: Database, userId: string): readonly EntityName<number>[] {
  return database
    .query<EntityName<number>, [number | null]>(
      `SELECT key, scope, content FROM nodes
       WHERE owner = ? AND node_type = 'entity' AND lifecycle_state IN ${ACTIVE}`,
    )
    .all(ownerKey(database, userId) ?? null);
}

export function readNewNodes(
  database: Database,
  { userId, nodeType, newerThan, limit }: Read<"newNodes">,
): readonly KeyedNode<number>[] {
  const ofType = nodeType === undefined ? "<> 'summary'" : "= ?4";
  // The unary plus keeps SQLite from sorting all memories of the owner: new ones are the last rows.
  return keyed(
    database
      .query<NodeRow, Parameter[]>(
        `${FROM_NODES} WHERE n.key > ?2 AND +n.owner = ?1 AND +n.node_type ${ofType}
           AND +n.lifecycle_state IN ${OPEN} ORDER BY n.key LIMIT ?3`,
      )
      .all(
        ownerKey(database, userId) ?? null,
        newerThan,
        limit,
        ...(nodeType === undefined ? [] : [nodeType]),
      ),
  );
}

/** Nodes of a type up to which they are sorted; from there on an index by time finds the newest soon. */
const SORTED_MAX = 5000;

export function readNewestOfType(
  database: Database,
  userId: string,
  nodeType: NodeType,
  limit: number,
): readonly KeyedNode<number>[] {
  const owner = ownerKey(database, userId);
  if (owner === undefined) return [];
  const count = database
    .query<{ count: number }, Parameter[]>(
      "SELECT count(*) AS count FROM (SELECT 1 FROM nodes WHERE owner = ? AND node_type = ? LIMIT ?)",
    )
    .get(owner, nodeType, SORTED_MAX);
  const index = (count?.count ?? 0) < SORTED_MAX ? "nodes_by_type" : "nodes_by_time";
  const keys = database
    .query<{ key: number }, Parameter[]>(
      `SELECT key FROM nodes INDEXED BY ${index}
       WHERE owner = ?1 AND node_type = ?2 AND lifecycle_state IN ${OPEN} ORDER BY created_at DESC, id DESC LIMIT ?3`,
    )
    .all(owner, nodeType, limit)
    .map(({ key }) => key);
  return keyed(
    database
      .query<NodeRow, [string]>(
        `SELECT ${NODE_COLUMNS} FROM json_each(?) k CROSS JOIN nodes n ON n.key = k.value
         CROSS JOIN owners o ON o.owner = n.owner ORDER BY k.key`,
      )
      .all(JSON.stringify(keys)),
  );
}

const DAY = "substr(coalesce(n.event_time, n.created_at), 1, 10)";

export function readPeriodSources(
  database: Database,
  userId: string,
  days: readonly string[] | number,
): readonly PeriodSource<number>[] {
  const isOfDays =
    typeof days === "number"
      ? `SELECT DISTINCT ${DAY} FROM nodes n WHERE n.key > ?2 AND +n.owner = ?1 AND n.node_type <> 'summary'`
      : "SELECT value FROM json_each(?2)";
  type Row = {
    readonly key: number;
    readonly id: Uuid;
    readonly scope: PeriodSource["scope"];
    readonly day: string;
    readonly at: PeriodSource["at"];
    readonly salience_base: number;
    readonly confidence_base: number;
  };
  return database
    .query<Row, Parameter[]>(
      `SELECT n.key, n.id, n.scope, ${DAY} AS day, coalesce(n.event_time, n.created_at) AS at,
         n.salience_base, n.confidence_base
       FROM nodes n WHERE n.owner = ?1 AND n.lifecycle_state IN ${ACTIVE} AND n.node_type <> 'summary'
         AND ${DAY} IN (${isOfDays})`,
    )
    .all(ownerKey(database, userId) ?? null, typeof days === "number" ? days : JSON.stringify(days))
    .map(({ salience_base: salienceBase, confidence_base: confidenceBase, ...rest }) => ({
      ...rest,
      salienceBase,
      confidenceBase,
    }));
}

/** Whether `g` is the summary of a group: what it replaced it quotes whole, and so may other summaries. */
const IS_OF_GROUP = `g.lifecycle_state IN ${ACTIVE} AND g.metadata ->> 'consolidation_summary' = 1
  AND g.metadata ->> 'summarization_level' IS NULL`;

/** Active summaries of the organizer: `n`. */
const PUBLISHED = `n.owner = ?1 AND n.node_type = 'summary' AND n.lifecycle_state IN ${ACTIVE}
  AND n.metadata ->> 'consolidation_summary' = 1`;

export function readPublishedSummaries(
  database: Database,
  userId: string,
  since = "",
): readonly PublishedSummary<number>[] {
  type Row = {
    readonly key: number;
    readonly id: Uuid;
    readonly scope: PublishedSummary["scope"];
    readonly is_open: number;
    readonly at: PublishedSummary["at"];
    readonly salience_base: number;
    readonly confidence_base: number;
    readonly about: string;
    readonly level: string | null;
    readonly period_key: string | null;
    readonly request_hash: string;
    readonly generation: number;
    readonly is_outdated: number;
  };
  return database
    .query<Row, [number | null, string]>(
      `SELECT n.key, n.id, n.scope, n.lifecycle_state IN ${OPEN} AS is_open, coalesce(n.event_time, n.created_at) AS at,
         n.salience_base, n.confidence_base, n.metadata ->> 'consolidation_key' AS about,
         n.metadata ->> 'summarization_level' AS level, n.metadata ->> 'period_key' AS period_key,
         n.metadata ->> 'consolidation_request_hash' AS request_hash,
         n.metadata ->> 'consolidation_generation' AS generation,
         EXISTS (SELECT 1 FROM json_each(n.metadata, '$.selected_source_node_ids') s
           CROSS JOIN nodes b ON b.id = s.value AND b.owner = n.owner
           WHERE b.lifecycle_state NOT IN ${ACTIVE} AND b.superseded_by IS NOT n.id AND b.updated_at >= ?2
             AND NOT EXISTS (SELECT 1 FROM nodes g WHERE g.id = b.superseded_by AND ${IS_OF_GROUP})) AS is_outdated
       FROM nodes n WHERE ${PUBLISHED} ORDER BY n.created_at, n.id`,
    )
    .all(ownerKey(database, userId) ?? null, since)
    .map((row) => ({
      key: row.key,
      id: row.id,
      scope: row.scope,
      isOpen: row.is_open === 1,
      at: row.at,
      salienceBase: row.salience_base,
      confidenceBase: row.confidence_base,
      about: row.about,
      level: row.level ?? undefined,
      periodKey: row.period_key ?? undefined,
      requestHash: row.request_hash,
      generation: row.generation,
      isOutdated: row.is_outdated === 1,
    }));
}

export function readConsolidatedIds(database: Database, userId: string): ReadonlySet<Uuid> {
  const rows = database
    .query<{ id: Uuid }, [number | null]>(
      `SELECT s.value AS id FROM nodes n CROSS JOIN json_each(n.metadata, '$.source_node_ids') s
       WHERE ${PUBLISHED} AND n.metadata ->> 'summarization_level' IS NULL`,
    )
    .all(ownerKey(database, userId) ?? null);
  return new Set(rows.map(({ id }) => id));
}

function keyed(rows: readonly NodeRow[]): readonly KeyedNode<number>[] {
  return rows.map((row) => ({ key: row.key, node: toNode(row) }));
}
