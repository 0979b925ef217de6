/**
 * Writes to an encrypted pack until it is killed: random changes to a table, a text index and a vector index in each
 * transaction. Prints the number of each transaction once it is durable.
 * Arguments: path of an existing pack; journal mode.
 */
import { writeSync } from "node:fs";
import { MARKER, openPack, vector } from "../adapters/crypt/packs.ts";

const [path = "", mode = "WAL"] = process.argv.slice(2);
const STATEMENTS = 20;

const database = openPack(path, { busyTimeoutMs: 10_000 });
database.run(`PRAGMA journal_mode = ${mode}`);
// A small cache spills, so that pages reach the disk before their transaction ends.
database.run("PRAGMA cache_size = 20");
const last = database.query<{ n: number }, []>("SELECT coalesce(max(n), 0) AS n FROM commits");
const random = (end: number): number => Math.floor(Math.random() * end);

function change(): void {
  const id = 1 + random(3000);
  const body = `${MARKER} ${random(1e9)} `.repeat(1 + random(200));
  database.query("DELETE FROM words WHERE rowid = ?").run(id);
  database.query("DELETE FROM points WHERE rowid = ?").run(id);
  database.query("DELETE FROM notes WHERE id = ?").run(id);
  if (random(4) === 0) return;
  database.query("INSERT INTO notes (id, body) VALUES (?, ?)").run(id, body);
  database.query("INSERT INTO words (rowid, body) VALUES (?, ?)").run(id, body);
  database.query("INSERT INTO points (rowid, place) VALUES (?, ?)").run(id, vector(id));
}

for (;;) {
  database.run("BEGIN IMMEDIATE");
  const n = (last.get()?.n ?? 0) + 1;
  for (let i = 0; i < STATEMENTS; i += 1) change();
  database.query("INSERT INTO commits (n) VALUES (?)").run(n);
  if (random(10) === 0) {
    database.run("ROLLBACK");
    continue;
  }
  database.run("COMMIT");
  writeSync(1, `${n}\n`);
}
