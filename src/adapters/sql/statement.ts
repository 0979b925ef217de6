import type { Owner } from "../../domain/owner.ts";
import { PageBuilder, type PageForm } from "../../domain/search/pages.ts";
import type { Page } from "../../ports/store/records.ts";
import type { Column } from "./columns.ts";
import type { Dialect } from "./dialect.ts";

// Roles of a store are generators that yield statements and receive their rows. A pack runs one to its end in one turn of the event loop,
// so its transactions never wait; a server is awaited at each statement.

/** The values of `$1`, `$2` and so on. */
export type SqlValue = string | number | boolean | null | Uint8Array | readonly Cell[];
/** Bytes occur in rows to insert, and in no other list. */
export type Cell = string | number | null | Uint8Array;

export function isList(value: SqlValue): value is readonly Cell[] {
  return Array.isArray(value);
}

/** The text of a statement: of one built for a call, as `Dialect` describes; of any other, from `statement`. */
export type Text = string | ((dialect: Dialect) => string);

/** What a role waits for. */
export type Request =
  | {
      readonly how: "all" | "get" | "run";
      readonly text: Text;
      readonly values: readonly SqlValue[];
      readonly isBeyondWall?: boolean;
    }
  | {
      readonly how: "page";
      readonly text: Text;
      readonly values: readonly SqlValue[];
      readonly limit: number;
      /** @returns whether more rows are wanted */
      readonly take: (row: never) => boolean;
      readonly isBeyondWall?: boolean;
    }
  | { readonly how: "insert"; readonly table: Table; readonly rows: readonly (readonly Cell[])[] }
  | { readonly how: "number"; readonly table: NumberedTable; readonly of: NumberedRows }
  | { readonly how: "owner"; readonly userId: string }
  /** Work of one store on its own connection. */
  | { readonly how: "native"; readonly work: (connection: never) => unknown }
  | { readonly how: "together"; readonly steps: readonly Steps<unknown>[] }
  | { readonly how: "dialect" }
  /** Checks whether a list is empty because an index is damaged, or reports an index entry without a row. */
  | { readonly how: "sound" | "damaged" };

/**
 * The steps of a role; the runner answers each request with the result type of the function below. An error of a statement ends them: a
 * role catches nothing.
 */
export type Steps<T> = Generator<Request, T, never>;

/** Columns to insert, with their types on a server. */
export type Table = {
  readonly name: string;
  readonly columns: readonly Column[];
};

/** A table of owners' data, with its columns after `owner` and `key`. */
export type NumberedTable = Table & {
  /** The column of a server's `owners` with the next key. */
  readonly counter: "next_key" | "next_event";
};
export type NumberedRows = {
  readonly owner: OwnerKey;
  readonly userId: string;
  readonly rows: readonly (readonly Cell[])[];
};

/** The number by which rows refer to their owner. */
export type OwnerKey = number | string;

/** Runs the steps of roles. Work may be rerun from the start, in a new transaction. */
export type Access = {
  readonly dialect: Dialect;
  /** Reads; each statement sees what was committed before it. */
  readonly read: <T>(owner: Owner, work: () => Steps<T>) => Promise<T>;
  /** Reads in one snapshot. */
  readonly snapshot: <T>(owner: Owner, work: () => Steps<T>) => Promise<T>;
  /** Writes data of these owners in a transaction. */
  readonly write: <T>(userIds: string | readonly string[], work: () => Steps<T>) => Promise<T>;
  /** Like `write`, and creates missing rows of owners. */
  readonly writeNew: <T>(userIds: string | readonly string[], work: () => Steps<T>) => Promise<T>;
  /** Writes what the work itself locks. @param isAlone nobody else is about to write, so that nothing need be written together */
  readonly writeAny: <T>(work: () => Steps<T>, isAlone?: boolean) => Promise<T>;
};

/** A text made once per dialect, so that the statement is prepared once. */
export function statement(make: string | ((dialect: Dialect) => string)): Text {
  const made = new Map<Dialect, string>();
  return (dialect) => {
    let text = made.get(dialect);
    if (text === undefined) {
      text = dialect.translate(typeof make === "string" ? make : make(dialect));
      made.set(dialect, text);
    }
    return text;
  };
}

/** Texts made for calls: they have few forms. */
const translated = new Map<Dialect, Map<string, string>>();
const TRANSLATED_MAX = 2000;

