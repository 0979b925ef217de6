import type { MemoryNode } from "../../../domain/node.ts";
import { type AliasType, areOpen, isCompatible } from "../../../domain/organize/merge-policy.ts";
import {
  newProposal,
  proposalIdOf,
  proposalPayload,
} from "../../../domain/records/alias-proposal.ts";
import { logEntry } from "../../lifecycle/log-entry.ts";
import type { JobRun } from "./job.ts";
import { inIdOrder } from "./merge.ts";

/**
 * Proposes that two entities are one, once for ever, with an edge that nothing follows before somebody accepts it.
 * @returns whether it is new
 */
export async function proposeAlias(
  run: JobRun,
  pair: readonly [MemoryNode, MemoryNode],
  { aliasType, score }: { readonly aliasType: AliasType; readonly score: number },
): Promise<boolean> {
  const [lower, higher] = inIdOrder(pair);
  const operationId = proposalIdOf(lower, higher);
  const reads = { nodeIds: [lower, higher], auditRecordIds: [operationId], eventIds: [] };
  return run.change(reads, ({ at, nodes, auditRecords, edges }) => {
    const left = nodes.get(lower);
    const right = nodes.get(higher);
    const isProposed =
      auditRecords.has(operationId) ||
      edges.some(({ metadata }) => metadata?.["relation"] === "alias");
    const isPossible = left && right && areOpen(left, right) && isCompatible(left, right);
    if (isProposed || !isPossible) return { change: undefined, result: false };
    const proposal = newProposal([left, right], { aliasType, score, at });
    const entry = {
      id: operationId,
      actorId: right.userId,
      at,
      payload: proposalPayload(proposal),
    };
    const records = [logEntry("ALIAS_PROPOSED", right, entry)];
    return {
      change: { nodes: [], edges: [proposal.edge], auditRecords: records },
      result: true,
    };
  });
}
