import type { Database } from "bun:sqlite";
import { analyse } from "../../../domain/lexical-analysis.ts";

/** Characters of a neighbouring turn that a document's side columns hold. */
const NEIGHBOUR_CHARS = 240;
/** Active states, as SQL. */
export const ACTIVE = "('tentative', 'stable', 'contested')";
/** Whether `content` is more than blanks, as SQL: `trim` knows of no other blank than the space unless it is told. */
export const HAS_TEXT = `trim(content, char(9, 10, 11, 12, 13, 32, 160, 5760, 8192, 8193, 8194, 8195, 8196, 8197, 8198,
  8199, 8200, 8201, 8202, 8232, 8233, 8239, 8287, 12288, 65279)) <> ''`;
/** Columns of a Turn. */
const TURN = "key, owner, content, node_type, session_id, scope, created_at, id";

type Turn = {
  readonly key: number;
  readonly owner: number;
  readonly content: string;
  readonly node_type: string;
  readonly session_id: string | null;
  readonly scope: string;
  readonly created_at: string;
  readonly id: string;
};

/**
 * Writes the lexical document of a node. A conversation turn (a note with a session) also carries the beginnings of the
 * turns around it, at a lower weight, because a question often uses the words of the turn before the answer; writing it
 * therefore rewrites the documents of its two neighbours. Runs inside a write transaction.
 */
export function writeDocument(database: Database, key: number): void {
  const turn = readTurn(database, key);
  if (turn === undefined) return;
  const previous = neighbour(database, turn, "before");
  const next = neighbour(database, turn, "after");
  put(database, turn, previous, next);
  if (previous !== undefined)
    put(database, previous, neighbour(database, previous, "before"), turn);
  if (next !== undefined) put(database, next, turn, neighbour(database, next, "after"));
}

/**
 * Writes the next `limit` documents above a key anew and removes those in between that have no active node with text.
 * Runs inside a write transaction.
 */
export function rewriteDocuments(
  database: Database,
  after: number,
  limit: number,
): { readonly written: number; readonly cursor: number; readonly hasMore: boolean } {
  const indexable = `lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}`;
  const turns = database
    .query<Turn, [number, number]>(
      `SELECT ${TURN} FROM nodes WHERE key > ? AND ${indexable} ORDER BY key LIMIT ?`,
    )
    .all(after, limit);
  const hasMore = turns.length === limit;
  const cursor = turns.at(-1)?.key ?? after;
  const orphans = database
    .query<{ id: number }, [number, number]>(
      `SELECT id FROM lexical_documents_docsize WHERE id > ?1 AND id <= ?2
       EXCEPT SELECT key FROM nodes WHERE key > ?1 AND key <= ?2 AND ${indexable}`,
    )
    .all(after, hasMore ? cursor : Number.MAX_SAFE_INTEGER);
  for (const { id } of orphans) {
    database.query("DELETE FROM lexical_documents WHERE rowid = ?").run(id);
  }
  for (const turn of turns) {
    put(database, turn, neighbour(database, turn, "before"), neighbour(database, turn, "after"));
  }
  return { written: turns.length, cursor, hasMore };
}

function readTurn(database: Database, key: number): Turn | undefined {
  return (
    database.query<Turn, [number]>(`SELECT ${TURN} FROM nodes WHERE key = ?`).get(key) ?? undefined
  );
}

/** The nearest active turn of the same owner, session and scope, in order of (created_at, id). */
function neighbour(database: Database, turn: Turn, side: "before" | "after"): Turn | undefined {
  if (turn.node_type !== "note" || turn.session_id === null) return undefined;
  const [compare, order] = side === "before" ? ["<", "DESC"] : [">", "ASC"];
  return (
    database
      .query<Turn, [number, string, string, string, string]>(
        `SELECT ${TURN} FROM nodes
         WHERE owner = ? AND session_id = ? AND scope = ? AND (created_at, id) ${compare} (?, ?)
           AND node_type = 'note' AND lifecycle_state IN ${ACTIVE} AND ${HAS_TEXT}
         ORDER BY created_at ${order}, id ${order} LIMIT 1`,
      )
      .get(turn.owner, turn.session_id, turn.scope, turn.created_at, turn.id) ?? undefined
  );
}

function put(
  database: Database,
  turn: Turn,
  previous: Turn | undefined,
  next: Turn | undefined,
): void {
  database
    .query(
      "INSERT OR REPLACE INTO lexical_documents (rowid, own, previous, next) VALUES (?, ?, ?, ?)",
    )
    .run(turn.key, indexed(turn.content), beginning(previous), beginning(next));
}

function indexed(text: string): string {
  return analyse(text).join(" ");
}

function beginning(turn: Turn | undefined): string {
  return turn === undefined ? "" : indexed(turn.content.slice(0, NEIGHBOUR_CHARS));
}
