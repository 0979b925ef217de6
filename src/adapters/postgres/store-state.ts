import { randomUUID } from "node:crypto";
import { isEverybody, type Owner } from "../../domain/owner.ts";
import type { Activity, StoreState } from "../../ports/store/graph.ts";
import { readStates } from "../sql/events.ts";
import { run } from "./connection/run.ts";
import type { Database, Sql } from "./connection/sql.ts";
import { ownerKey } from "./owner-key.ts";

/** How a database stands. */
export function bindState(database: Database): Pick<Activity, "storeState"> {
  // So that no other store gives the same sequence.
  const opening = randomUUID();
  return {
    storeState: (owner) => database.snapshot(owner, (sql) => readStoreState(sql, owner, opening)),
  };
}

/** The database, and what an owner has in it. */
async function readStoreState(sql: Sql, owner: Owner, opening: string): Promise<StoreState> {
  const isOf = isEverybody(owner) ? "true" : "o.owner = $1::bigint";
  const [states, rest] = await Promise.all([
    run(sql, readStates(owner)),
    sql.get<{ version: string; bytes: number }>(
      `SELECT (SELECT coalesce(sum(version), 0)::text FROM owners o WHERE ${isOf}) AS version,
         pg_database_size(current_database())::float8 AS bytes`,
      ...(isEverybody(owner) ? [] : [ownerKey(owner)]),
    ),
  ]);
  return {
    ...states,
    changeSequence: `${opening}-${rest?.version ?? ""}`,
    bytes: rest?.bytes ?? 0,
    // The disk may be, and no statement tells.
    isEncrypted: undefined,
  };
}
