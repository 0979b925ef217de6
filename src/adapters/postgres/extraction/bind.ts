import { SvcError } from "../../../domain/errors.ts";
import type { ExtractionJob } from "../../../domain/jobs.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { ExtractionQueue } from "../../../ports/store/work.ts";
import { newLease, presentOf, timeOf } from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import type { Parts } from "../parts.ts";
import {
  claimExtraction,
  earlierTurns,
  extractionLanes,
  heldJob,
  renewExtraction,
  saveExtractions,
  waitingTurns,
} from "./claims.ts";
import {
  countExtractions,
  endTry,
  lockJobRow,
  readJobRow,
  replanJob,
  retryJob,
  toJob,
} from "./jobs.ts";
import { knownMemories } from "./known.ts";
import { publishPlan, savePlan } from "./publish.ts";

/** The role of a store that extraction works with. */
export function bindExtraction({ database, embedding, worker }: Parts) {
  const { read, snapshot, write, writeAny } = database;
  const requireJob = async (sql: Sql, eventId: Uuid): Promise<ExtractionJob> => {
    const row = await readJobRow(sql, eventId, ALL_OWNERS);
    if (row === undefined) throw new SvcError("internal", `the event ${eventId} has no extraction`);
    return await toJob(sql, row, await run(sql, timeOf(worker.clock)));
  };
  return {
    claimExtraction: (filter, seconds) =>
      writeAny(async (sql) =>
        claimExtraction(sql, filter, await run(sql, newLease(worker, seconds))),
      ),
    renewExtraction: (claim, seconds) =>
      writeAny(async (sql) =>
        renewExtraction(sql, claim, await run(sql, newLease(worker, seconds))),
      ),
    waitingTurns: (claim, page) =>
      read(claim.event.userId, (sql) => waitingTurns(sql, claim, page)),
    earlierTurns: (claim, limit) =>
      read(claim.event.userId, (sql) => earlierTurns(sql, claim, limit)),
    saveExtractions: (claim, records) =>
      write(claim.event.userId, (sql) => saveExtractions(sql, claim, records)),
    knownMemories: (lookup) => snapshot(lookup.event.userId, (sql) => knownMemories(sql, lookup)),
    savePlan: (claim, plan, at) =>
      write(claim.event.userId, (sql) => savePlan(sql, claim, plan, at)),
    publishPlan: (claim, publication) =>
      write(claim.event.userId, (sql) => publishPlan(sql, claim, publication, embedding)),
    endExtraction: (claim, end, at) =>
      write(claim.event.userId, async (sql) => {
        const row = await heldJob(sql, claim);
        if (row !== undefined) await endTry(sql, row, end, at);
        return await requireJob(sql, claim.event.id);
      }),
    extractionJob: (eventId, owner) =>
      read(owner, async (sql) => {
        const row = await readJobRow(sql, eventId, owner);
        return row && (await toJob(sql, row, await run(sql, timeOf(worker.clock))));
      }),
    retryExtraction: async (eventId, owner, { isReplan, at }) => {
      const found = await read(owner, (sql) => readJobRow(sql, eventId, owner));
      if (found === undefined) return undefined;
      return await write(found.user_id, async (sql) => {
        const row = await lockJobRow(sql, eventId, found.owner);
        if (row === undefined) return undefined;
        const present = await run(sql, presentOf(row.owner, await run(sql, newLease(worker, 0))));
        await (isReplan ? replanJob(sql, row, present, at) : retryJob(sql, row, present, at));
        return await requireJob(sql, eventId);
      });
    },
    countExtractions: (owner) => read(owner, (sql) => countExtractions(sql, owner)),
    extractionLanes: (owner) =>
      snapshot(owner, async (sql) =>
        extractionLanes(sql, owner, await run(sql, newLease(worker, 0))),
      ),
  } satisfies ExtractionQueue;
}
