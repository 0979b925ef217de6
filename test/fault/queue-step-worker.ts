/**
 * A process on a pack of schema step 7.
 * Arguments: the pack as JSON; then
 *   `open` and the step before which it ends, or 0 to finish: opens the pack, which brings its tables up to date. Steps are those of
 *   `watchStatements`, and the single statements of the schema step. A process that finishes prints them.
 *   `write` and a number: admits and settles so many events with the statements of the version before the step.
 */
import { Database } from "bun:sqlite";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";
import { FormerProcess } from "./former-process.ts";
import { watchStatements } from "./statement-steps.ts";

const [given = "", action, number = "0"] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const pack = JSON.parse(given) as SqlitePack;

/** Runs the statements of one text one by one. */
function separateStatements(): void {
  const { run } = Database.prototype;
  // SAFETY: what is called is the method itself, with parts of what it was given.
  Database.prototype.run = function (this: Database, ...[sql, ...rest]: Parameters<typeof run>) {
    // A statement of a trigger is indented.
    const statements = sql.split(/(?<=;)\n(?=[A-Z])(?!END;)/);
    if (statements.length === 1) return Reflect.apply(run, this, [sql, ...rest]);
    const results = statements.map((statement) => Reflect.apply(run, this, [statement]));
    return results.at(-1);
  } as typeof run;
}

if (action === "open") {
  const steps = watchStatements(Number(number));
  separateStatements();
  await (await openSqlitePack(pack, { createIfMissing: false })).close();
  console.log(JSON.stringify(steps()));
} else {
  const former = new FormerProcess(pack);
  console.log("begun");
  for (let done = 0; done < Number(number); done += 1) {
    former.admit(`note ${done}`);
    former.settle(former.claim(1)[0] ?? 0);
    await Bun.sleep(1);
  }
  former.close();
}
