import type { Database } from "bun:sqlite";
import { processIdentity } from "../../src/adapters/native/process-identity.ts";
import { keepLogInUse } from "../../src/adapters/sqlite/connection/log-mark.ts";
import { openDatabase } from "../../src/adapters/sqlite/connection/open-database.ts";
import { sha256Hex } from "../../src/lib/hashing.ts";
import { fromEpochMicros } from "../../src/lib/instant.ts";
import { uuidV7 } from "../../src/lib/new-uuid.ts";
import { type SqlitePack, storeOptions } from "../contract/sqlite-pack.ts";

const NOW = "2026-01-01T00:00:00.000000Z";
const LEASE_MS = 60_000;

/** A process of the version before the queue, as far as its jobs go: its statements, prepared when it opens the pack. */
export class FormerProcess {
  readonly #pack: SqlitePack;
  readonly #database: Database;
  readonly #self = processIdentity();

  constructor(pack: SqlitePack) {
    this.#pack = pack;
    this.#database = openDatabase({
      ...storeOptions(pack),
      mode: "read-write",
      cipher: undefined,
    });
    this.#database.query("SELECT count(*) FROM jobs").get();
  }

  /** Admits an event of `ada`. @returns its key */
  admit(content: string): number {
    return this.#write(() => {
      const owner = this.#owner();
      const { lastInsertRowid: key } = this.#database
        .query(
          `INSERT INTO events
  (id, owner, session_id, scope, role, content, content_hash, metadata, event_time, timestamp)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        )
        .run(
          ...[uuidV7(), owner, null, "personal", "user", content, sha256Hex(content)],
          ...[null, null, NOW],
        );
      this.#database
        .query(
          `INSERT INTO jobs (event_key, kind, owner, status, lease_owner, lease_expires_at, updated_at)
  VALUES (?, 'materialization', ?, 'pending', ?, ?, ?)`,
        )
        .run(key, owner, null, null, NOW);
      return Number(key);
    });
  }

  /** @param nowMs by its clock @returns keys of the events whose jobs it has now */
  claim(limit: number, nowMs = Date.now()): readonly number[] {
    const [now, end] = [nowMs, nowMs + LEASE_MS].map((ms) => fromEpochMicros(ms * 1000));
    return this.#write(() => {
      const rows = this.#database
        .query<{ key: number }, [string, number]>(
          `SELECT e.key FROM jobs j
       CROSS JOIN events e ON e.key = j.event_key JOIN owners o ON o.owner = j.owner
       WHERE j.status = 'pending' AND j.kind = 'materialization' AND (j.lease_owner IS NULL OR j.lease_expires_at < ?1)
       ORDER BY j.attempts DESC, j.event_key DESC LIMIT ?2`,
        )
        .all(now ?? "", limit);
      const take = this.#database.query(
        "UPDATE jobs SET lease_owner = ?, lease_expires_at = ? WHERE event_key = ? AND kind = 'materialization'",
      );
      for (const { key } of rows) take.run(this.#self, end ?? "", key);
      return rows.map(({ key }) => key);
    });
  }

  /** Completes the job of an event. */
  settle(key: number): void {
    this.#write(() =>
      this.#database
        .query(
          `UPDATE jobs SET status = ?, attempts = attempts + 1, last_error = ?, lease_owner = NULL,
         lease_expires_at = NULL, updated_at = ?
       WHERE event_key = ? AND kind = 'materialization' AND status = 'pending'`,
        )
        .run("complete", null, NOW, key),
    );
  }

  /** What it reads of the job of an event. */
  job(key: number): unknown {
    return this.#database
      .query("SELECT status, attempts, lease_owner FROM jobs WHERE event_key = ?")
      .get(key);
  }

  close(): void {
    // This connection may be the last, and writes no mark.
    keepLogInUse(this.#database, this.#pack.layout);
    this.#database.close();
  }

  #owner(): number {
    const known = this.#database
      .query<{ owner: number }, []>("SELECT owner FROM owners WHERE user_id = 'ada'")
      .get();
    if (known !== null) return known.owner;
    return Number(
      this.#database.query("INSERT INTO owners (user_id) VALUES ('ada')").run().lastInsertRowid,
    );
  }

  #write<T>(work: () => T): T {
    return this.#database.transaction(work).immediate();
  }
}
