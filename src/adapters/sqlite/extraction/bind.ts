import type { Database } from "bun:sqlite";
import { SvcError } from "../../../domain/errors.ts";
import { type ExtractionJob, leaseOf } from "../../../domain/jobs.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { EmbeddingIdentity } from "../../../ports/models.ts";
import type { ExtractionQueue } from "../../../ports/store/work.ts";
import type { Clock } from "../../../ports/system.ts";
import { presentOf } from "../../sql/work.ts";
import { run } from "../connection/run.ts";
import type { PackAccess } from "../pack-access.ts";
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
  extractionJob,
  readJobRow,
  replanJob,
  retryJob,
} from "./jobs.ts";
import { knownMemories } from "./known.ts";
import { publishPlan, savePlan } from "./publish.ts";

/** The role of a store that extraction works with. */
export function bindExtraction(
  {
    access,
    clock,
    embedding,
  }: {
    readonly access: PackAccess;
    readonly clock: Clock;
    readonly embedding: EmbeddingIdentity;
  },
  holder: string,
) {
  const { read, write } = access;
  const requireJob = (database: Database, eventId: Uuid): ExtractionJob => {
    const job = extractionJob(database, eventId, ALL_OWNERS, clock.now());
    if (job === undefined) throw new SvcError("internal", `the event ${eventId} has no extraction`);
    return job;
  };
  return {
    claimExtraction: (filter, seconds) =>
      write((database) => claimExtraction(database, filter, leaseOf(holder, clock.now(), seconds))),
    renewExtraction: (claim, seconds) =>
      write((database) => renewExtraction(database, claim, leaseOf(holder, clock.now(), seconds))),
    waitingTurns: (claim, page) => read((database) => waitingTurns(database, claim, page)),
    earlierTurns: (claim, limit) => read((database) => earlierTurns(database, claim, limit)),
    saveExtractions: (claim, records) =>
      write((database) => saveExtractions(database, claim, records)),
    knownMemories: (lookup) => read((database) => knownMemories(database, lookup)),
    savePlan: (claim, plan, at) => write((database) => savePlan(database, claim, plan, at)),
    publishPlan: (claim, publication) =>
      write((database) => publishPlan(database, claim, publication, embedding)),
    endExtraction: (claim, end, at) =>
      write((database) => {
        const row = heldJob(database, claim);
        if (row !== undefined) endTry(database, row, end, at);
        return requireJob(database, claim.event.id);
      }),
    extractionJob: (eventId, owner) =>
      read((database) => extractionJob(database, eventId, owner, clock.now())),
    retryExtraction: (eventId, owner, { isReplan, at }) =>
      write((database) => {
        run(database, presentOf(undefined, leaseOf(holder, clock.now(), 0)));
        const row = readJobRow(database, eventId, owner);
        if (row === undefined) return undefined;
        if (isReplan) replanJob(database, row, owner, at);
        else retryJob(database, row, at);
        return requireJob(database, eventId);
      }),
    countExtractions: (owner) => read((database) => countExtractions(database, owner)),
    extractionLanes: (owner) => read((database) => extractionLanes(database, owner)),
  } satisfies ExtractionQueue;
}
