import type { Database, Sql, SqlValue } from "../../../src/adapters/postgres/connection/sql.ts";

/**
 * Tables of things that belong to owners. Operations are not among them: a record is asked for by its id or its target, and stays
 * with the owner who had the thing when it was written.
 */
const OF_OWNERS =
  /\b(?:FROM|JOIN|UPDATE|INTO|TABLE)\s+(owners|events|nodes|edges|node_evidence|work|receipts|receipt_nodes|vectors|vector_staging|lexical_documents|lexical_postings|blobs|blob_uses|changes)\b/i;
/** A condition that leaves one owner, or the owners that were given; or a row that names its own. */
const NAMES_OWNER =
  /\bowner(?:, \w+\))?\s*(?:=|IN|>)\s*(?:ANY\s*)?\(?\s*\$\d+::bigint|INSERT INTO \w+\s*\(owner\b|INSERT INTO \w+\s*\([^)]*\bowner\b/i;

/** Whether a statement that reads or writes things of owners names the owner. */
export function namesOwner(statement: string): boolean {
  return !OF_OWNERS.test(statement) || NAMES_OWNER.test(statement);
}

/** The same database, which notes every statement. */
export function noting(database: Database, note: (statement: string) => void): Database {
  const on = <S extends Sql>(sql: S): S => ({
    ...sql,
    ...(sql.beyondWall && { beyondWall: on(sql.beyondWall) }),
    all: <Row>(text: string, ...values: readonly SqlValue[]) => {
      note(text);
      return sql.all<Row>(text, ...values);
    },
    get: <Row>(text: string, ...values: readonly SqlValue[]) => {
      note(text);
      return sql.get<Row>(text, ...values);
    },
    run: (text: string, ...values: readonly SqlValue[]) => {
      note(text);
      return sql.run(text, ...values);
    },
  });
  return {
    ...database,
    read: (owner, work) => database.read(owner, (sql) => work(on(sql))),
    snapshot: (owner, work) => database.snapshot(owner, (sql) => work(on(sql))),
    write: (userIds, work) => database.write(userIds, (sql) => work(on(sql))),
    writeNew: (userIds, work) => database.writeNew(userIds, (sql) => work(on(sql))),
    writeAny: (work) => database.writeAny((sql) => work(on(sql))),
  };
}
