import { SvcError } from "../../../domain/errors.ts";
import { LEASE_SECONDS } from "../../../domain/jobs.ts";
import { withWordsOf } from "../../../domain/search/turns.ts";
import type { Admission, EventLog } from "../../../ports/store/events.ts";
import type { AuditRecord } from "../../../ports/store/records.ts";
import { readAuditRecord } from "../../sql/audit.ts";
import { change } from "../../sql/change.ts";
import { newLease } from "../../sql/work.ts";
import { snowball } from "../../stemming/stem.ts";
import { run } from "../connection/run.ts";
import type { Sql } from "../connection/sql.ts";
import { changeHooks } from "../graph/change.ts";
import type { Parts } from "../parts.ts";
import { ownersOf, writeAdmission } from "./admit.ts";

/** What the server says of a key that is there already. */
const TAKEN = "23505";

export function bindEvents(parts: Parts): Pick<EventLog, "admit" | "admitOnce"> {
  const { database, worker } = parts;
  const append = async (sql: Sql, admission: Admission): Promise<void> => {
    const lease = admission.leaseJobs ? await run(sql, newLease(worker, LEASE_SECONDS)) : undefined;
    await writeAdmission(sql, admission, lease);
    const { change: planned } = admission;
    if (planned !== undefined) {
      await run(sql, change(planned.reads, planned.decide, changeHooks(parts, false)));
    }
  };
  return {
    admit: (admission) =>
      withWordsOf(admission.nodes ?? [], snowball, () =>
        database.writeNew(ownersOf(admission), (sql) => append(sql, admission)),
      ),
    admitOnce: async (admission, guard) => {
      const once = (): Promise<AuditRecord | undefined> =>
        database.writeNew(ownersOf(admission), async (sql) => {
          const existing = await run(sql, readAuditRecord(guard));
          if (existing === undefined) await append(sql, admission);
          return existing;
        });
      try {
        return await withWordsOf(admission.nodes ?? [], snowball, once);
      } catch (error) {
        // Without an owner there is no lock: another process has written the same meanwhile.
        if (!(error instanceof SvcError) || error.data["reason"] !== TAKEN) throw error;
        return await once();
      }
    },
  };
}
