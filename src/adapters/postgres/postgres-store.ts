import { ALL_OWNERS } from "../../domain/owner.ts";
import type { Store } from "../../ports/store/store.ts";
import { bindAudit } from "../sql/audit.ts";
import { bindExtraction } from "../sql/extraction.ts";
import { bindOrganizing } from "../sql/organizing.ts";
import { bindUpkeep } from "../sql/upkeep.ts";
import { bindWork, newHolder } from "../sql/work.ts";
import { bindActivity } from "./activity/bind.ts";
import { bindBlobs } from "./blobs/blobs.ts";
import { accessOf } from "./connection/run.ts";
import { bindErasures } from "./erasure/bind.ts";
import { bindEvents } from "./events/bind.ts";
import { knownMemories } from "./extraction/known.ts";
import { publishPlan } from "./extraction/publish.ts";
import { bindGraph } from "./graph/bind.ts";
import { readEdgesOf } from "./graph/edges.ts";
import { createOwners } from "./owners/bind.ts";
import type { Parts, PostgresStoreParts } from "./parts.ts";
import { bindReads } from "./read/bind.ts";
import { createIndexRebuild } from "./rebuild/rebuild.ts";
import { bindReceipts } from "./receipts/receipts.ts";
import { requireManifest } from "./schema/manifest.ts";
import { bindSearches } from "./search/bind.ts";
import { sweepIndexes } from "./upkeep/sweep-indexes.ts";
import { bindJobs } from "./work/bind.ts";

export function createPostgresStore(given: PostgresStoreParts): Store {
  // SAFETY: the key of a node is a number of its owner's; nobody else makes one or does anything with it but hand it back.
  return storeOf(given) as unknown as Store;
}

function storeOf(given: PostgresStoreParts): Store<number> {
  const worker = { holder: newHolder(), clock: given.leaseClock };
  const parts: Parts = { ...given, worker };
  const { clock, database } = parts;
  const roles = accessOf(database);
  const manifest = () => database.read(ALL_OWNERS, requireManifest);
  return {
    backend: "postgres",
    rebuild: createIndexRebuild(parts),
    owners: createOwners(database, clock),
    manifest,
    ...bindEvents(parts),
    ...bindGraph(parts),
    ...bindReads(parts),
    ...bindSearches(parts),
    ...bindAudit(roles),
    ...bindActivity(database),
    ...bindWork(roles, worker),
    ...bindJobs(parts),
    ...bindExtraction(roles, worker),
    knownMemories: (lookup) =>
      database.snapshot(lookup.event.userId, (sql) => knownMemories(sql, lookup)),
    publishPlan: (claim, publication) =>
      database.write(claim.event.userId, (sql) =>
        publishPlan(sql, claim, publication, parts.embedding),
      ),
    ...bindOrganizing(roles),
    ...bindReceipts(database),
    ...bindUpkeep(roles),
    edgesAt: (nodeId) => database.read(ALL_OWNERS, (sql) => readEdgesOf(sql, nodeId)),
    sweepIndexes: (owner, limit) => sweepIndexes(database, owner, limit),
    ...bindErasures(database),
    ...bindBlobs(database),
    close: database.close,
  };
}
