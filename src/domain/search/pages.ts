import { LIMITS } from "../arguments.ts";
import type { Edge, MemoryEvent, MemoryNode } from "../node.ts";
import type { RowOf } from "../records/rows.ts";

/** How a row becomes an item of a page. */
export type PageForm<Row, Item> = {
  readonly toItem: (row: Row) => Item;
  /** UTF-16 units of its texts: content, and JSON as stored. */
  readonly charsOf: (row: Row) => number;
};

/** Collects rows into a page, which ends at a number of items or at `LIMITS.pageChars`, with at least one item. */
export class PageBuilder<Row, Item> {
  readonly #items: Item[] = [];
  readonly #form: PageForm<Row, Item>;
  readonly #limit: number;
  #chars = 0;
  #hasMore = false;

  constructor(form: PageForm<Row, Item>, limit: number) {
    this.#form = form;
    this.#limit = limit;
  }

  /** @returns whether the row was accepted; after the first rejection no more rows may be added */
  add(row: Row): boolean {
    const chars = this.#form.charsOf(row);
    const isLarge = this.#items.length > 0 && this.#chars + chars > LIMITS.pageChars;
    if (isLarge || this.isFull) {
      this.#hasMore = true;
      return false;
    }
    this.#chars += chars;
    this.#items.push(this.#form.toItem(row));
    return true;
  }

  /** Whether it has the maximum number of items. */
  get isFull(): boolean {
    return this.#items.length === this.#limit;
  }

  /** `hasMore`: whether a row was rejected. */
  page(): { readonly items: readonly Item[]; readonly hasMore: boolean } {
    return { items: this.#items, hasMore: this.#hasMore };
  }
}

/** Bytes of a text above which a search reads it separately and yields before. */
export const SEARCH_READ = 64 * 1024;

// `charsOf` of rows, the same in every store, so that pages end at the same place.

export function charsOfNode(
  given: Pick<RowOf<MemoryNode>, "content" | "metadata" | "evidence_refs">,
): number {
  const { content, metadata, evidence_refs } = given;
  return content.length + (metadata?.length ?? 0) + evidence_refs.length;
}

export function charsOfEvent(given: Pick<RowOf<MemoryEvent>, "content" | "metadata">): number {
  const { content, metadata } = given;
  return content.length + (metadata?.length ?? 0);
}

export function charsOfEdge({ metadata }: Pick<RowOf<Edge>, "metadata">): number {
  return metadata?.length ?? 0;
}
