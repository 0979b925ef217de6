/**
 * A process that stores memories with vectors into a pack, a line of output for each batch, until it is killed. Arguments: the pack as JSON;
 * how many identifiers are in use.
 */
import { freshId, put, unit } from "../../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../../contract/sqlite-pack.ts";

// SAFETY: the test that starts this process wrote it.
const store = await openSqlitePack(JSON.parse(process.argv[2] ?? "") as SqlitePack);
for (let used = 0; used < Number(process.argv[3]); used += 1) freshId();
for (let batch = 0; ; batch += 1) {
  const numbers = Array.from({ length: 20 }, (_, index) => batch * 20 + index);
  await put(
    store,
    ...numbers.map((n) => ({ vector: unit(1, n % 7, n % 5, n % 3), userId: "ada" })),
  );
  process.stdout.write(`${batch}\n`);
}
