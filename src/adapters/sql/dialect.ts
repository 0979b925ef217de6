// Statements are written once, as PostgreSQL takes them: values are `$1`, casts are `::type`, lists are `= ANY ($1::uuid[])`. A dialect
// turns such a text into its own, and names what differs beyond that.

/** The differences between the SQL of two databases. */
export type Dialect = {
  readonly name: "sqlite" | "postgres";
  /** A text with its values, casts and lists in the database's notation. */
  readonly translate: (text: string) => string;
  /** A list parameter as a table with the column `value`, and on a server `place`. */
  readonly each: (place: string, type: string, alias: string) => string;
  /** The rows of a statement with one column `key` as one value, to be read with `listFrom`. */
  readonly listOf: (statement: string) => string;
  /** Joins tables in the written order, if the planner has no statistics. */
  readonly join: string;
  /** A column for which no index may be chosen. */
  readonly free: (column: string) => string;
  /** A forced index, after the name of a table. */
  readonly indexed: (index: string) => string;
  /** `ORDER BY` if a join may return the first table's rows out of order. */
  readonly again: (order: string) => string;
  /** The function for the position of a text in another one; 0: not found. */
  readonly placeIn: string;
  /** `LIKE` that folds ASCII. */
  readonly like: "LIKE" | "ILIKE";
  /** The owner of a contradiction edge, as in the index of those edges. */
  readonly contradicting: string;
  /** How an edge refers to the node with an id. */
  readonly nodeRef: (id: string) => string;
  /** Whether two columns or values are the same session. */
  readonly isSession: (column: string, value: string) => string;
  /** The second, since 1970, in which the retention of a node `n` ends, as in its index. */
  readonly endSecond: string;
  /** The column of `nodes` that edges refer to. */
  readonly end: "key" | "id";
  /** Whether each key begins with the owner, so that ids are unique only within an owner. */
  readonly isOwnerInKeys: boolean;
};

const TO_SQLITE: readonly (readonly [RegExp, string])[] = [
  [/= ANY \((\$\d+)::\w+\[\]\)/g, "IN (SELECT value FROM json_each($1))"],
  [/<> ALL \((\$\d+)::\w+\[\]\)/g, "NOT IN (SELECT value FROM json_each($1))"],
  [/::\w+(?:\[\])?| COLLATE "C"/g, ""],
  [/\$(\d+)/g, "?$1"],
];

export const SQLITE: Dialect = {
  name: "sqlite",
  translate: (text) =>
    TO_SQLITE.reduce((done, [pattern, by]) => done.replaceAll(pattern, by), text),
  each: (place, _type, alias) => `json_each(${place}) ${alias}`,
  listOf: (statement) => `(SELECT json_group_array(key) FROM (${statement}))`,
  join: "CROSS JOIN",
  free: (column) => `+${column}`,
  indexed: (index) => `INDEXED BY ${index}`,
  again: () => "",
  placeIn: "instr",
  isSession: (column, value) => `${column} = ${value}`,
  like: "LIKE",
  // The sum hides the index from statements that ask for the edges of a node.
  contradicting: "e.owner + 0",
  nodeRef: (id) => `(SELECT key FROM nodes WHERE id = ${id})`,
  endSecond: "unixepoch(substr(n.created_at, 1, 19)) + n.ttl_days * 86400",
  end: "key",
  isOwnerInKeys: false,
};

export const POSTGRES: Dialect = {
  name: "postgres",
  translate: (text) => text,
  each: (place, type, alias) =>
    `unnest(${place}::${type}[]) WITH ORDINALITY ${alias} (value, place)`,
  listOf: (statement) => `ARRAY(${statement})`,
  join: "JOIN",
  free: (column) => column,
  indexed: () => "",
  again: (order) => `ORDER BY ${order}`,
  placeIn: "strpos",
  isSession: (column, value) =>
    `(${sessionStart(column)} = ${sessionStart(value)} AND ${column} = ${value})`,
  like: "ILIKE",
  contradicting: "e.owner",
  nodeRef: (id) => `${id}::uuid`,
  endSecond: "n.retention_second",
  end: "id",
  isOwnerInKeys: true,
};

/** The prefix of a session id in a server's index, which limits key lengths, as SQL. */
export function sessionStart(column: string): string {
  return `left(${column}, 200)`;
}

/** A list of constants, as SQL. */
export function sqlList(values: readonly string[]): string {
  return `(${values.map((value) => `'${value}'`).join(", ")})`;
}

/** Sorts before every id. */
export const FIRST_ID = "00000000-0000-0000-0000-000000000000";
/** Sorts after every instant. */
export const END_OF_TIME = "~";
