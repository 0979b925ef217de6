import type { MemoryEvent, MemoryNode } from "../../../domain/node.ts";
import {
  charsOfEvent,
  charsOfNode,
  PageBuilder,
  type PageForm,
} from "../../../domain/search/pages.ts";

import type { Page } from "../../../ports/store/records.ts";
import { type EventRow, type NodeRow, toEvent, toNode } from "../rows.ts";

export const NODE_PAGE: PageForm<NodeRow, MemoryNode> = {
  toItem: toNode,
  charsOf: charsOfNode,
};

export const EVENT_PAGE: PageForm<EventRow, MemoryEvent> = {
  toItem: toEvent,
  charsOf: charsOfEvent,
};

/** A page of rows, of which there may be one more than `limit`. */
export function pageOf<Row, Item>(
  rows: Iterable<Row>,
  limit: number,
  form: PageForm<Row, Item>,
): Page<Item> {
  const page = new PageBuilder(form, limit);
  for (const row of rows) if (!page.add(row)) break;
  return page.page();
}
