import type { Database } from "bun:sqlite";
import { openDatabase } from "../../../src/adapters/sqlite/connection/open-database.ts";
import { documentNumber } from "../../../src/adapters/sqlite/write/lexical-index.ts";
import { readTurn, surround } from "../../../src/adapters/sqlite/write/turns.ts";
import { analyse, dateWords } from "../../../src/domain/lexical-analysis.ts";
import { DOCUMENT_REACH } from "../../../src/domain/search/lexical-document.ts";
import { asInstant } from "../../../src/lib/instant.ts";
import { MASTER_KEY, type SqlitePack, storeOptions } from "../../contract/sqlite-pack.ts";

/** A connection beside the store. */
export function connect(pack: SqlitePack): Database {
  const cipher = pack.encryptionKey === undefined ? undefined : { masterKey: MASTER_KEY };
  return openDatabase({ ...storeOptions(pack), mode: "read-write", cipher });
}

/** Writes the documents of nodes as the version before the step does: without stems. */
export function indexFormerly(database: Database, keys: readonly number[]): void {
  for (const key of keys) {
    const turn = readTurn(database, key);
    if (turn === undefined) continue;
    const { before, after } = surround(database, turn, { reach: DOCUMENT_REACH });
    const beside = [before, after].map((turns) =>
      turns.flatMap(({ content }) => analyse(content.slice(0, 240))),
    );
    const time = turn.event_time === null ? [] : dateWords(asInstant(turn.event_time));
    database
      .query(
        `INSERT OR REPLACE INTO lexical_documents (rowid, own, previous, next)
         VALUES (${documentNumber("?1", "?2")}, ?3, ?4, ?5)`,
      )
      .run(
        turn.owner,
        key,
        ...[[...analyse(turn.content), ...time], ...beside].map((words) => words.join(" ")),
      );
  }
}

/** Puts a closed pack back to how the version before the step left it. */
export function makeFormer(pack: SqlitePack): void {
  const database = connect(pack);
  const keys = database
    .query<{ key: number }, []>("SELECT key FROM nodes WHERE lifecycle_state = 'tentative'")
    .all()
    .map(({ key }) => key);
  database.transaction(() => {
    indexFormerly(database, keys);
    database.run("DELETE FROM pack_settings WHERE name = 'analyser'");
    database.run("DELETE FROM schema_migrations WHERE part = 'core' AND version > 8");
  })();
  database.close();
}
