import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "../../scripts/check/remove-tree.ts";

test("a tree is removed with folders that may not be written to, and no link in it is followed", () => {
  const place = mkdtempSync(join(tmpdir(), "svc-remove-"));
  const outside = join(place, "outside");
  const tree = join(place, "tree");
  const closed = join(tree, "closed");
  mkdirSync(outside);
  writeFileSync(join(outside, "kept"), "");
  mkdirSync(closed, { recursive: true });
  writeFileSync(join(closed, "file"), "");
  symlinkSync(outside, join(closed, "link"));
  chmodSync(closed, 0o555);
  chmodSync(tree, 0o555);
  removeTree(tree);
  expect(existsSync(tree)).toBeFalse();
  expect(existsSync(join(outside, "kept"))).toBeTrue();
  removeTree(place);
  expect(existsSync(place)).toBeFalse();
});
