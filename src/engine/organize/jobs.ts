import type { EngineDeps } from "../deps.ts";
import { embedOlderParts } from "./embed-parts.ts";
import { expire } from "./expire.ts";
import { materialize } from "./materialize.ts";
import { opportunistic } from "./opportunistic.ts";
import { pruneReceipts } from "./prune-receipts.ts";
import type { Job } from "./runner.ts";
import { settleErasures } from "./settle-erasures.ts";

/** What is done behind the calls, without being asked. A rebuild (`rebuild.ts`) is in the queue too, but is asked for. */
export function jobsOf(deps: EngineDeps): readonly Job[] {
  if (deps.isReadOnly === true) return [];
  const { upkeep, receiptRetentionDays: days } = deps.settings;
  return [
    materialize(deps),
    embedOlderParts(deps),
    settleErasures(deps),
    ...(upkeep === undefined ? [] : [expire(deps, upkeep), opportunistic(deps, upkeep)]),
    ...(days === undefined ? [] : [pruneReceipts(deps, days)]),
  ];
}
