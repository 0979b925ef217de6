import type { Database, Statement } from "bun:sqlite";
import type { MemoryEvent, MemoryNode } from "../../../domain/node.ts";
import {
  charsOfEvent,
  charsOfNode,
  PageBuilder,
  type PageForm,
} from "../../../domain/search/pages.ts";
import type { Page } from "../../../ports/store/records.ts";
import type { Parameter } from "../connection/ask.ts";
import { type EventRow, NODE_COLUMNS, type NodeRow, toEvent, toNode } from "../write/rows.ts";

export const NODE_PAGE: PageForm<NodeRow, MemoryNode> = {
  toItem: toNode,
  charsOf: charsOfNode,
};

export const EVENT_PAGE: PageForm<EventRow, MemoryEvent> = {
  toItem: toEvent,
  charsOf: charsOfEvent,
};

/**
 * One page of a cached statement, which returns at most one row more than `limit`. Rows beyond the page are not read, so the
 * statement must not sort them.
 */
export function readPage<Row, Item>(
  statement: Statement<Row, Parameter[]>,
  parameters: readonly Parameter[],
  limit: number,
  form: PageForm<Row, Item>,
): Page<Item> {
  const page = new PageBuilder(form, limit);
  let isAtEnd = false;
  let rows = 0;
  try {
    for (const row of statement.iterate(...parameters)) {
      rows += 1;
      // The row beyond the limit is the last one: stopping there would cost a new statement for each page.
      if (!page.add(row) && rows <= limit) return page.page();
    }
    isAtEnd = true;
  } finally {
    // A statement that is stopped halfway keeps its snapshot; the cache prepares a new one.
    if (!isAtEnd) statement.finalize();
  }
  return page.page();
}

export function nodeReader(database: Database): (key: number) => NodeRow | undefined {
  const statement = database.query<NodeRow, [number]>(
    `SELECT ${NODE_COLUMNS} FROM nodes n JOIN owners o ON o.owner = n.owner WHERE n.key = ?`,
  );
  return (key) => statement.get(key) ?? undefined;
}
