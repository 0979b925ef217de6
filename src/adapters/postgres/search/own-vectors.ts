import { fromPayload, toPayload } from "../../../domain/search/lean.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import { ownerKey } from "../owner-key.ts";
import { readVector } from "./vector-bytes.ts";

type Row = { readonly key: number; readonly sent: Uint8Array; readonly leans: boolean };

/** The vector of the own text of each given node of the owner that has one. Runs in a snapshot. */
export async function readOwnVectors(
  sql: Sql,
  userId: string,
  keys: readonly number[],
): Promise<ReadonlyMap<number, Float32Array>> {
  if (keys.length === 0) return new Map();
  const rows = await sql.all<Row>(
    `SELECT v.key, vector_send(n.embedding) AS sent, v.exact IS NOT NULL AS leans
     FROM vectors v JOIN nodes n ON n.owner = $1::bigint AND n.key = v.key
     WHERE v.owner = $1::bigint AND v.key = ANY ($2::integer[])`,
    ownerKey(userId),
    listText(keys),
  );
  return new Map(
    rows.map(({ key, sent, leans }) => {
      const own = readVector(sent);
      // Those of turns in half the bytes, as a pack keeps them.
      return [key, leans ? fromPayload(toPayload(own)) : own];
    }),
  );
}
