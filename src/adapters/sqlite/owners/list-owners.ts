import type { Database } from "bun:sqlite";
import { type OwnerSummary, plainForms } from "../../../domain/owner.ts";
import { asInstant } from "../../../lib/instant.ts";

type SummaryRow = {
  readonly userId: string;
  readonly memories: number;
  readonly events: number;
  readonly last_used: string | null;
};

/** What each owner has, those with the most memories first; owners who have nothing are left out. */
export function listOwners(database: Database): readonly OwnerSummary[] {
  return database
    .query<SummaryRow, []>(
      `SELECT * FROM (SELECT o.user_id AS userId,
         (SELECT count(*) FROM nodes n WHERE n.owner = o.owner) AS memories,
         (SELECT count(*) FROM events e WHERE e.owner = o.owner) AS events,
         (SELECT max(at) FROM (SELECT max(updated_at) AS at FROM nodes n WHERE n.owner = o.owner
            UNION ALL SELECT max(timestamp) FROM events e WHERE e.owner = o.owner)) AS last_used
       FROM owners o ORDER BY o.owner) WHERE memories > 0 OR events > 0 ORDER BY memories DESC`,
    )
    .all()
    .map(({ last_used: lastUsed, ...rest }) => ({
      ...rest,
      lastUsed: lastUsed === null ? undefined : asInstant(lastUsed),
    }));
}

export function readUnusualNames(database: Database): readonly string[] {
  const namesWhere = (condition: string, ...parameters: readonly string[]) =>
    database
      .query<{ user_id: string }, string[]>(`SELECT user_id FROM owners WHERE ${condition}`)
      .all(...parameters)
      .map(({ user_id }) => user_id);
  const unusual = namesWhere("user_id GLOB '*[^!-~]*'");
  const forms = plainForms(unusual);
  if (forms.length === 0) return unusual;
  const plain = namesWhere("user_id IN (SELECT value FROM json_each(?))", JSON.stringify(forms));
  return [...unusual, ...plain];
}
