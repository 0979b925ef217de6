import type { Database } from "bun:sqlite";

/** Everything that both indexes hold, as text, and what they hold that no active memory with text stands for. */
export function indexed(database: Database) {
  const files = database.query<{ name: string }, []>("PRAGMA database_list").all();
  const lexicalFile = files.find(({ name }) => name === "lexical_file")?.name ?? "main";
  database.run(
    `CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING fts5vocab(${lexicalFile}, lexical_documents, instance)`,
  );
  const rows = (sql: string) => database.query(sql).all();
  const active = `SELECT key FROM nodes WHERE lifecycle_state IN ('tentative', 'stable', 'contested') AND trim(content) <> ''`;
  return {
    words: rows(
      `SELECT doc & 0xffffffffff AS key, col, "offset", term FROM words ORDER BY 1, 2, 3`,
    ),
    sizes: rows("SELECT id & 0xffffffffff AS key, hex(sz) AS sz FROM lexical_documents_docsize"),
    vectors: rows(
      "SELECT node_key AS key, previous, next, hex(embedding) AS bytes FROM vectors WHERE revision IS NOT NULL ORDER BY node_key",
    ),
    orphans:
      rows(`SELECT node_key FROM vectors WHERE revision IS NOT NULL AND node_key NOT IN (${active})
      UNION SELECT node_key FROM vectors WHERE node_key NOT IN (SELECT key FROM nodes)
      UNION SELECT id & 0xffffffffff FROM lexical_documents_docsize WHERE (id & 0xffffffffff) NOT IN (${active})`),
  };
}
