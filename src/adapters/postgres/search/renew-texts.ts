import { ALL_OWNERS } from "../../../domain/owner.ts";
import { ANALYSER } from "../../../domain/stemmed-words.ts";
import type { Database, Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import { readSetting, writeSetting } from "../schema/settings.ts";
import { rewriteDocuments } from "./rewrite-documents.ts";

/*
 * Texts that an earlier analyser indexed are indexed again, owner by owner, while searches and writes go on. The database records
 * of which version its texts are, and how far a renewal is.
 */

const NAME = "analyser";
/** The first analyser with which texts were written into databases, by programs that recorded none. */
const FIRST = 1;
/** Documents of one step. */
const DOCUMENTS_A_STEP = 100;

type Renewal = {
  /** Of the texts that the renewal has not come to. */
  readonly version: number;
  /** The last owner that it has come to, and, unless all of that one's are written, the last key; absent before the first step. */
  readonly owner?: OwnerKey;
  readonly key?: number;
};

async function readRenewal(sql: Sql): Promise<Renewal> {
  const text = await readSetting(sql, NAME);
  // SAFETY: only this module writes the setting.
  return text === undefined ? { version: FIRST } : (JSON.parse(text) as Renewal);
}

/** Records that new tables have no texts of an earlier analyser. Runs inside a write transaction. */
export async function noteNewIndex(sql: Sql): Promise<void> {
  await writeSetting(sql, NAME, JSON.stringify({ version: ANALYSER } satisfies Renewal));
}

/** Whether there may be texts that an earlier analyser indexed. */
export async function hasFormerTexts(database: Database): Promise<boolean> {
  const { version } = await database.read(ALL_OWNERS, readRenewal);
  return version !== ANALYSER;
}

const NEXT = `SELECT user_id AS "userId" FROM owners
  WHERE $1::bigint IS NULL OR owner > $1::bigint OR (owner = $1::bigint AND $2) ORDER BY owner LIMIT 1`;

/**
 * Indexes the next texts again.
 * @param step documents at most
 * @returns how many; undefined once there are no more
 */
export async function renewTexts(
  database: Database,
  step: number = DOCUMENTS_A_STEP,
  signal?: AbortSignal,
): Promise<number | undefined> {
  const renewal = await database.read(ALL_OWNERS, readRenewal);
  const { version, owner: last = null, key } = renewal;
  if (version === ANALYSER) return undefined;
  const next = await database.read(ALL_OWNERS, (sql) =>
    sql.get<{ userId: string }>(NEXT, last, key !== undefined),
  );
  if (next === undefined) {
    await database.writeAny((sql) => note(sql, renewal, { version: ANALYSER }));
    return undefined;
  }
  const owner = ownerKey(next.userId);
  return await database.write(next.userId, async (sql) => {
    const from = owner === last ? (key ?? 0) : 0;
    const { written, cursor, hasMore } = await rewriteDocuments(sql, owner, {
      after: from,
      limit: step,
      signal,
    });
    await note(sql, renewal, { version, owner, ...(hasMore && { key: cursor }) });
    return written;
  });
}

/** Records how far it is, unless another process was faster. */
async function note(sql: Sql, before: Renewal, after: Renewal): Promise<void> {
  const now = await readRenewal(sql);
  const isSame = now.owner === before.owner && now.key === before.key;
  if (isSame && now.version === before.version) {
    await writeSetting(sql, NAME, JSON.stringify(after));
  }
}
