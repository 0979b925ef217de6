/**
 * A process that organizes a pack and may kill itself on the way. Arguments: the pack as JSON; the step before which it ends, or 0 to
 * finish, as `watchStatements` counts them. A process that finishes prints them.
 */
import type { SqlitePack } from "../contract/sqlite-pack.ts";
import { ALL_JOBS, openOrganizing } from "./organize-engine.ts";
import { watchStatements } from "./statement-steps.ts";

const [pack = "", last = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const engine = await openOrganizing(JSON.parse(pack) as SqlitePack);
await engine.processPending();
const steps = watchStatements(Number(last));
await engine.organize({ jobs: ALL_JOBS, budgetMs: 60_000 });
console.log(JSON.stringify(steps()));
await engine.close();
