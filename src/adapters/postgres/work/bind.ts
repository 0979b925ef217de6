import { LEASE_SECONDS } from "../../../domain/jobs.ts";
import { ALL_OWNERS } from "../../../domain/owner.ts";
import { withWordsOf } from "../../../domain/search/turns.ts";
import type { Uuid } from "../../../lib/uuid.ts";
import type { SearchIndex } from "../../../ports/store/search-index.ts";
import type { WorkQueue } from "../../../ports/store/work.ts";
import { newLease } from "../../sql/work.ts";
import { snowball } from "../../stemming/stem.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { type OwnerKey, ownerKey } from "../owner-key.ts";
import type { Parts } from "../parts.ts";
import { claimJobs } from "./claim-jobs.ts";
import { countJobs, jobStatus, leaseJobs, lockJobs, ownersOfJobs, settleJobs } from "./jobs.ts";
import { addNodes, materialize } from "./materialize.ts";

/** The jobs of events. */
export function bindJobs({ database, embedding, worker }: Parts) {
  const { read, writeAny } = database;
  const newest = (sql: Sql) => run(sql, newLease(worker, LEASE_SECONDS));
  /** Changes jobs of events, whose owners the caller does not name: one transaction for each owner. */
  const onJobs = async (
    eventIds: readonly Uuid[],
    change: (sql: Sql, owner: OwnerKey, ids: readonly Uuid[]) => Promise<void>,
  ): Promise<void> => {
    const owners = await read(ALL_OWNERS, (sql) => ownersOfJobs(sql, eventIds));
    for (const [userId, ids] of owners) {
      await writeAny((sql) => change(sql, ownerKey(userId), ids));
    }
  };
  return {
    claimJobs: (owner, limit, isDueOnly = false) =>
      claimJobs(database, owner, { limit, isDueOnly }, worker),
    renewJobs: (eventIds) =>
      onJobs(eventIds, async (sql, owner, ids) => {
        const { holder, until } = await newest(sql);
        await leaseJobs(sql, owner, ids, holder, until);
      }),
    releaseJobs: (eventIds) =>
      onJobs(eventIds, (sql, owner, ids) => leaseJobs(sql, owner, ids, worker.holder, undefined)),
    materialize: (items) =>
      withWordsOf(items, snowball, () => materialize(database, items, embedding)),
    addNodes: (items) =>
      database.writeNew(
        items.map(({ node }) => node.userId),
        (sql) => addNodes(sql, items, embedding),
      ),
    failJobs: (eventIds, reason, at, generation) =>
      onJobs(eventIds, async (sql, owner, ids) => {
        const jobs = await lockJobs(sql, owner, ids);
        const open = jobs.filter(
          (job) =>
            job.status === "pending" && (generation === undefined || generation === job.generation),
        );
        await settleJobs(
          sql,
          owner,
          open.map(({ subject, attempts }) => ({ subject, attempts, failure: reason, at })),
        );
      }),
    jobStatus: (eventId, owner) => read(owner, (sql) => jobStatus(sql, eventId, owner)),
    countJobs: (owner) => read(owner, (sql) => countJobs(sql, owner)),
  } satisfies Partial<WorkQueue> & Pick<SearchIndex, "addNodes">;
}
