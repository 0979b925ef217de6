/**
 * A process that works off a queue. Arguments: the pack as JSON; then
 *   `hold`: claims a job and the work `sweep`, tells so, and after a line of input tries to write what came of both;
 *   `drain`: does jobs, and `sweep` when it is due, until nothing is left.
 * Each tells what it did in lines of JSON.
 */

import { isTakenOver } from "../../src/domain/jobs.ts";
import { ALL_OWNERS } from "../../src/domain/owner.ts";
import { aMaterialization, aNode, unit } from "../contract/samples.ts";
import { openSqlitePack, type SqlitePack } from "../contract/sqlite-pack.ts";

const SWEEP = { kind: "sweep", owner: ALL_OWNERS };
const DONE = { failure: undefined, cooldownSeconds: 3600 };

const [pack = "", action] = process.argv.slice(2);
// SAFETY: the test that starts this process wrote the description.
const store = await openSqlitePack(JSON.parse(pack) as SqlitePack);
const tell = (value: unknown): void => console.log(JSON.stringify(value));

async function hold(): Promise<void> {
  const [job] = await store.claimJobs(ALL_OWNERS, 1);
  const claim = await store.takeWork(SWEEP, true);
  if (job === undefined || typeof claim !== "object") throw new Error("it is held already");
  tell("held");
  for await (const _ of process.stdin) break;
  const { event, generation } = job;
  const item = aMaterialization(event, aNode(event, { id: event.id }), {
    vector: unit(1),
    generation,
  });
  const [status] = await store.materialize([item]);
  const reads = { nodeIds: [], auditRecordIds: [], eventIds: [], claim };
  const change = await store
    .change(reads, () => ({ change: undefined, result: "written" }))
    .catch((error: unknown) => (isTakenOver(error) ? "taken over" : String(error)));
  tell({ attempts: status?.attempts, change, finished: await store.finishWork(claim, DONE) });
}

async function drain(): Promise<void> {
  const done: string[] = [];
  let sweeps = 0;
  for (let empty = 0; empty < 3; ) {
    const jobs = await store.claimJobs(ALL_OWNERS, 7);
    empty = jobs.length === 0 ? empty + 1 : 0;
    const items = jobs.map(({ event, generation }) =>
      aMaterialization(event, aNode(event, { id: event.id }), { vector: unit(1), generation }),
    );
    await store.materialize(items);
    done.push(...jobs.map(({ event }) => event.id));
    const claim = await store.takeWork(SWEEP, true);
    if (typeof claim === "object") {
      sweeps += 1;
      await store.finishWork(claim, DONE);
    }
  }
  tell({ done, sweeps });
}

await (action === "hold" ? hold() : drain());
await store.close();
