/**
 * A process that joins bob with ada and may kill itself on the way.
 * Arguments: the pack as JSON; the step before which it ends, or 0 to finish, as `watchStatements` counts them. A process that
 * finishes prints them.
 */
import { freshId } from "../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { watchStatements } from "./statement-steps.ts";

const [pack = "", last = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const names = { from: "bob", into: "ada", isJoin: true, actorId: "test" };
const move = { ...names, id: freshId(), settingId: freshId() };
const steps = watchStatements(Number(last));
await store.owners.move(move);
console.log(JSON.stringify(steps()));
await store.close();
