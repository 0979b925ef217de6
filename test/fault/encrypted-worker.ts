/** A thread that adds ten notes to an encrypted pack, each in a transaction of its own, and then says so. */

import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ path: string; key: Uint8Array }>) => {
  const database = openDatabase({
    layout: { kind: "file", path: data.path },
    mode: "read-write",
    synchronous: "normal",
    busyTimeoutMs: 20_000,
    cipher: { masterKey: data.key },
  });
  const last = database.query<{ n: number }, []>("SELECT coalesce(max(id), 0) AS n FROM notes");
  for (let i = 0; i < 10; i += 1) {
    database.run("BEGIN IMMEDIATE");
    database.query("INSERT INTO notes (id, body) VALUES (?, 'x')").run((last.get()?.n ?? 0) + 1);
    database.run("COMMIT");
  }
  database.close();
  postMessage("done");
};
