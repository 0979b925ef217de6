import type { Database } from "bun:sqlite";

/** The integer key of a user id; undefined for an owner without any data. */
export function ownerKey(database: Database, userId: string): number | undefined {
  return database
    .query<{ owner: number }, [string]>("SELECT owner FROM owners WHERE user_id = ?")
    .get(userId)?.owner;
}

/** As `ownerKey`, and makes the owner known when it is not. Runs inside a write transaction. */
export function ensureOwner(database: Database, userId: string): number {
  const known = ownerKey(database, userId);
  if (known !== undefined) return known;
  return Number(
    database.query("INSERT INTO owners (user_id) VALUES (?)").run(userId).lastInsertRowid,
  );
}
