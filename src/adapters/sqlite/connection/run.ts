import type { Database } from "bun:sqlite";
import { SQLITE } from "../../sql/dialect.ts";
import {
  type Access,
  isList,
  type Request,
  type SqlValue,
  type Steps,
  type Table,
  textFor,
} from "../../sql/statement.ts";
import { damaged, requireSound } from "../read/sound.ts";
import { ask } from "./ask.ts";

type Bound = string | number | boolean | null | Uint8Array;

/** Runs the steps of a role to their end. */
export function run<T>(database: Database, steps: Steps<T>): T {
  let step = steps.next();
  // SAFETY: `perform` answers a request as the function does that made it.
  while (step.done !== true) step = steps.next(perform(database, step.value) as never);
  return step.value;
}

function perform(database: Database, request: Request): unknown {
  switch (request.how) {
    case "owner":
      return ask<number>(database, "SELECT owner FROM owners WHERE user_id = ?", request.userId);
    case "dialect":
      return SQLITE;
    case "native":
      // SAFETY: `native` of this file made it.
      return request.work(database as never);
    case "sound":
      return requireSound(database);
    case "damaged":
      throw damaged(database);
    case "together":
      return request.steps.map((steps) => run(database, steps));
    case "insert":
      return insert(database, request.table, request.rows);
    case "page":
      return readPage(database, request);
    default: {
      const statement = database.query<unknown, Bound[]>(textFor(SQLITE, request.text));
      const values = bound(request.values);
      if (request.how === "all") return statement.all(...values);
      if (request.how === "get") return statement.get(...values) ?? undefined;
      return statement.run(...values).changes;
    }
  }
}

/** Lists as JSON. */
function bound(values: readonly SqlValue[]): Bound[] {
  return values.map((value) => (isList(value) ? JSON.stringify(value) : value));
}

/** Rows beyond the page are not read, so the statement must not sort them. */
function readPage(database: Database, request: Request & { how: "page" }): void {
  const statement = database.query<never, Bound[]>(textFor(SQLITE, request.text));
  let isAtEnd = false;
  let rows = 0;
  try {
    for (const row of statement.iterate(...bound(request.values))) {
      rows += 1;
      // The row beyond the limit is the last one: stopping there would cost a new statement for each page.
      if (!request.take(row) && rows <= request.limit) return;
    }
    isAtEnd = true;
  } finally {
    // A statement that is stopped halfway keeps its snapshot; the cache prepares a new one.
    if (!isAtEnd) statement.finalize();
  }
}

const insertions = new WeakMap<Table, string>();

function insert(database: Database, table: Table, rows: readonly (readonly Bound[])[]): void {
  const text = insertions.getOrInsertComputed(table, ({ name, columns }) => {
    const names = columns.map(([column]) => column).join(", ");
    return `INSERT INTO ${name} (${names}) VALUES (${columns.map(() => "?").join(", ")})`;
  });
  const statement = database.query<unknown, Bound[]>(text);
  for (const row of rows) statement.run(...row);
}

/** Work of a pack as a step of a role. */
export function* native<T>(work: (database: Database) => T): Steps<T> {
  return yield { how: "native", work };
}

/** The roles on a pack. */
export function accessOf(pack: {
  read<T>(work: (database: Database) => T): Promise<T>;
  write<T>(work: (database: Database) => T): Promise<T>;
}): Access {
  const read: Access["read"] = (_owner, work) => pack.read((database) => run(database, work()));
  const write: Access["write"] = (_owners, work) => pack.write((database) => run(database, work()));
  return {
    read,
    snapshot: read,
    write,
    writeNew: write,
    writeAny: (work) => write([], work),
  };
}
