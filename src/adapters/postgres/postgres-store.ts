import { ALL_OWNERS } from "../../domain/owner.ts";
import type { Store } from "../../ports/store/store.ts";
import { bindAdmission } from "../sql/admission.ts";
import { bindAudit } from "../sql/audit.ts";
import { bindBlobs } from "../sql/blobs.ts";
import { bindBrowse } from "../sql/browse.ts";
import { addNodes } from "../sql/change.ts";
import { bindEdges } from "../sql/edges.ts";
import { bindErasures } from "../sql/erasure.ts";
import { bindEventReads } from "../sql/events.ts";
import { bindExtraction } from "../sql/extraction.ts";
import { bindJobs } from "../sql/jobs.ts";
import { knownMemories } from "../sql/known.ts";
import { bindKeyed, bindNodes } from "../sql/nodes.ts";
import { bindOrganizing } from "../sql/organizing.ts";
import { bindOwners } from "../sql/owners.ts";
import { bindReceipts } from "../sql/receipts.ts";
import { bindTableSearches } from "../sql/searches.ts";
import { requireManifest } from "../sql/settings.ts";
import { bindUpkeep } from "../sql/upkeep.ts";
import { bindWork, newHolder } from "../sql/work.ts";
import { accessOf } from "./connection/run.ts";
import { erasureHooks } from "./erasure/erasures.ts";
import { apartFromErasing } from "./erasure/names-erased.ts";
import { knownHooks } from "./extraction/known.ts";
import { changeAlone } from "./graph/change.ts";
import { handOver } from "./owners/move-owner.ts";
import type { Parts, PostgresStoreParts } from "./parts.ts";
import { createIndexRebuild } from "./rebuild/rebuild.ts";
import { bindSearches } from "./search/bind.ts";
import { indexWrites } from "./search/index-writes.ts";
import { bindState } from "./store-state.ts";
import { sweepIndexes } from "./upkeep/sweep-indexes.ts";

export function createPostgresStore(given: PostgresStoreParts): Store {
  // SAFETY: the key of a node is a number of its owner's; nobody else makes one or does anything with it but hand it back.
  return storeOf(given) as unknown as Store;
}

function storeOf(given: PostgresStoreParts): Store<number> {
  const worker = { holder: newHolder(), clock: given.leaseClock };
  const parts: Parts = { ...given, worker };
  const { clock, database } = parts;
  const roles = accessOf(database);
  const indexes = indexWrites(parts.embedding);
  const hooks = { now: () => clock.now(), indexes };
  const manifest = () => roles.read(ALL_OWNERS, requireManifest);
  return {
    backend: "postgres",
    rebuild: createIndexRebuild(parts),
    owners: bindOwners(roles, clock, handOver),
    manifest,
    ...bindAdmission(roles, { worker, hooks, apart: apartFromErasing }),
    ...bindNodes(roles),
    ...bindKeyed(roles),
    ...bindEdges(roles),
    change: (reads, decide) => changeAlone(database, reads, decide, { ...hooks, mayAdd: true }),
    ...bindBrowse(roles),
    ...bindEventReads(roles),
    ...bindSearches(parts),
    ...bindTableSearches(roles),
    ...bindAudit(roles),
    ...bindState(database),
    ...bindWork(roles, worker),
    ...bindJobs(roles, worker, indexes),
    addNodes: (items) =>
      roles.writeNew(
        items.map(({ node }) => node.userId),
        () => addNodes(items, indexes),
      ),
    ...bindExtraction(roles, worker, indexes),
    knownMemories: (lookup) =>
      roles.snapshot(lookup.event.userId, () => knownMemories(lookup, knownHooks)),
    ...bindOrganizing(roles),
    ...bindReceipts(roles, apartFromErasing),
    ...bindUpkeep(roles),
    sweepIndexes: (owner, limit) => sweepIndexes(database, owner, limit),
    ...bindBlobs(roles),
    ...bindErasures(roles, erasureHooks(database)),
    close: database.close,
  };
}
