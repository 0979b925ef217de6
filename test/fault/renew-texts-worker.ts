/**
 * A process that indexes the texts of a pack again. Arguments: the pack as JSON; then
 *   `kill` and the statement of the second step before which it ends, or 0 to finish: prints how many statements there were;
 *   `steps`: prints a line after each step.
 */
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { watchStatements } from "./statement-steps.ts";

const [given = "", action, number = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(given) as SqlitePack, { createIfMissing: false });
if (action === "kill") {
  await store.renewTexts();
  const steps = watchStatements(Number(number));
  await store.renewTexts();
  console.log(steps().count);
} else {
  for (let hasMore = true; hasMore; ) {
    hasMore = await store.renewTexts();
    console.log("step");
    await Bun.sleep(5);
  }
}
await store.close();
