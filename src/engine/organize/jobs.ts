import type { ContextNode, StoredReceipt } from "../../ports/store/receipt-log.ts";
import type { EngineDeps } from "../deps.ts";
import { embedOlderParts } from "./embed-parts.ts";
import { expire } from "./expire.ts";
import { fillContexts } from "./fill-contexts.ts";
import { materialize } from "./materialize.ts";
import { opportunistic } from "./opportunistic.ts";
import { pruneReceipts } from "./prune-receipts.ts";
import { renewTexts } from "./renew-texts.ts";
import type { Job } from "./runner.ts";
import { settleErasures } from "./settle-erasures.ts";

/** What is done behind the calls, without being asked. A rebuild (`rebuild.ts`) is in the queue too, but is asked for. */
export function jobsOf(
  deps: EngineDeps,
  contextOf: (receipt: StoredReceipt) => readonly ContextNode[],
): readonly Job[] {
  if (deps.isReadOnly === true) return [];
  const { upkeep, receiptRetentionDays: days } = deps.settings;
  return [
    materialize(deps),
    renewTexts(deps),
    embedOlderParts(deps),
    fillContexts(deps, contextOf),
    settleErasures(deps),
    ...(upkeep === undefined ? [] : [expire(deps, upkeep), opportunistic(deps, upkeep)]),
    ...(days === undefined ? [] : [pruneReceipts(deps, days)]),
  ];
}
