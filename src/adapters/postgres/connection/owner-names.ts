import { isEverybody, type Owner } from "../../../domain/owner.ts";
import { ownerKey } from "../owner-key.ts";
import type { Sql } from "./sql.ts";
import { sharedKey } from "./write-groups.ts";

/** Owners whose names are known to be those of their numbers. */
const KNOWN_MAX = 10_000;

/** Reads for owners whose numbers are theirs: a number alone is no owner, since another user id may have it. */
export class OwnerNames {
  readonly #known = new Set<string>();

  /** @throws SvcError internal if the number is that of another user id */
  reading<T>(owner: Owner, work: (sql: Sql) => Promise<T>): (sql: Sql) => Promise<T> {
    return async (sql) => {
      if (!isEverybody(owner) && !this.#known.has(owner)) await this.#ask(sql, owner);
      return await work(sql);
    };
  }

  async #ask(sql: Sql, owner: string): Promise<void> {
    const row = await sql.get<{ user_id: string }>(
      "SELECT user_id FROM owners WHERE owner = $1::bigint",
      ownerKey(owner),
    );
    if (row === undefined) return;
    if (row.user_id !== owner) throw sharedKey(owner);
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(owner);
  }
}
