/** Makes an encrypted pack, opens it again, and prints what it read. Argument: a folder. */
import { loadSqliteVec } from "../../src/adapters/native/load-library.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";

const options = {
  layout: { kind: "file", path: `${process.argv[2]}/memory.pack` },
  synchronous: "full",
  busyTimeoutMs: 1000,
  vecExtensionPath: loadSqliteVec(),
  cipher: { masterKey: new Uint8Array(32).fill(0x4b) },
} as const;

const made = openDatabase({ ...options, mode: "create" });
made.run("PRAGMA journal_mode = WAL");
made.run("CREATE VIRTUAL TABLE words USING fts5 (body)");
made.run("CREATE VIRTUAL TABLE points USING vec0 (place FLOAT[2])");
made.run("INSERT INTO words VALUES ('MARKERpelican')");
made.run("INSERT INTO points (place) VALUES ('[1, 2]')");
made.close();

const opened = openDatabase({ ...options, mode: "read-write" });
const words = opened.query("SELECT body FROM words WHERE words MATCH 'markerpelican'").all();
const points = opened.query("SELECT count(*) AS n FROM points").all();
console.log(JSON.stringify({ words, points, bunfs: import.meta.path.startsWith("/$bunfs/") }));
opened.close();
