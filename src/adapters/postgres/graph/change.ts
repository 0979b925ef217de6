import { ALL_OWNERS, isEverybody } from "../../../domain/owner.ts";
import type { ChangeReads, Decide } from "../../../ports/store/graph.ts";
import { type ChangeHooks, change } from "../../sql/change.ts";
import { run } from "../connection/run.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { ownerKeyOrNull } from "../owner-key.ts";

/** Reads, decides and writes under the locks of all owners whose data was read. */
export async function changeAlone<T>(
  database: Database,
  reads: ChangeReads,
  decide: Decide<T>,
  hooks: ChangeHooks,
): Promise<T> {
  let owners = await database.read(ALL_OWNERS, (sql) => ownersOf(sql, reads));
  for (;;) {
    const outcome = await database.write(owners, async (sql) => {
      // A memory may have moved to another owner before its lock was taken.
      const now = await ownersOf(sql, reads);
      if (now.some((userId) => !owners.includes(userId))) return { owners: now };
      return { result: await run(sql, change(reads, decide, hooks)) };
    });
    if (!("owners" in outcome)) return outcome.result;
    owners = outcome.owners;
  }
}

/** The owners of what is read. */
async function ownersOf(sql: Sql, reads: ChangeReads): Promise<readonly string[]> {
  const { nodeIds, eventIds, edgesOf, claim, owner = ALL_OWNERS } = reads;
  const nodes = [...nodeIds, ...(edgesOf === undefined ? [] : [edgesOf])];
  const rows = await sql.all<{ user_id: string }>(
    `SELECT user_id FROM owners WHERE owner IN (SELECT owner FROM nodes WHERE id = ANY ($1::uuid[])
       UNION SELECT owner FROM events WHERE id = ANY ($2::uuid[])) AND ($3::bigint IS NULL OR owner = $3::bigint)`,
    nodes,
    eventIds,
    ownerKeyOrNull(owner),
  );
  const claimed = claim === undefined || isEverybody(claim.owner) ? [] : [claim.owner];
  return [...new Set([...rows.map(({ user_id: userId }) => userId), ...claimed])];
}
