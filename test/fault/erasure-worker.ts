/**
 * A process that forgets a memory, settles that, and may kill itself on the way.
 * Arguments: the pack as JSON; the step before which it ends, or 0 to finish, as `watchStatements` counts them. A process that
 * finishes prints them.
 */
import { LIFECYCLE_STATES } from "../../src/domain/enums.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { anErasure } from "../contract/store-erasures.ts";
import { watchStatements } from "./statement-steps.ts";

const [pack = "", last = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const nodes = await store.queryNodes({
  ...{ owner: "ada", lifecycleStates: LIFECYCLE_STATES, oldestFirst: true, limit: 10 },
  contentContainsAny: ["marmalade"],
});
const steps = watchStatements(Number(last));
await store.erase(anErasure(nodes));
await store.settleErasures(5000);
console.log(JSON.stringify(steps()));
await store.close();
