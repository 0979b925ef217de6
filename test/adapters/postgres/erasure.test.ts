import { afterAll, expect, test } from "bun:test";
import { openPostgres } from "../../contract/postgres-place.ts";
import { put } from "../../contract/samples.ts";
import { anErasure } from "../../contract/store-erasures.ts";
import { leftOut } from "../../left-out.ts";
import {
  databaseUrl,
  dropDatabase,
  makeDatabase,
  NO_POSTGRES,
  onServer,
} from "../../postgres/databases.ts";

const ROLE = "svc_no_maintainer";
const made: string[] = [];
afterAll(async () => {
  for (const name of made) await dropDatabase(name);
  if (made.length > 0) await onServer(`DROP ROLE IF EXISTS ${ROLE}`);
});

test.skipIf(NO_POSTGRES !== undefined)(
  `an erasure is physical only once the user may vacuum the tables${leftOut(NO_POSTGRES)}`,
  async () => {
    const name = await makeDatabase();
    made.push(name);
    await (await openPostgres({ url: databaseUrl(name) })).close();
    await onServer(`CREATE ROLE ${ROLE} LOGIN`);
    await onServer(`GRANT USAGE, CREATE ON SCHEMA public TO ${ROLE}`, name);
    for (const kind of ["TABLES", "SEQUENCES"]) {
      const rights = kind === "TABLES" ? "SELECT, INSERT, UPDATE, DELETE" : "ALL";
      await onServer(`GRANT ${rights} ON ALL ${kind} IN SCHEMA public TO ${ROLE}`, name);
    }
    const url = new URL(databaseUrl(name));
    url.username = ROLE;
    const store = await openPostgres({ url: url.href });
    const [secret] = await put(store, { content: "The vault opens with marmalade." });
    if (secret === undefined) throw new Error("no memory");
    const erasure = anErasure([secret]);
    await store.erase(erasure);

    expect(await store.settleErasures(1000)).toBe(false);
    expect(await store.erasureStage(erasure.forgetId)).toBe("logical");
    expect(await store.node(secret.id, "ada")).toBeUndefined();
    // Before version 17 only an owner may.
    await onServer(
      `DO $$ BEGIN
         IF current_setting('server_version_num')::int >= 170000 THEN EXECUTE 'GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO ${ROLE}';
         ELSE EXECUTE 'ALTER DATABASE ${name} OWNER TO ${ROLE}'; END IF;
       END $$`,
      name,
    );
    expect(await store.settleErasures(1000)).toBe(true);
    expect(await store.erasureStage(erasure.forgetId)).toBe("physical");
    await store.close();
  },
);