/** A text in the database's dialect. */
export function textFor(dialect: Dialect, text: Text): string {
  if (typeof text !== "string") return text(dialect);
  const known = translated.getOrInsertComputed(dialect, () => new Map());
  if (known.size > TRANSLATED_MAX) known.clear();
  return known.getOrInsertComputed(text, () => dialect.translate(text));
}

export function* all<Row>(text: Text, ...values: readonly SqlValue[]): Steps<Row[]> {
  return yield { how: "all", text, values };
}

/** The first row. */
export function* get<Row>(text: Text, ...values: readonly SqlValue[]): Steps<Row | undefined> {
  return yield { how: "get", text, values };
}

/** @returns the number of rows written */
export function* run(text: Text, ...values: readonly SqlValue[]): Steps<number> {
  return yield { how: "run", text, values };
}

/** Inserts rows in order. */
export function* insert(table: Table, rows: readonly (readonly Cell[])[]): Steps<void> {
  if (rows.length > 0) yield { how: "insert", table, rows };
}

/** Inserts rows with the next keys, in order. On a server a missing owner row is created. @returns the first key */
export function* insertNumbered(table: NumberedTable, of: NumberedRows): Steps<number> {
  return yield { how: "number", table, of };
}

/** A page of a statement, which returns at most one row more than `limit`. A pack does not read rows beyond the page. */
export function* page<Row, Item>(
  form: PageForm<Row, Item>,
  limit: number,
  text: Text,
  ...values: readonly SqlValue[]
): Steps<Page<Item>> {
  const found = new PageBuilder(form, limit);
  yield* each(limit, (row: Row) => found.add(row), text, ...values);
  return found.page();
}

/** The rows of a statement, at most one more than `limit`, until `take` stops: a pack does not read those beyond. */
export function* each<Row>(
  limit: number,
  take: (row: Row) => boolean,
  text: Text,
  ...values: readonly SqlValue[]
): Steps<void> {
  return yield { how: "page", text, values, limit, take };
}

/** For an empty list. @throws SvcError pack_damaged if a damaged index finds nothing */
export function* requireSound(): Steps<void> {
  return yield { how: "sound" };
}

/** For an index entry without a row. @throws SvcError pack_damaged */
export function* throwDamaged(): Steps<void> {
  return yield { how: "damaged" };
}

/** The number of an owner; undefined for one known to have no data. */
export function* ownerKey(userId: string): Steps<OwnerKey | undefined> {
  return yield { how: "owner", userId };
}

/** Independent steps: sent to a server all at once, in order. */
export function* together<T extends readonly unknown[]>(
  ...steps: { readonly [K in keyof T]: Steps<T[K]> }
): Steps<T> {
  return yield { how: "together", steps };
}

/** Items by owner. The keys of a pack are global and follow the order of the items, so an owner may appear again. */
export function byOwner<T>(
  { isOwnerInKeys }: Dialect,
  items: readonly T[],
  ownerOf: (item: T) => string,
): readonly (readonly [string, readonly T[]])[] {
  if (isOwnerInKeys) return [...Map.groupBy(items, ownerOf)];
  const runs: [string, T[]][] = [];
  for (const item of items) {
    const owner = ownerOf(item);
    const last = runs.at(-1);
    if (last?.[0] === owner) last[1].push(item);
    else runs.push([owner, [item]]);
  }
  return runs;
}

/** Writes items of each owner: on a server in separate transactions, in a pack in one. */
export async function writeEach<T, R>(
  { dialect: { isOwnerInKeys }, write }: Pick<Access, "dialect" | "write">,
  byOwner: Iterable<readonly [string, T]>,
  work: (userId: string, of: T) => Steps<R>,
): Promise<readonly R[]> {
  const written: R[] = [];
  if (isOwnerInKeys) {
    for (const [userId, of] of byOwner) written.push(await write(userId, () => work(userId, of)));
    return written;
  }
  const each = [...byOwner];
  if (each.length === 0) return written;
  return await write([], function* (): Steps<readonly R[]> {
    const all: R[] = [];
    for (const [userId, of] of each) all.push(yield* work(userId, of));
    return all;
  });
}

export function* dialect(): Steps<Dialect> {
  return yield { how: "dialect" };
}

/** Steps whose statements see the rows of all owners: ids are checked across owners before use. */
export function* beyondWall<T>(steps: Steps<T>): Steps<T> {
  let step = steps.next();
  while (step.done !== true) {
    const request = step.value;
    step = steps.next(yield "text" in request ? { ...request, isBeyondWall: true } : request);
  }
  return step.value;
}
