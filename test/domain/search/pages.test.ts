import { describe, expect, test } from "bun:test";
import { LIMITS } from "../../../src/domain/arguments.ts";
import { PageBuilder } from "../../../src/domain/search/pages.ts";

/** Offers rows, each as long as its number says, until one is refused. */
function pageOf(rows: readonly number[], limit: number) {
  const page = new PageBuilder<number, string>({ toItem: String, charsOf: (row) => row }, limit);
  for (const row of rows) if (!page.add(row)) break;
  return page.page();
}

describe("a page", () => {
  test("ends at its limit, and says whether there is more", () => {
    expect(pageOf([1, 2, 3], 2)).toEqual({ items: ["1", "2"], hasMore: true });
    expect(pageOf([1, 2], 2)).toEqual({ items: ["1", "2"], hasMore: false });
    expect(pageOf([], 2)).toEqual({ items: [], hasMore: false });
  });

  test("ends before it holds more text than it may", () => {
    const half = LIMITS.pageChars / 2;

    expect(pageOf([half, half, 1], 9)).toEqual({ items: [`${half}`, `${half}`], hasMore: true });
    expect(pageOf([half, half + 1], 9)).toEqual({ items: [`${half}`], hasMore: true });
  });

  test("has one item, however long it is", () => {
    const long = LIMITS.pageChars + 1;

    expect(pageOf([long, 0], 9)).toEqual({ items: [`${long}`], hasMore: true });
  });
});
