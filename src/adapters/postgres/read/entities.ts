import { charsOfNode, PageBuilder, type PageForm } from "../../../domain/search/pages.ts";
import type { CountedEntity, EntityPage } from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import { ACTIVE } from "../conditions.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { FROM_NODES, type NodeRow, toNode } from "../rows.ts";

type CountRow = {
  readonly id: string;
  readonly content: string;
  readonly memories: number;
  readonly contested: number;
};
type CountedRow = CountRow & { readonly row: NodeRow };

const ENTITY_PAGE: PageForm<CountedRow, CountedEntity> = {
  toItem: ({ row, memories, contested }) => ({ node: toNode(row), memories, contested }),
  charsOf: ({ row }) => charsOfNode(row),
};

const IS_ENTITY = `n.owner = $1::bigint AND n.node_type = 'entity' AND n.lifecycle_state IN ${ACTIVE}`;
/** Every active entity with its counts. A memory at several edges of an entity counts once. */
const COUNTED = `WITH entities AS (SELECT n.id, n.content FROM nodes n WHERE ${IS_ENTITY}), linked AS (
    SELECT x.id, e.target AS far FROM entities x JOIN edges e ON e.owner = $1::bigint AND e.source = x.id
    UNION SELECT x.id, e.source FROM entities x JOIN edges e ON e.owner = $1::bigint AND e.target = x.id
  ), counted AS (
    SELECT l.id, count(*)::integer AS memories, (count(*) FILTER (WHERE n.lifecycle_state = 'contested'))::integer AS contested
    FROM linked l JOIN nodes n ON n.owner = $1::bigint AND n.id = l.far
    WHERE n.node_type <> 'entity' AND n.lifecycle_state IN ${ACTIVE} GROUP BY l.id
  )
  SELECT x.id, x.content, coalesce(c.memories, 0) AS memories, coalesce(c.contested, 0) AS contested
  FROM entities x LEFT JOIN counted c ON c.id = x.id`;

/** Entities that are read at once. */
const READ_AT_ONCE = 200;

/** A page of entities by the number of their memories, which are counted for each page. Runs in a snapshot. */
export async function readEntities(sql: Sql, page: EntityPage): Promise<Page<CountedEntity>> {
  const found = new PageBuilder(ENTITY_PAGE, page.limit);
  const wanted = await countEntities(sql, page);
  for (let from = 0; from < wanted.length; from += READ_AT_ONCE) {
    const counts = wanted.slice(from, from + READ_AT_ONCE);
    const rows = await sql.all<NodeRow>(
      `${FROM_NODES} WHERE n.owner = $1::bigint AND n.id = ANY ($2::uuid[])`,
      ownerKey(page.userId),
      listText(counts.map(({ id }) => id)),
    );
    const byId = new Map<string, NodeRow>(rows.map((row) => [row.id, row]));
    for (const count of counts) {
      const row = byId.get(count.id);
      if (row !== undefined && !found.add({ ...count, row })) return found.page();
    }
  }
  return found.page();
}

/** One more than the page holds. Names are compared here: the database folds only ASCII. */
async function countEntities(
  sql: Sql,
  { userId, contains, after, limit }: EntityPage,
): Promise<readonly CountRow[]> {
  const most = contains === undefined ? ` LIMIT ${limit + 1}` : "";
  const place = after === undefined ? "" : "WHERE (-memories, id) > (-$2::integer, $3::uuid)";
  const places = after === undefined ? [] : [after.memories, after.id];
  const rows = await sql.all<CountRow>(
    `SELECT * FROM (${COUNTED}) c ${place} ORDER BY memories DESC, id${most}`,
    ownerKey(userId),
    ...places,
  );
  const needle = contains?.toLowerCase() ?? "";
  return rows.filter(({ content }) => content.toLowerCase().includes(needle)).slice(0, limit + 1);
}
