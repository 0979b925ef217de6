import type { Steps } from "../../sql/statement.ts";
import { native } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/**
 * Keeps the erasures of an owner apart from what is written without the owner's lock, until the transaction ends: an erasure
 * has to see all of it, and all of it every erasure.
 */
export async function keepFromErasing(
  sql: Sql,
  owner: OwnerKey,
  mode: "shared" | "alone",
): Promise<void> {
  await sql.get(
    `SELECT pg_advisory_xact_lock${mode === "shared" ? "_shared" : ""}(hashtext('erasing'), hashtext($1))`,
    owner,
  );
}

/** Like `keepFromErasing`, for what is written without the owner's lock, as a step of a role. */
export function* apartFromErasing(userId: string): Steps<void> {
  yield* native((sql) => keepFromErasing(sql, ownerKey(userId), "shared"));
}
