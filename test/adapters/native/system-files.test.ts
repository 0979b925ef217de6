import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  removeByName,
  removeFile,
  renameFile,
  retryWhile,
  syncToDisk,
} from "../../../src/adapters/native/system-files.ts";
import { useFolders } from "../crypt/packs.ts";

const folder = useFolders();

function failing(code: string, times: number): { readonly change: () => void; tries: number } {
  const calls = {
    tries: 0,
    change: () => {
      calls.tries += 1;
      if (calls.tries <= times) throw Object.assign(new Error(code), { code });
    },
  };
  return calls;
}

describe("a change that another program hinders for a moment", () => {
  test("is made once that program has let go", () => {
    const calls = failing("EBUSY", 2);
    retryWhile(["EBUSY"], calls.change);
    expect(calls.tries).toBe(3);
  });

  test("is tried once when it fails for another reason", () => {
    const calls = failing("ENOENT", 2);
    expect(() => retryWhile(["EBUSY"], calls.change)).toThrow("ENOENT");
    expect(calls.tries).toBe(1);
  });

  test("is given up in the end, with the reason", () => {
    const calls = failing("EBUSY", 1000);
    expect(() => retryWhile(["EBUSY"], calls.change)).toThrow("EBUSY");
    expect(calls.tries).toBe(30);
  });
});

test("a file takes the name of another one, and both it and its folder reach the disk", () => {
  const place = join(folder(), "in");
  mkdirSync(place);
  writeFileSync(join(place, "old"), "old");
  writeFileSync(join(place, "new"), "new");
  renameFile(join(place, "new"), join(place, "old"));
  syncToDisk(join(place, "old"));
  syncToDisk(place);
  expect(readFileSync(join(place, "old"), "utf8")).toBe("new");
});

test("a folder is removed name by name with all that is in it; what is not there is no fault", () => {
  const place = join(folder(), "in");
  mkdirSync(join(place, "deep", "empty"), { recursive: true });
  writeFileSync(join(place, "deep", "file"), "x");
  removeByName(place);
  expect(existsSync(place)).toBe(false);
  removeByName(place);
  removeFile(join(place, "file"));
});
