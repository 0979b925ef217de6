import { type PackOwner, toOwnerRecord } from "../../../domain/owner.ts";

import type { OwnerRecord } from "../../../ports/store/store.ts";
import { writeAuditRecords } from "../../sql/audit.ts";
import { run } from "../connection/run.ts";

import type { Sql } from "../connection/sql.ts";
import { NO_OWNER } from "../owner-key.ts";
import { readSetting, writeSetting } from "../schema/settings.ts";

/** The setting that names the owner of a database. */
const OWNER = "owner";

const HAS_ANYTHING = `(EXISTS (SELECT 1 FROM nodes n WHERE n.owner = o.owner)
  OR EXISTS (SELECT 1 FROM events e WHERE e.owner = o.owner))`;

export async function readPackOwner(sql: Sql): Promise<PackOwner> {
  const userId = await readSetting(sql, OWNER);
  if (userId !== undefined) return { from: "set", userId };
  const [first, second] = await sql.all<{ user_id: string }>(
    `SELECT user_id FROM owners o WHERE ${HAS_ANYTHING} LIMIT 2`,
  );
  if (first === undefined) return { from: "nobody" };
  return second === undefined ? { from: "only", userId: first.user_id } : { from: "several" };
}

/** Sets the owner unless somebody has anything or was faster. Runs inside a transaction. */
export async function claimPack(sql: Sql, userId: string, record: OwnerRecord): Promise<PackOwner> {
  const found = await readPackOwner(sql);
  if (found.from !== "nobody") return found;
  const claimed = await sql.run(
    "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    OWNER,
    userId,
  );
  if (claimed > 0)
    await run(sql, writeAuditRecords(NO_OWNER, [toOwnerRecord(record, null, userId)]));
  return await readPackOwner(sql);
}

/** Sets the owner. Runs inside a transaction. */
export async function writePackOwner(sql: Sql, userId: string, record: OwnerRecord): Promise<void> {
  const before = (await readSetting(sql, OWNER)) ?? null;
  await writeSetting(sql, OWNER, userId);
  await run(sql, writeAuditRecords(NO_OWNER, [toOwnerRecord(record, before, userId)]));
}
