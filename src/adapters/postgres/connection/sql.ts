import type { Owner } from "../../../domain/owner.ts";
import type { SqlValue } from "../../sql/statement.ts";

export type { SqlValue };

/** Runs statements, one at a time or pipelined: those of one transaction run in call order. */
export type Statements = {
  readonly all: <Row>(text: string, ...values: readonly SqlValue[]) => Promise<Row[]>;
  /** The first row. */
  readonly get: <Row>(text: string, ...values: readonly SqlValue[]) => Promise<Row | undefined>;
  /** @returns the number of rows written */
  readonly run: (text: string, ...values: readonly SqlValue[]) => Promise<number>;
};

export type Sql = Statements & {
  /** Statements that see the rows of all owners, despite row-level security. */
  readonly beyondWall?: Statements;
};

/** Statements of a writing transaction, which holds the locks of its owners. */
export type WriteSql = Sql & {
  /** Whether the owner has a row, and so possibly data. Only for owners of this transaction. */
  readonly knows: (userId: string) => boolean;
};

/**
 * A database. Work passed to it may be rerun from the start, in a new transaction, so it must change nothing but the database.
 * @throws SvcError storage_busy, storage_failed, disk_full, engine_closed, pack_read_only; and what the work throws
 */
export type Database = {
  /** Reads without a transaction: each statement sees what was committed before it. */
  readonly read: <T>(owner: Owner, work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Reads in one snapshot. */
  readonly snapshot: <T>(owner: Owner, work: (sql: Sql) => Promise<T>) => Promise<T>;
  /**
   * Writes data of these owners, whose rows are locked first, which excludes other writers. Overlapping calls for one owner share a
   * transaction; one that throws is rolled back alone.
   */
  readonly write: <T>(
    userIds: string | readonly string[],
    work: (sql: WriteSql) => Promise<T>,
  ) => Promise<T>;
  /** Like `write`, and creates missing rows of owners. */
  readonly writeNew: <T>(
    userIds: string | readonly string[],
    work: (sql: WriteSql) => Promise<T>,
  ) => Promise<T>;
  /** Writes what the work itself locks. */
  readonly writeAny: <T>(work: (sql: Sql) => Promise<T>) => Promise<T>;
  /** Runs a statement that is not allowed in a transaction; for ones that need no access to rows. */
  readonly alone: (text: string) => Promise<void>;
  /** Finishes running calls, then closes. Later calls reject with engine_closed. Idempotent. */
  readonly close: () => Promise<void>;
};
