import type { Steps } from "../../sql/statement.ts";
import { native } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";

/**
 * Separates an owner's erasures from writes without the owner's lock until the transaction ends: an erasure must see all of those, and they
 * every erasure.
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

/** Like `keepFromErasing`, for writes without the owner's lock, as a step of a role. */
export function* apartFromErasing(userId: string): Steps<void> {
  yield* native((sql) => keepFromErasing(sql, ownerKey(userId), "shared"));
}
