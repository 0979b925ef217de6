/**
 * A process that does one of the operations on a pack, and may kill itself on the way. Arguments: the pack as JSON; the name of the
 * operation; the step before which it ends, or 0 to finish, as `watchStatements` counts them. A process that finishes prints them.
 */
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { OPERATIONS } from "./kill-operations.ts";
import { watchStatements } from "./statement-steps.ts";

const [pack = "", name = "", last = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote both.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const { act } = OPERATIONS[name as keyof typeof OPERATIONS];
const steps = watchStatements(Number(last));
await act(store);
console.log(JSON.stringify(steps()));
await store.close();
