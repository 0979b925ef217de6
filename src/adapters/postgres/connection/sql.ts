import type { Owner } from "../../../domain/owner.ts";
import type { SqlValue } from "../../sql/statement.ts";

export type { SqlValue };

/** Runs statements, one at a time or pipelined: those of one transaction run in the order in which they were called. */
export type Statements = {
  readonly all: <Row>(text: string, ...values: readonly SqlValue[]) => Promise<Row[]>;
  /** The first row. */
  readonly get: <Row>(text: string, ...values: readonly SqlValue[]) => Promise<Row | undefined>;
  /** @returns rows that were written */
  readonly run: (text: string, ...values: readonly SqlValue[]) => Promise<number>;
};

export type Sql = Statements & {
  /** Where row-level security shows the rows of some owners only: statements that are shown those of all. */
  readonly beyondWall?: Statements;
};

/** Statements of a writing transaction, which holds the locks of its owners. */
export type WriteSql = Sql & {
  /** Whether the owner has a row, and with it perhaps data. Only for owners for whom the transaction was begun. */
  readonly knows: (userId: string) => boolean;
};

/**
 * A database. Work that is given to it may run again from its beginning, in a new transaction, and so changes nothing but the
 * database.
 * @throws SvcError storage_busy, storage_failed, disk_full, engine_closed, pack_read_only; and what the work throws
 */
export type Database = {
  /** Reads without a transaction: each statement sees what was committed before it. */
  readonly read: <T>(owner: Owner, work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Reads in one snapshot. */
  readonly snapshot: <T>(owner: Owner, work: (sql: Sql) => Promise<T>) => Promise<T>;
  /**
   * Writes things of these owners, whose rows are locked before the work begins: nobody else writes anything of theirs meanwhile.
   * Overlapping calls for one owner share a transaction; one that throws is undone alone.
   */
  readonly write: <T>(
    userIds: string | readonly string[],
    work: (sql: WriteSql) => Promise<T>,
  ) => Promise<T>;
  /** Like `write`, and gives owners a row who have none. */
  readonly writeNew: <T>(
    userIds: string | readonly string[],
    work: (sql: WriteSql) => Promise<T>,
  ) => Promise<T>;
  /** Writes what is locked by the work itself. */
  readonly writeAny: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Runs a statement that the server takes outside of transactions only; such as need no sight of rows. */
  readonly alone: (text: string) => Promise<void>;
  /** Finishes calls that have begun, then closes. Later calls reject with engine_closed. Idempotent. */
  readonly close: () => Promise<void>;
};
