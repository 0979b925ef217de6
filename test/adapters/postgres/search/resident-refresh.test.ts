import { afterAll, expect, test } from "bun:test";
import { openConnection } from "../../../../src/adapters/postgres/connection/open-connection.ts";
import type { Sql } from "../../../../src/adapters/postgres/connection/sql.ts";
import { ownerKey } from "../../../../src/adapters/postgres/owner-key.ts";
import { ResidentVectors } from "../../../../src/adapters/postgres/search/resident-vectors.ts";
import { postgresPlace } from "../../../contract/postgres-place.ts";
import { leftOut } from "../../../left-out.ts";
import { NO_POSTGRES } from "../../../postgres/databases.ts";

const ADA = ownerKey("ada");

/** Vectors of one version, as another process commits them. */
async function commit(sql: Sql, revision: number, keys: readonly [number, number]): Promise<void> {
  await sql.run(
    `INSERT INTO vectors (owner, key, embedding, scope, node_type, content_hash, revision)
     SELECT $1::bigint, k, '[1,0]', 'personal', 'note', '', $2 FROM generate_series($3::integer, $4::integer) k`,
    ...[ADA, revision, ...keys],
  );
}

if (NO_POSTGRES === undefined) {
  const place = postgresPlace();
  afterAll(() => place.remove());

  test("vectors in memory stay there when very many are committed after the newest version was asked for", async () => {
    const store = await place.open();
    const database = openConnection({
      ...JSON.parse(place.worker()[2] ?? ""),
      poolSize: 1,
      prepare: false,
      statementTimeoutMs: 60_000,
    });
    const resident = new ResidentVectors();
    const held = (newest: number) =>
      database.read("ada", async (sql) => (await resident.slabOf(sql, ADA, 2, newest))?.count);
    try {
      await database.writeAny((sql) => commit(sql, 1, [1, 3]));
      expect(await held(1)).toBe(3);

      await database.writeAny((sql) => commit(sql, 2, [4, 6000]));
      expect(await held(1)).toBe(3);
      expect(await held(2)).toBe(6000);
    } finally {
      await database.close();
      await store.close();
    }
  });
} else {
  test.skip(`vectors in memory stay there${leftOut(NO_POSTGRES)}`, () => {});
}
