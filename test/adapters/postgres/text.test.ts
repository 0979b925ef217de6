import { expect, test } from "bun:test";
import { fromStored, toStored } from "../../../src/adapters/postgres/connection/open-connection.ts";

test("every text comes back as it was, and is stored without what a column cannot hold", () => {
  const texts = [
    "",
    "tea",
    "a\0b",
    "\u0001",
    "\u00010000",
    "\ud800x",
    "x\udc00",
    "😀\t\n",
    "\0\ud83d",
  ];
  const stored = texts.map(toStored);
  expect(stored.map(fromStored)).toEqual(texts);
  expect(new Set(stored).size).toBe(texts.length);
  expect(stored.every((text) => text.isWellFormed() && !text.includes("\0"))).toBe(true);
  expect(toStored("😀\t\n")).toBe("😀\t\n");
});
