/**
 * A process of its own on a pack or a database of a contract test. It does one thing, tells what it did in one line of JSON, and then
 * waits to be killed.
 * Arguments: the adapter's own description of the place as JSON; `claim` and a limit, `extract`, or `admit` and a content.
 */

import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { uuidV7 } from "../../src/lib/hashing.ts";
import type { PostgresPlace } from "./postgres-place.ts";
import { anAdmission, anEvent } from "./samples.ts";
import { openSqlitePack, type SqlitePack } from "./sqlite-pack.ts";

const [described = "", action, argument = ""] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const place = JSON.parse(described) as SqlitePack | PostgresPlace;
// A worker on a pack needs no server of databases, which the other module looks for.
const store = await ("url" in place
  ? (await import("./postgres-place.ts")).openPostgres(place)
  : openSqlitePack(place));

async function act(): Promise<readonly string[]> {
  if (action === "claim") {
    const jobs = await store.claimJobs(ALL_OWNERS, Number(argument));
    return jobs.map(({ event }) => event.id);
  }
  if (action === "extract") {
    const claim = await store.claimExtraction({ owner: ALL_OWNERS, isDueOnly: false }, 300);
    return claim === undefined ? [] : [claim.event.id];
  }
  const event = anEvent({ id: uuidV7(), content: argument });
  await store.admit(anAdmission([event]));
  return [event.id];
}

console.log(JSON.stringify(await act()));
setInterval(() => {}, 60_000);
