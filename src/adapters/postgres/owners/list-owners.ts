import { type OwnerMemories, type OwnerSummary, plainForms } from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";
import type { Sql } from "../connection/sql.ts";
import { listText } from "../connection/values.ts";
import type { OwnerKey } from "../owner-key.ts";

type SummaryRow = {
  readonly user_id: string;
  readonly memories: number;
  readonly events: number;
  readonly last_used: string | null;
};

/** What each owner has, those with the most memories first; owners who have nothing are left out. */
export async function listOwners(sql: Sql): Promise<readonly OwnerSummary[]> {
  const rows = await sql.all<SummaryRow>(
    `SELECT o.user_id, coalesce(n.memories, 0) AS memories, coalesce(e.events, 0) AS events,
       greatest(n.last_used, e.last_used) AS last_used
     FROM owners o
       LEFT JOIN (SELECT owner, count(*)::float8 AS memories, max(updated_at) AS last_used FROM nodes GROUP BY owner) n
         ON n.owner = o.owner
       LEFT JOIN (SELECT owner, count(*)::float8 AS events, max(timestamp) AS last_used FROM events GROUP BY owner) e
         ON e.owner = o.owner
     WHERE n.memories > 0 OR e.events > 0 ORDER BY memories DESC, o.user_id`,
  );
  return rows.map(({ user_id: userId, memories, events, last_used: lastUsed }) => ({
    ...{ userId, memories, events },
    lastUsed: lastUsed === null ? undefined : asInstant(lastUsed),
  }));
}

/** Owners whose memories are counted. A database with more does not belong to one person. */
const COUNTED = 50;

/** Owners with memories, those with the most first. @param limit at least 1 */
export async function readOwnersWithMemories(
  sql: Sql,
  limit: number,
): Promise<readonly OwnerMemories[]> {
  const rows = await sql.all<{ user_id: string; memories: number }>(
    `SELECT * FROM (SELECT o.user_id, (SELECT count(*)::float8 FROM nodes n WHERE n.owner = o.owner) AS memories
       FROM (SELECT owner, user_id FROM owners ORDER BY owner LIMIT $1) o) counted
     WHERE memories > 0 ORDER BY memories DESC, user_id LIMIT $2`,
    COUNTED,
    limit,
  );
  return rows.map(({ user_id: userId, memories }) => ({ userId, memories }));
}

export type OwnerRow = { readonly owner: OwnerKey; readonly user_id: string };

/** The owner with the next higher number. @param owner undefined: the first one is wanted */
export async function ownerAfter(
  sql: Sql,
  owner: OwnerKey | undefined,
): Promise<OwnerRow | undefined> {
  return await sql.get<OwnerRow>(
    `SELECT owner, user_id FROM owners WHERE $1::bigint IS NULL OR owner > $1::bigint
     ORDER BY owner LIMIT 1`,
    owner ?? null,
  );
}

export async function readUnusualNames(sql: Sql): Promise<readonly string[]> {
  const names = async (condition: string, ...parameters: readonly string[]) =>
    (
      await sql.all<{ readonly user_id: string }>(
        `SELECT user_id FROM owners WHERE ${condition}`,
        ...parameters,
      )
    ).map(({ user_id }) => user_id);
  const unusual = await names("user_id ~ '[^!-~]'");
  const forms = plainForms(unusual);
  if (forms.length === 0) return unusual;
  return [...unusual, ...(await names("user_id = ANY ($1::text[])", listText(forms)))];
}
