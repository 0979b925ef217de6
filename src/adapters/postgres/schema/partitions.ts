import type { Sql } from "../connection/sql.ts";

const TABLE = /^CREATE TABLE (\w+) \((.*?)\)( WITH \([^()]*\))?$/s;
/** The server calls such a trigger only for the table as a whole, not if one partition is emptied. */
const ON_EMPTYING = /^(CREATE TRIGGER \w+ BEFORE TRUNCATE ON )(\w+)( .*)$/s;

/**
 * Statements that create tables with this many partitions by hash of the owner. Tables without an owner stay whole. Storage parameters are
 * set on partitions, since partitioned tables cannot have them.
 */
export function inPartitions(statements: readonly string[], count: number): readonly string[] {
  const places = Array.from({ length: count }, (_, place) => place);
  const partitioned = new Set<string>();
  return statements.flatMap((statement) => {
    const [, table = "", body = "", storage = ""] = TABLE.exec(statement) ?? [];
    if (body.includes(`owner ${OWNER}`)) {
      partitioned.add(table);
      const bounds = (place: number) => `FOR VALUES WITH (MODULUS ${count}, REMAINDER ${place})`;
      return [
        `CREATE TABLE ${table} (${body}) PARTITION BY HASH (owner)`,
        ...places.map(
          (place) =>
            `CREATE TABLE ${table}_p${place} PARTITION OF ${table} ${bounds(place)}${storage}`,
        ),
      ];
    }
    const [, trigger, emptied = "", calls] = ON_EMPTYING.exec(statement) ?? [];
    if (!partitioned.has(emptied)) return [statement];
    return [statement, ...places.map((place) => `${trigger}${emptied}_p${place}${calls}`)];
  });
}

/** The number of partitions of the tables; undefined if they are whole, or there are none. */
export async function readPartitions(sql: Sql): Promise<number | undefined> {
  const row = await sql.get<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_inherits WHERE inhparent = to_regclass('owners')",
  );
  return row?.count || undefined;
}

/** Texts are compared by code point, whatever the database's collation. */
export const TEXT = `text COLLATE "C"`;
/** `ownerKey`. */
export const OWNER = "bigint NOT NULL";
/** Numbers an owner's memories, and events, from 1. */
export const KEY = "integer";
