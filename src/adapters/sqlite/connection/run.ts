import type { Database } from "bun:sqlite";
import { packDamaged } from "../../crypt/keys.ts";
import { SQLITE } from "../../sql/dialect.ts";
import {
  type Access,
  isList,
  type Request,
  type SqlValue,
  type Steps,
  type Table,
  type Text,
  textFor,
} from "../../sql/statement.ts";
import { ask, mainFileOf } from "./ask.ts";

type Bound = string | number | boolean | null | Uint8Array;

/** Runs the steps of a role to their end. */
export function run<T>(database: Database, steps: Steps<T>): T {
  let step = steps.next();
  // SAFETY: `perform` answers a request like the function that made it.
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
    case "number":
      return insertNumbered(database, request);
    case "page":
      return readPage(database, request);
    default: {
      const [text, values] = asked(request.text, request.values);
      const statement = database.query<unknown, Bound[]>(text);
      if (request.how === "all") return statement.all(...values);
      if (request.how === "get") return statement.get(...values) ?? undefined;
      return statement.run(...values).changes;
    }
  }
}

/** A statement for lists of one item each, and the positions of scalar parameters. */
type Single = { readonly text: string; readonly plain: ReadonlySet<number> };
const singles = new Map<string, Single>();

/** Comparing with one item takes a fraction of the time of a list. */
function singleOf(text: string): Single {
  const plain = new Set<number>();
  let single = text.replaceAll(
    /(NOT )?IN \(SELECT value FROM json_each\(\?(\d+)\)\)/g,
    (_, not, place) => {
      plain.add(Number(place) - 1);
      return `${not === undefined ? "=" : "<>"} ?${place}`;
    },
  );
  const isListElsewhere = [...plain].some((place) => single.includes(`json_each(?${place + 1})`));
  if (isListElsewhere) {
    single = text;
    plain.clear();
  }
  return { text: single, plain };
}

/** Parameters for a pack: lists as JSON. */
function asked(given: Text, values: readonly SqlValue[]): readonly [string, Bound[]] {
  const text = textFor(SQLITE, given);
  const lists = values.filter(isList);
  if (lists.length > 0 && lists.every(({ length }) => length === 1)) {
    const single = singles.getOrInsertComputed(text, singleOf);
    return [
      single.text,
      values.map((value, place) =>
        single.plain.has(place) && isList(value) ? (value[0] ?? null) : bound(value),
      ),
    ];
  }
  return [text, values.map(bound)];
}

function bound(value: SqlValue): Bound {
  return isList(value) ? JSON.stringify(value) : value;
}

/** Rows beyond the page are not read, so the statement must not sort. */
function readPage(database: Database, request: Request & { how: "page" }): void {
  const [text, values] = asked(request.text, request.values);
  const statement = database.query<never, Bound[]>(text);
  let isAtEnd = false;
  let rows = 0;
  try {
    for (const row of statement.iterate(...values)) {
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

/** The key of a new row. A node's is above all existing and erased ones. */
const NEXT = {
  next_event: "NULL",
  next_key: "(SELECT max(newest, coalesce((SELECT max(key) FROM nodes), 0)) + 1 FROM erased_keys)",
};

function insertNumbered(database: Database, { table, of }: Request & { how: "number" }): number {
  const text = insertions.getOrInsertComputed(table, ({ name, columns }) => {
    const names = columns.map(([column]) => column).join(", ");
    const values = columns.map(() => "?").join(", ");
    return `INSERT INTO ${name} (key, owner, ${names}) VALUES (${NEXT[table.counter]}, ?, ${values})`;
  });
  const statement = database.query<unknown, Bound[]>(text);
  const keys = of.rows.map((row) => statement.run(of.owner, ...row).lastInsertRowid);
  return Number(keys[0] ?? 0);
}

/** Native work of a pack as a step of a role. */
export function* native<T>(work: (database: Database) => T): Steps<T> {
  return yield { how: "native", work };
}

/** The roles on a pack. */
export function accessOf(pack: {
  read<T>(work: (database: Database) => T): Promise<T>;
  write<T>(work: (database: Database) => T, isAlone?: boolean): Promise<T>;
}): Access {
  const read: Access["read"] = (_owner, work) => pack.read((database) => run(database, work()));
  const snapshot: Access["snapshot"] = (_owner, work) =>
    pack.read((database) => database.transaction(() => run(database, work()))());
  const write: Access["write"] = (_owners, work) => pack.write((database) => run(database, work()));
  return {
    dialect: SQLITE,
    read,
    snapshot,
    write,
    writeNew: write,
    writeAny: (work, isAlone) => pack.write((database) => run(database, work()), isAlone),
  };
}

/** Pages up to which a pack is checked at once: 32 MB, which take a tenth of a second. */
const PAGES_MAX = 4096;

const examined = new WeakSet<Database>();

/**
 * Before reporting an empty list: a damaged index finds nothing too. Once per connection, and only for small packs.
 * @throws SvcError pack_damaged
 */
function requireSound(database: Database): void {
  if (examined.has(database)) return;
  if ((ask<number>(database, "PRAGMA main.page_count") ?? 0) > PAGES_MAX) return;
  for (const table of ["owners", "nodes"]) {
    if (ask(database, `PRAGMA main.integrity_check(${table})`) !== "ok") throw damaged(database);
  }
  examined.add(database);
}

/** The error for an index entry without a row. */
function damaged(database: Database): Error {
  return packDamaged(mainFileOf(database));
}
