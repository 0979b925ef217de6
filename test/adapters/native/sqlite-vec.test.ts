import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { isAbsolute } from "node:path";
import { loadSqliteVec, SQLITE_VEC } from "../../../src/adapters/native/load-library.ts";

test("gives the absolute path of a library that SQLite loads", () => {
  const path = loadSqliteVec();
  expect(isAbsolute(path)).toBe(true);
  const db = new Database(":memory:");
  db.loadExtension(path, SQLITE_VEC.entry);
  expect(db.query("select vec_distance_cosine('[1,0]', '[0,1]') as distance").get()).toEqual({
    distance: 1,
  });
  db.close();
});
