import type { Database } from "bun:sqlite";
import { charsOfNode, PageBuilder, type PageForm } from "../../../domain/search/pages.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { CountedEntity, EntityPage } from "../../../ports/store/graph.ts";
import type { Page } from "../../../ports/store/records.ts";
import type { Parameter } from "../connection/ask.ts";
import { ownerKey } from "../write/owners.ts";
import { type NodeRow, toNode } from "../write/rows.ts";
import { ACTIVE } from "../write/turns.ts";
import { nodeReader } from "./pages.ts";

type CountRow = {
  readonly key: number;
  readonly id: Uuid;
  readonly memories: number;
  readonly contested: number;
};
type CountedRow = CountRow & { readonly row: NodeRow };

const ENTITY_PAGE: PageForm<CountedRow, CountedEntity> = {
  toItem: ({ row, memories, contested }) => ({ node: toNode(row), memories, contested }),
  charsOf: ({ row }) => charsOfNode(row),
};

const ENTITIES = `nodes n INDEXED BY nodes_entities`;
const IS_ENTITY = `n.owner = ?1 AND n.node_type = 'entity' AND n.lifecycle_state IN ${ACTIVE}`;
/** Every active entity with its counts. A memory at several edges of an entity counts once. */
const COUNTED = `WITH linked AS (
    SELECT n.key AS entity, e.target AS far FROM ${ENTITIES} CROSS JOIN edges e ON e.source = n.key WHERE ${IS_ENTITY}
    UNION SELECT n.key, e.source FROM ${ENTITIES} CROSS JOIN edges e ON e.target = n.key WHERE ${IS_ENTITY}
  ), counted AS (
    SELECT l.entity, count(*) AS memories, sum(m.lifecycle_state = 'contested') AS contested
    FROM linked l CROSS JOIN nodes m ON m.key = l.far
    WHERE m.owner = ?1 AND m.node_type <> 'entity' AND m.lifecycle_state IN ${ACTIVE} GROUP BY l.entity
  )
  SELECT n.key, n.id, coalesce(c.memories, 0) AS memories, coalesce(c.contested, 0) AS contested
  FROM ${ENTITIES} LEFT JOIN counted c ON c.entity = n.key WHERE ${IS_ENTITY}`;

/** A page of entities by the number of their memories, which are counted for each page. */
export function readEntities(database: Database, page: EntityPage): Page<CountedEntity> {
  const owner = ownerKey(database, page.userId);
  if (owner === undefined) return { items: [], hasMore: false };
  const { after, contains, limit } = page;
  const place = after === undefined ? "1" : "(-memories, id) > (-?2, ?3)";
  const needle = contains?.toLowerCase() ?? "";
  const found = new PageBuilder(ENTITY_PAGE, limit);
  const readRow = nodeReader(database);
  // Uncached: a cached statement would stay open if the loop ends early.
  const counts = database.prepare<CountRow, Parameter[]>(
    `SELECT * FROM (${COUNTED}) WHERE ${place} ORDER BY memories DESC, id`,
  );
  try {
    const parameters = after === undefined ? [owner] : [owner, after.memories, after.id];
    for (const count of counts.iterate(...parameters)) {
      const row = readRow(count.key);
      // SQLite folds only ASCII, so the names are compared here.
      if (row === undefined || !row.content.toLowerCase().includes(needle)) continue;
      if (!found.add({ ...count, row })) break;
    }
  } finally {
    counts.finalize();
  }
  return found.page();
}
